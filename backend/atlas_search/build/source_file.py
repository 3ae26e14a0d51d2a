"""A file to read, and what holds for it. A process that reads needs no more of the sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


@dataclass(frozen=True)
class Rule:
    """What holds for the files of one corpus.

    Without `corpus` each document's own metadata field `corpus_field` names it. `metadata` are
    values for documents that do not say; `encoding` is what text files are in, empty for UTF-8.
    `language` is the one its words are analysed in, empty if nobody says.
    """

    corpus: str = ""
    corpus_field: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    encoding: str = ""
    language: str = ""


class SourceFile(NamedTuple):
    """A file to read.

    `location` is its path, `name` how reports call it, `stem` what the ids of its documents begin
    with. `known` are the digests of its documents in the live version, by key, if they were read
    and cut in the same way.
    """

    location: str
    name: str
    stem: str
    rule: Rule
    known: Mapping[str, bytes] = {}

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.location)
