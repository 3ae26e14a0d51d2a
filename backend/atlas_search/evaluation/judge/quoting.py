"""Texts of sources, answers and labels between tags that none of them can close or open."""

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from atlas_search.answer.write.prompt import attribute, opening_of
from atlas_search.documents.search import RankedPassageOut

Tag = Literal["question", "answer", "reference", "statement", "sentence", "passage", "step"]

_TAG = opening_of(get_args(Tag))


def quote(tag: Tag, text: str, **attributes: str) -> str:
    """A text between tags, whole."""
    said = "".join(f' {name}="{attribute(value)}"' for name, value in attributes.items() if value)
    return f"<{tag}{said}>\n{_TAG.sub('‹', text)}\n</{tag}>"


def quote_each(tag: Tag, texts: Iterable[str]) -> str:
    """Texts with their numbers, from 1."""
    return join(quote(tag, text, number=str(n)) for n, text in enumerate(texts, start=1))


def quote_passages(passages: Sequence[RankedPassageOut]) -> str:
    """Passages with their numbers, from 1, and what their sources are called."""
    return join(
        quote("passage", each.text, number=str(n), title=each.title or "", date=each.date or "")
        for n, each in enumerate(passages, start=1)
    )


def join(blocks: Iterable[str]) -> str:
    """Blocks with an empty line between them, without empty ones."""
    return "\n\n".join(filter(None, blocks))
