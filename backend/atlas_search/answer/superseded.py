"""Which document took the place of another, as their metadata say."""

import re
from collections.abc import Iterable

from atlas_search.core.domain import Passage

_SLUG = re.compile(r"[^a-z0-9]+")


def is_superseded(passage: Passage) -> bool:
    """Whether another document has taken the place of this one."""
    return "superseded_by" in passage.metadata


def successors_of(passage: Passage, others: Iterable[Passage]) -> str:
    """What took its place, for people: by its title if it is among `others`, else as the metadata
    name it; empty if nothing did."""
    titles = dict.fromkeys(other.title for other in others if took_over(other, passage))
    return ", ".join(titles or _named(passage, "superseded_by"))


def took_over(new: Passage, old: Passage) -> bool:
    """Whether the document of `new` took the place of that of `old`: one of them names the other,
    by its id or its title."""
    if is_superseded(new):
        return False
    return _name_one(old, "superseded_by", new) or _name_one(new, "supersedes", old)


def _name_one(passage: Passage, field: str, other: Passage) -> bool:
    named = _named(passage, field)
    ids = (other.document_id, other.document_id.removeprefix(f"{other.corpus}."), other.title)
    return bool({_slug(name) for name in named} & {_slug(name) for name in ids} - {""})


def _named(passage: Passage, field: str) -> tuple[str, ...]:
    stated = passage.metadata.get(field, ())
    return stated if isinstance(stated, tuple) else (str(stated),)


def _slug(name: str) -> str:
    return _SLUG.sub("-", name.lower()).strip("-")
