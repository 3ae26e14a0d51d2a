"""Where the passages an answer is written from contradict each other."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts.differences import difference
from atlas_search.answer.conflicts.statements import Statement, read
from atlas_search.answer.superseded import is_superseded, took_over
from atlas_search.core.domain import CheckedPassage, Citation, Passage
from atlas_search.language.english import AUXILIARIES, any_of
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.lines import unwrap
from atlas_search.language.text import content_terms, sentences, trim

Kind = Literal["polarity", "number", "repealed"]

MIN_WORDS = 4  # shorter lines are headings
MAX_WORDS = 60  # longer sentences say several things
SHARE_ASKED = 1 / 3  # of the question's words, for a superseded source and its successor
_WHOLE = re.compile(rf"^[`*\"“‘']*(?!{any_of(AUXILIARIES)})(?:[A-Z]|\d)[\s\S]*[.!;][\"”’')\]]*$")
_CLAUSE = re.compile(r"[^;]+;?")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_DRAFT = re.compile(
    r"\b(?:draft|proposed|proposal|bill|withdrawn|rejected|repealed|dissent(?:ing)?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two places that contradict each other, the better ranked passage first.

    `detail` says in words what differs. `stated` if an answer cites both places.
    """

    kind: Kind
    first: Citation
    second: Citation
    detail: str
    stated: bool = False


def conflicts_between(
    question: str, passages: Sequence[CheckedPassage]
) -> tuple[Contradiction, ...]:
    """The contradictions between passages of different documents, best ranked first.

    Only sentences that speak to the question count. What two corpora say is a conflict only if
    both name the same thing: the law of one country does not contradict that of another. What a
    superseded document says contradicts nothing but what took its place (`repealed`). Rather few
    are found than false ones; sentences in other languages than English are not compared.
    Each pair of places is listed once, in order of rank, then of place.
    """
    found = {
        _places(conflict): conflict
        for conflict in (*_find_repealed(question, passages), *_find_opposed(question, passages))
    }
    rank = {item.passage.id: number for number, item in reversed(list(enumerate(passages)))}
    return tuple(
        sorted(
            found.values(),
            key=lambda c: (rank[c.first.passage.id], rank[c.second.passage.id], *_places(c)),
        )
    )


def mark_stated(
    conflicts: Sequence[Contradiction], verification: Verification
) -> tuple[Contradiction, ...]:
    """The same conflicts, those `stated` whose both places the answer cites."""
    cited = verification.citations
    return tuple(
        replace(c, stated=_is_cited(c.first, cited) and _is_cited(c.second, cited))
        for c in conflicts
    )


def to_list(
    conflicts: Sequence[Contradiction], verification: Verification
) -> tuple[Contradiction, ...]:
    """What to tell beside an answer: all contradictions, but of a superseded source only if the
    answer cites it or its successor."""
    cited = {citation.passage.document_id for citation in verification.citations}
    return tuple(
        conflict
        for conflict in mark_stated(conflicts, verification)
        if conflict.kind != "repealed"
        or cited & {conflict.first.passage.document_id, conflict.second.passage.document_id}
    )


def find_concealed(
    conflicts: Sequence[Contradiction], verification: Verification
) -> tuple[Contradiction, ...]:
    """Those of which the answer cites one place and keeps quiet about the other.

    A source that took the place of another need not be cited beside it, nor the other way round
    where a question is about the past; so none is `repealed`.
    """
    cited = verification.citations
    return tuple(
        conflict
        for conflict in conflicts
        if conflict.kind != "repealed"
        and _is_cited(conflict.first, cited) != _is_cited(conflict.second, cited)
    )


def _is_cited(side: Citation, citations: Iterable[Citation]) -> bool:
    return any(
        citation.passage.document_id == side.passage.document_id
        and citation.start < side.end
        and side.start < citation.end
        for citation in citations
    )


def _places(conflict: Contradiction) -> tuple[tuple[str, int, int], tuple[str, int, int]]:
    return _place(conflict.first), _place(conflict.second)


def _place(side: Citation) -> tuple[str, int, int]:
    return side.passage.document_id, side.start, side.end


