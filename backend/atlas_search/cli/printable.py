"""Texts of sources on a terminal: they must not move its cursor, name its window or hide a word."""

import json
import re
from typing import Any

# what a terminal obeys, and what turns the order of writing; a line end and a tab are harmless
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(value: Any) -> Any:
    """A document of the server with `�` for each character that a terminal obeys.

    No text becomes longer or shorter: spans in it still hold.
    """
    if isinstance(value, str):
        return _OBEYED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {name: printable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [printable(item) for item in value]
    return value


def printable_json(document: Any) -> str:
    """A document as JSON that says the same, those characters written as escapes."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # the only one that stands outside strings is the line end, which is kept
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
