"""`%atlas` in a notebook: `%load_ext atlas_search.integrations.notebook`.

    %atlas open NAME          a collection, or the address of a server
    %atlas ask QUESTION       an answer with its citations; search, compare likewise
    %atlas concordance QUERY  words in their context; trends, counts, collocates likewise

A line that ends in a question mark asks IPython for help: `%%atlas ask` takes the question from the
lines below it. A result is shown, and `_` has it. `atlas` is the open collection.
"""

import shlex
from typing import Any

from atlas_search.atlas import Atlas
from atlas_search.client import AtlasClient
from atlas_search.core.errors import RequestError

_METHODS = ("ask", "compare", "search", "concordance", "trends", "counts", "collocates")
_TABLES = ("concordance", "trends", "counts", "collocates")


class AtlasMagic:
    """The magic of a line or a cell; the collection it opened is `atlas` in the notebook too."""

    def __init__(self, shell: Any):
        self._shell = shell

    def __call__(self, line: str, cell: str = "") -> Any:
        """Do what the line says, and the cell below it. Raises RequestError."""
        command, _, text = f"{line} {cell}".strip().partition(" ")
        if command == "open":
            return self._open(shlex.split(text))
        if command not in _METHODS or not text.strip():
            raise RequestError(
                f"%atlas {line.strip()[:80]}: give `open NAME`, or one of {', '.join(_METHODS)} "
                "and what is asked."
            )
        result = getattr(self._collection(), command)(text.strip())
        return result.to_frame() if command in _TABLES else result

    def _open(self, names: list[str]) -> Any:
        name = names[0] if names else ""
        is_address = name.startswith(("http://", "https://"))
        atlas = AtlasClient(name, *names[1:2]) if is_address else Atlas.open(name)
        self._shell.push({"atlas": atlas})
        return None

    def _collection(self) -> Any:
        if not isinstance(self._shell.user_ns.get("atlas"), Atlas | AtlasClient):
            self._open([])
        return self._shell.user_ns["atlas"]


def load_ipython_extension(shell: Any) -> None:
    """Register `%atlas`; IPython calls it."""
    shell.register_magic_function(AtlasMagic(shell), "line_cell", "atlas")