def _find_opposed(question: str, passages: Sequence[CheckedPassage]) -> list[Contradiction]:
    """Sentences on one matter whose numbers differ, or one of which denies the other."""
    asked = content_terms(question)
    sides: dict[tuple[str, int, int], Citation] = {}
    for item in passages:
        for side in _speaking_sides(item.passage, asked):
            sides.setdefault(_place(side), side)
    pairs = (_contradiction(a, b) for a, b in combinations(sides.values(), 2))
    return [conflict for conflict in pairs if conflict]


def _contradiction(a: Citation, b: Citation) -> Contradiction | None:
    one, other = a.passage, b.passage
    if one.document_id == other.document_id:
        return None
    first, second = _read(a), _read(b)
    if one.corpus != other.corpus and not first.names & second.names:
        return None
    titles = content_terms(f"{one.title} {other.title}")
    found = difference(first, second, titles)
    if not found or _are_apart(one, other):
        return None
    return Contradiction(found.kind, a, b, found.detail)


def _are_apart(one: Passage, other: Passage) -> bool:
    """Whether one took the place of the other, or their titles tell of different years."""
    years = [frozenset(_YEAR.findall(passage.title)) for passage in (one, other)]
    in_different_years = all(years) and years[0] != years[1]
    return in_different_years or took_over(one, other) or took_over(other, one)


def _is_draft(passage: Passage) -> bool:
    """Whether its document is not in force, or not yet, or one judge's opinion only."""
    status = str(passage.metadata.get("status", ""))
    return bool(_DRAFT.search(f"{passage.title} {passage.section} {status}"))


def _speaking_sides(passage: Passage, asked: frozenset[str]) -> list[Citation]:
    """The sentences of a passage that still holds which share a word with the question, if only
    `limit`."""
    if passage.language != DEFAULT_LANGUAGE or is_superseded(passage) or _is_draft(passage):
        return []
    titled = content_terms(passage.title)
    clauses = (
        trim(passage.text, *clause.span())
        for span in sentences(passage.text)
        for clause in _CLAUSE.finditer(passage.text, span.start, span.end)
    )
    return [
        passage.cite(start, end)
        for start, end in clauses
        if is_sentence(said := passage.text[start:end])
        and asked & (read(unwrap(said)).terms | titled)
    ]


def is_sentence(quote: str) -> bool:
    """Whether it can state something of its own: no heading, no item of a list, no long period."""
    return MIN_WORDS <= len(quote.split()) <= MAX_WORDS and bool(_WHOLE.search(quote))


def _read(side: Citation) -> Statement:
    return read(unwrap(side.quote))


def _find_repealed(question: str, passages: Sequence[CheckedPassage]) -> list[Contradiction]:
    """What a superseded document says against what its successor says, once for each two.

    Both must be evidence: a successor that merely turned up too is not asked about.
    """
    found: dict[frozenset[str], Contradiction] = {}
    for one, other in combinations([item.passage for item in passages if item.valid], 2):
        pair = frozenset({one.document_id, other.document_id})
        if len(pair) < 2 or pair in found:
            continue
        old, new = (one, other) if took_over(other, one) else (other, one)
        if not took_over(new, old):
            continue
        first, second = _speaking(question, one), _speaking(question, other)
        if first and second:
            detail = f"{old.title} was superseded by {new.title}"
            found[pair] = Contradiction("repealed", first, second, detail)
    return list(found.values())


def _speaking(question: str, passage: Passage) -> Citation | None:
    """The sentence of a passage that shares most words with the question; the first of several.

    None if they are too few to speak to it.
    """
    asked = content_terms(question, passage.language)
    spans = [
        span
        for span in sentences(passage.text, passage.language)
        if len(passage.text[span.start : span.end].split()) >= MIN_WORDS
    ]
    shared = [
        len(asked & content_terms(passage.text[span.start : span.end], passage.language))
        for span in spans
    ]
    best = max(shared, default=0)
    if not best or best < SHARE_ASKED * len(asked):
        return None
    return passage.cite(*spans[shared.index(best)])
