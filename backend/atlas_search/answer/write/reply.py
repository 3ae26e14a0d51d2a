"""What a model is asked to write, one JSON object of sentences with the numbers of their passages,
and reading it while it comes.

A schema leaves a model nothing but the numbers of passages it was given; a server that takes no
schema, or a model that writes plain text with `[1]` in it, is read as well.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from atlas_search.core.domain import Passage

_SENTENCE = re.compile(
    r'\{\s*"text"\s*:\s*(?P<text>"(?:[^"\\]|\\.)*")\s*,'
    r'\s*"passages"\s*:\s*\[(?P<numbers>[^\]]*)\]\s*\}',
    re.DOTALL,
)
_NONE = re.compile(r'"sentences"\s*:\s*\[\s*\]')
_TOKEN = re.compile(r"\[(\d{1,3})\]")
_WRITTEN_TOKEN = re.compile(r"\s*\[(\d{1,3})\]")
_BEGUN_TOKEN = re.compile(r"\[\d{0,3}\Z")
_FENCE = "```json"


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
    """A reply about `given` passages as it comes: its sentences as text, with their tokens.

    `add` gives the text that a piece completes, `finish` what is left. Of a reply that says that
    the passages do not answer there is none. A number that no passage has becomes a token that no
    passage has either.
    """

    def __init__(self, given: Sequence[Passage]):
        self._markers = {number: p.marker for number, p in enumerate(given, start=1)}
        self._read = 0
        self._said = False
        self.raw = ""

    def add(self, piece: str) -> str:
        """Take the next piece."""
        self.raw += piece
        begun = self._begun()
        if not begun:
            return ""
        if begun[0] != "{":
            return self._plain(whole=False)
        return self._sentences() if "}" in piece else ""

    def finish(self) -> str:
        """The reply is whole. What is neither sentences nor a refusal is text as it stands."""
        if self._begun()[:1] != "{":
            return self._plain(whole=True)
        return "" if self._said or _NONE.search(self.raw) else self.raw

    def _begun(self) -> str:
        """The reply within its fence, as far as it came; empty where it may be a fence still."""
        begun = self.raw.lstrip()
        return (
            ""
            if _FENCE.startswith(begun)
            else begun.removeprefix("```").removeprefix("json").lstrip()
        )

    def _sentences(self) -> str:
        text = ""
        for found in _SENTENCE.finditer(self.raw, self._read):
            self._read = found.end()
            self._said = True
            text += self._written(found["text"], found["numbers"])
        return text

    def _written(self, text: str, numbers: str) -> str:
        try:
            said = " ".join(str(json.loads(text, strict=False)).split())
        except ValueError:  # a wrong escape
            said = text.strip('"')
        tokens = dict.fromkeys(self._token(int(number)) for number in re.findall(r"\d+", numbers))
        return " ".join([_WRITTEN_TOKEN.sub(self._without, said).strip(), *tokens]) + "\n"

    def _without(self, token: re.Match[str]) -> str:
        return "" if int(token[1]) in self._markers else token[0]

    def _token(self, number: int) -> str:
        return self._markers.get(number, f"[passage p{number}]")

    def _plain(self, *, whole: bool) -> str:
        begun = None if whole else _BEGUN_TOKEN.search(self.raw, self._read)
        end = begun.start() if begun else len(self.raw)
        piece, self._read = self.raw[self._read : end], end
        return _TOKEN.sub(lambda token: self._markers.get(int(token[1]), token[0]), piece)
