"""The texts that language models are given, as files beside this module."""

from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from atlas_search.core.errors import InvalidTarget


@cache
def prompt(name: str) -> Template:
    """A bundled prompt by its file's name without `.txt`."""
    return Template((files(__name__) / f"{name}.txt").read_text(encoding="utf-8"))


def rules(name: str, targets: Path) -> Template:
    """The rules a target names: `NAME.prompt` beside the target files, or a bundled prompt.

    `$citation_limit` in them becomes the target's. Raises InvalidTarget.
    """
    own = targets / f"{name}.prompt"
    bundled = files(__name__) / f"{name}.txt"
    if own.is_file():
        text = Template(own.read_text(encoding="utf-8"))
    elif bundled.is_file():
        text = prompt(name)
    else:
        raise InvalidTarget(
            f"SYSTEM_PROMPT={name} is neither {own} nor one of the bundled prompts. Write {own}, "
            "or set SYSTEM_PROMPT=system."
        )
    if not text.is_valid() or set(text.get_identifiers()) - {"citation_limit"}:
        raise InvalidTarget(
            f"{own if own.is_file() else name}: only $citation_limit is filled in; write any other "
            "$ as $$."
        )
    return text
