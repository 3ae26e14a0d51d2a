"""Atlas: balanced, explainable research search with verified citations.

from atlas_search import Atlas

with Atlas.open("my_archive") as atlas:
    print(atlas.ask("Who dissented in Plessy v. Ferguson?").text)
"""

from importlib import import_module
from typing import TYPE_CHECKING

from atlas_search.core.ids import __version__ as __version__

__all__ = [
    "Answer",
    "AskRequest",
    "AsyncAtlasClient",
    "Atlas",
    "AtlasClient",
    "BuildReport",
    "SearchRequest",
    "SearchResult",
    "Stop",
    "errors",
]

if TYPE_CHECKING:
    from atlas_search.answer.answer import Answer
    from atlas_search.answer.request import AskRequest
    from atlas_search.atlas import Atlas
    from atlas_search.building.flow import BuildReport
    from atlas_search.client import AsyncAtlasClient, AtlasClient
    from atlas_search.core import errors
    from atlas_search.core.stop import Stop
    from atlas_search.search.request import SearchRequest
    from atlas_search.search.result import SearchResult

_HOMES = {
    "Answer": "atlas_search.answer.answer",
    "AskRequest": "atlas_search.answer.request",
    "AsyncAtlasClient": "atlas_search.client",
    "Atlas": "atlas_search.atlas",
    "AtlasClient": "atlas_search.client",
    "BuildReport": "atlas_search.building.flow",
    "SearchRequest": "atlas_search.search.request",
    "SearchResult": "atlas_search.search.result",
    "Stop": "atlas_search.core.stop",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the whole takes a second, a part need not."""
    if name == "errors":
        return import_module("atlas_search.core.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'atlas_search' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
