"""What one sentence states, read so that it can be held against another (English only)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from backend.answer.conflicts.polarity import POLAR, Stance, stance
from backend.answer.conflicts.quantities import NUMBER_WORDS, Quantity, quantities
from backend.answer.conflicts.times import Parts, dates
from backend.text import Span, Word, words


def _stems(listed: str) -> frozenset[str]:
    return frozenset(word.term for word in words(listed))


_LIGHT = _stems(
    "allow permit get give grant make take have hold provide offer issue apply state say set put "
    "pay cost receive obtain use enable entitle available possible maximum minimum limit cap quota "
    "period deadline window least most up within about approximately around nearly almost roughly "
    "exactly just request ask need want able term length amount number rate level total always "
    "ever currently now today there place time day week month year percent cent dollar pound euro "
    "old age aged thousand million billion hundred take last total sum equal constitute include "
    "policy rule require requirement support accept bear charge second minute hour decade century "
    "metre meter km kilometre kilometer mile foot feet kg kilogram tonne pence"
)
"""Stems that say how a thing stands, not which thing: `is limited to`, `may be granted`."""

_COMMON = _stems(
    "court judge justice jury law statute act section article case decision opinion majority "
    "minority appeal member party plaintiff defendant appellant respondent claimant applicant "
    "state government parliament congress house committee bill person people man men woman women "
    "right power thing way part man question issue matter group country world company work order "
    "judgment ruling provision agreement contract clause document paper report the supreme united"
)
"""Stems of things so common that two sentences which share them need not mean the same one."""

QUALIFYING = _stems(
    "average median mean initial additional further extra annual monthly weekly daily net gross "
    "estimated proposed original former previous first second third fourth fifth last next new old "
    "temporary interim partial half single joint adult child children male female men women "
    "north south east west northern southern eastern western early late upper lower internal "
    "external personal corporate commercial private domestic foreign international local federal "
    "national standard premium basic senior junior other another each every remaining "
    "combined cumulative overall current minor major serious indirect direct"
)
"""Stems that make another thing of what they stand with: the annual fee is not the fee."""

_CALENDAR = _stems(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday"
)
_SAYING = _LIGHT | POLAR | _CALENDAR | _stems(" ".join(NUMBER_WORDS))
_ATTRIBUTED = re.compile(
    r"\b(?:argu\w+|claim(?:s|ed|ing)|contend\w*|alleg\w+|(?:submitted|maintained) that|asked|"
    r"suggest\w*|propos\w+|recommend\w*|sought|dissent\w*|believ\w+|thought|would have|criti\w+|"
    r"according to|predict\w+|expect\w*|hope[ds]?|intend\w*|want(?:s|ed)|if|supposed?|example|"
    r"instance|imagine|objected|complain\w*|hypothe\w+|consider(?:s|ed)? whether)\b|\?[\"”’)]*$",
    re.IGNORECASE,
)
_OPENING = r"^\W*(?:(?:in|on|at|by|under|after|before|during)\b[^,]{1,40},\s*)?"
_ANAPHORIC = re.compile(
    rf"{_OPENING}(?:he|she|it|they|his|her|its|their|i|you|my|your|this|these|that|those|such|"
    r"both|the (?:former|latter|same))\b",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"\b(?:i|my|you|your|hereof|hereunder|herein|hereto|hereby|hereafter|the (?:agreement|"
    r"disclos\w+ party|receiving party|recipient)|th(?:is|ese) (?:agreement|act|contract|order|"
    r"section|article|report|paper|paragraph|clause|case|book|study|policy|document))\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"\b(?:is|are|may|must|shall|can|cannot|will|should|does|do|has|have|be|applies|requires?|"
    r"allows?|costs?|permits?|prohibits?|takes?|provides?|lasts?|\w+n't)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|\w{2,}ed|gave|held|found|made|took|became|won|began|paid|sent|said|"
    r"rose|fell|left|lost|met|got|grew|sold|spent|built|wrote|fought|led|stood|died|bought)\b"
)
_WAS = re.compile(r"\b(?:was|were|had|did)\b")
_LETTERS = re.compile(r"(?<![^\W_])[^\W\d_]+(?:['’][^\W\d_]+)?(?!\w)")
_NUMBERED = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a sentence says.

    `subject` is what it is about, in order; `all_terms` are all stems; `names` are those of its
    capitalised words, `opening` is its first if that may be one, `labels` its numbers that are no
    amounts (sections, years in a name). A `past` statement tells of one event, one with `was` says
    so. One that is not `free` speaks of what only its document makes clear (`he`, `this
    Agreement`), or of what somebody thinks.
    """

    subject: tuple[str, ...]
    all_terms: frozenset[str]
    names: frozenset[str]
    opening: frozenset[str]
    labels: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[Parts, ...]
    stance: Stance
    past: bool
    was: bool
    free: bool


def about(sentence: str) -> tuple[str, ...]:
    """The stems of what a sentence is about, in order: not its numbers, nor how it says it."""
    return tuple(stem for stem in map(_subject, _LETTERS.findall(sentence.lower())) if stem)


@lru_cache(maxsize=1 << 16)
def _subject(word: str) -> str:
    """The stem of a word, empty if it tells no subject from another."""
    (read,) = words(word)
    return read.term if read.informative and read.term not in _SAYING else ""


@lru_cache(maxsize=4096)  # a passage is found by many questions
def read(sentence: str) -> Statement:
    """Read an English sentence."""
    found = words(sentence)
    amounts = quantities(sentence)
    spans = [Span(q.start, q.end) for q in amounts]
    days = [d for d in dates(sentence) if not _within(d.span.start, spans)]
    spans += [date.span for date in days]
    outside = [word for word in found if not _within(word.start, spans)]
    present = bool(_PRESENT.search(sentence))
    was = bool(_WAS.search(sentence))
    return Statement(
        subject=about(sentence),
        all_terms=frozenset(w.term for w in found),
        names=_names(sentence, outside) - _COMMON,
        opening=frozenset(w.term for w in found[:1] if w.informative) - _COMMON,
        labels=frozenset(w.folded for w in outside if _NUMBERED.search(w.folded)),
        quantities=tuple(amounts),
        dates=tuple(date.parts for date in days),
        stance=stance(sentence, found),
        past=was or (not present and bool(_PAST.search(sentence))),
        was=was,
        free=not (
            _ATTRIBUTED.search(sentence) or _ANAPHORIC.search(sentence) or _OWN.search(sentence)
        ),
    )


def _within(at: int, spans: Sequence[Span]) -> bool:
    return any(span.start <= at < span.end for span in spans)


def _names(sentence: str, found: Sequence[Word]) -> frozenset[str]:
    """Stems of capitalised words; of the first word only if it can be nothing but a name."""
    names = set()
    for at, word in enumerate(found):
        surface = sentence[word.start : word.end]
        if not surface[0].isupper() or not word.informative:
            continue
        first = not sentence[: word.start].strip(" \"'“‘([*-•")
        following = sentence[found[at + 1].start :][:2] if at + 1 < len(found) else ""
        if not first or following.istitle() or surface[1:2].isupper():
            names.add(word.term)
    return frozenset(names) - _CALENDAR


def same_names(a: Statement, b: Statement) -> frozenset[str]:
    """Stems of the names that both use."""
    return (a.names | a.opening) & (b.names | b.opening)


def specific(terms: frozenset[str]) -> frozenset[str]:
    """Those of the stems that tell one thing from another."""
    return terms - _COMMON
