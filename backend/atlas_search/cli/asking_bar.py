"""How far the questions of a command are asked, on a terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress


@contextmanager
def asking_bar(what: str = "Asking") -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal's standard error; hears how many are done, and of how many."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what)
        yield lambda done, total: progress.update(task, completed=done, total=total)
