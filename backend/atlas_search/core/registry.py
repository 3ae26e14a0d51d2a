"""Parts of one kind by name: those of Atlas, and those that other installed packages offer.

Another package offers a part by an entry point: a name, and `module:attribute`. The parts of Atlas
are written the same way, so that a library is imported only where its part is asked for; what
stands in brackets behind one is the extra that installs its library.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Generic, TypeVar

from atlas_search.core.errors import ConfigurationError, MissingLibrary

DISTRIBUTION = "atlas-research-search"

LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "pdf": ("pypdfium2",),
    "office": ("docx", "lxml", "openpyxl"),
    "html": ("lxml", "lxml_html_clean", "protego", "trafilatura"),
    "xml": ("lxml",),
    "mistral": ("mistralai", "pyrate_limiter"),
    "openai": ("openai",),
    "eval": ("ir_measures", "matplotlib", "scipy"),
    "export": ("bibtexparser", "rispy"),
    "records": ("lxml", "pymarc"),
    "mcp": ("mcp",),
    "qdrant": ("qdrant_client", "qdrant_edge"),
    "postgres": ("pg8000",),
}
"""The modules that an extra of the package brings."""

Part = TypeVar("Part")


class Registry(Generic[Part]):
    """The parts of one kind.

    `group` is the entry-point group, `kind` what a part is called in messages, `built_in` the
    parts of Atlas. `reserved` are names that no other package may take either.
    """

    def __init__(
        self, group: str, kind: str, built_in: Mapping[str, str], reserved: Collection[str] = ()
    ):
        self.group = group
        self.kind = kind
        self.built_in = {name: EntryPoint(name, value, group) for name, value in built_in.items()}
        self._reserved = reserved

    def names(self) -> tuple[str, ...]:
        """The parts of Atlas in their order, then the parts of other packages, sorted.

        Raises ConfigurationError if a package takes a name that is taken.
        """
        return (*self.built_in, *self._others)

    def load(self, name: str, asked_by: str) -> Part:
        """The part of that name; `asked_by` says in messages who names it: `RERANKER=best`.

        Raises MissingLibrary, or ConfigurationError for a name that is unknown or taken twice and
        for a part that cannot be imported.
        """
        if name not in self.names():
            known = ", ".join((*self._reserved, *self.names()))
            raise ConfigurationError(f"{asked_by}: there is no such {self.kind}. Known: {known}.")
        if name in self.built_in:
            return self._own(self.built_in[name])
        return self._foreign(self._others[name])

    def _own(self, entry: EntryPoint) -> Part:
        for extra in entry.extras:
            require(extra, f"The {self.kind} {entry.name}")
        part: Part = entry.load()
        return part

    def _foreign(self, entry: EntryPoint) -> Part:
        try:
            part: Part = entry.load()
        except Exception as error:  # a package may raise anything while it is imported
            raise ConfigurationError(
                f"The {self.kind} {entry.name} of the package {_package(entry)} cannot be loaded "
                f"({type(error).__name__}: {error}). Install what it needs, or uninstall it."
            ) from error
        return part

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        entries: dict[str, EntryPoint] = {}
        for entry in sorted(entry_points(group=self.group), key=lambda e: (e.name, _package(e))):
            taken = entry.name in self.built_in or entry.name in self._reserved
            if taken or entry.name in entries:
                owner = "Atlas" if taken else f"the package {_package(entries[entry.name])}"
                raise ConfigurationError(
                    f"The package {_package(entry)} offers {entry.name} as {self.kind}, and "
                    f"so does {owner}. Uninstall it, or rename its entry point."
                )
            entries[entry.name] = entry
        return entries


def require(extra: str, what: str) -> None:
    """Raise MissingLibrary, naming the command that installs them, unless the libraries of
    `extra`, which `what` needs, are there."""
    missing = [module for module in LIBRARIES[extra] if not _is_installed(module)]
    if missing:
        raise MissingLibrary(
            f"{what} needs {' and '.join(missing)}, not installed here. Install it: "
            f"`pip install '{DISTRIBUTION}[{extra}]'`."
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value
