"""What a model is asked to write, one JSON object of sentences with the numbers of their passages,
and reading it while it comes.

A schema leaves a model nothing but the numbers of passages it was given; a server that takes no
schema, or a model that writes plain text with `[1]` in it, is read as well.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from atlas_search.answer.check.markers import MarkedSentence, read_marked
from atlas_search.core.domain import MARKER, Passage

_SENTENCE = re.compile(
    r'\{\s*"text"\s*:\s*(?P<text>"(?:[^"\\]|\\.)*")\s*,'
    r'\s*"passages"\s*:\s*\[(?P<numbers>[^\]]*)\]\s*\}',
    re.DOTALL,
)
_NONE = re.compile(r'"sentences"\s*:\s*\[\s*\]')
_NUMBER = re.compile(r"\[(\d{1,3})\]")
_TOKEN = re.compile(rf"\s*{MARKER.pattern}")


def schema_of(passages: int) -> Mapping[str, Any]:
    """The JSON schema of a reply about so many passages."""
    sentence = {
        "text": {"type": "string"},
        "passages": {
            "type": "array",
            "items": {"type": "integer", "enum": list(range(1, passages + 1))},
            "minItems": 1,
        },
    }
    return _object({"sentences": {"type": "array", "items": _object(sentence)}})


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


class Reply:
    """A reply about `given` passages as it comes.

    `add` gives the sentences that a piece completes, `finish` those of a reply that is no JSON.
    One that says that the passages do not answer has none. A number that no passage has becomes a
    token that no passage has either.
    """

    def __init__(self, given: Sequence[Passage]):
        self._given = given
        self._markers = {number: passage.marker for number, passage in enumerate(given, start=1)}
        self._read = 0
        self.raw = ""

    def add(self, piece: str) -> list[MarkedSentence]:
        """Take the next piece."""
        self.raw += piece
        if "}" not in piece:
            return []
        found = list(_SENTENCE.finditer(self.raw, self._read))
        self._read = found[-1].end() if found else self._read
        written = (self._sentence(match["text"], match["numbers"]) for match in found)
        return [sentence for sentence in written if re.search(r"\w", sentence.text)]

    def finish(self) -> list[MarkedSentence]:
        """The reply is whole."""
        if self._read or _NONE.search(self.raw):
            return []
        return read_marked(self._with_tokens(self.raw), self._given)

    def _sentence(self, text: str, numbers: str) -> MarkedSentence:
        try:
            said = str(json.loads(text, strict=False))
        except ValueError:  # a wrong escape
            said = text.strip('"')
        said = self._with_tokens(said)
        tokens = [self._token(int(number)) for number in re.findall(r"\d+", numbers)]
        markers = dict.fromkeys((*tokens, *MARKER.findall(said)))
        return MarkedSentence(" ".join(_TOKEN.sub("", said).split()), tuple(markers))

    def _with_tokens(self, text: str) -> str:
        """A text with the tokens of the passages for their numbers."""
        return _NUMBER.sub(lambda found: self._markers.get(int(found[1]), found[0]), text)

    def _token(self, number: int) -> str:
        return self._markers.get(number, f"[passage p{number}]")
