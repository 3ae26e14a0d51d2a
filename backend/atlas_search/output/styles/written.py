"""Text with italics, as a citation is pasted into a document."""

from dataclasses import dataclass
from html import escape

_ON, _OFF = "\x0e", "\x0f"  # control characters, which no text of a source keeps (`one_line`)


@dataclass(frozen=True)
class Written:
    """A citation: `text` for a plain field, `html` for a word processor."""

    text: str
    html: str


def italic(text: str) -> str:
    """`text` marked as italic; nothing of nothing."""
    return f"{_ON}{text}{_OFF}" if text else ""


def written(marked: str) -> Written:
    """What `italic` marked, in both forms."""
    plain = marked.replace(_ON, "").replace(_OFF, "")
    return Written(plain, escape(marked).replace(_ON, "<i>").replace(_OFF, "</i>"))


def joined(between: str, *parts: str) -> str:
    """The parts that are not empty."""
    return between.join(filter(None, parts))


def ended(text: str) -> str:
    """`text` with a full stop, unless it ends as a sentence."""
    return text if text.rstrip(_OFF + "”’").endswith((".", "?", "!")) else f"{text}."


def bracketed(text: str) -> str:
    """`(text)`, or nothing."""
    return f"({text})" if text else ""
