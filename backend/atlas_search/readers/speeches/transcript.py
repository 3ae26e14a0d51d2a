"""Whether a document is a transcript, and the speeches in it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import pairwise

from atlas_search.core.domain import Segment
from atlas_search.readers.speeches.labels import bare_name, is_address, is_anybody
from atlas_search.readers.speeches.letters import without_letters
from atlas_search.readers.speeches.openings import Opening, openings
from atlas_search.readers.speeches.people import People

_FEWEST = 3
"""Speeches of a transcript by persons with a title or an office, one of whom speaks again."""

_FEWEST_NAMED = 6
"""Speeches by bare names, which anything with a colon may look like."""

_RECURRING = 0.3  # share of them whose speakers speak again
_SHARE, _SHARE_NAMED = 0.01, 0.15  # of the paragraphs, as far as lines and blank lines tell them
_SAID = 0.5
"""Share of speeches by persons with a title or an office that begin as sentences do and hold the
end of one: the lists of offices, votes and definitions have neither."""

_WHOLE = 0.6  # share of speeches by bare names that end as sentences do, and not as years
_ENDED = re.compile(r"(?<!\d{3})[.?!…—–-][\"'”’)\]*]*\Z")
_HOLDS_END = re.compile(r"(?:\w{3}|[\d)\]\"'”’])\.|[?!…]|[.—–-]\Z")
_LOOKED_AT = 1000  # characters of a speech
_LINES = 8  # of a usual paragraph, where no blank lines tell them apart
_LETTERS = re.compile(r"[^\W\d_]+")
_SPOKEN = ("colon", "stop", "dash")
COUNSEL, WITNESS = "Counsel", "The Witness"
"""Who asks and who answers where nobody says his name."""


def with_speeches(text: str, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """`segments` with those of the speeches, if `text` is a transcript; else as they are.

    Nobody speaks between a heading and the next speech. Question and answer of an examination
    belong together, so that both are named over it.
    """
    found = _without_addresses(without_letters(text, list(openings(text))))
    is_labelled = any(each.label for each in found)
    small = set(filter(str.islower, _LETTERS.findall(text))) if is_labelled else set[str]()
    found = [
        each._replace(form="end", label=None) if _is_heading(each, small) else each
        for each in found
    ]
    speeches = _speeches(text, found, small)
    return _join(segments, speeches) if speeches else tuple(segments)


def _is_heading(each: Opening, small: Set[str]) -> bool:
    """Whether its title is an ordinary word, and its name of such, as of `Major Changes`."""
    words = _LETTERS.findall(bare_name(each.label).casefold()) if each.label else []
    return bool(words) and small >= {*words}


def _without_addresses(found: Sequence[Opening]) -> list[Opening]:
    """Without `Mr. President: I rise.` where speeches begin otherwise than with a colon."""
    forms = Counter(each.form for each in found)
    if forms["colon"] > forms["stop"] + forms["dash"]:
        return list(found)
    return [
        each
        for each in found
        if not (each.form == "colon" and each.label and is_address(each.label))
    ]


def _speeches(text: str, found: Sequence[Opening], small: Set[str]) -> list[Segment]:
    spoken = [each for each in found if each.form in _SPOKEN]
    titled = [each for each in spoken if not _is_named(each)]
    named = [each for each in spoken if _is_named(each)]
    paragraphs = max(text.count("\n\n") + 1, text.count("\n") // _LINES)
    is_titled = (
        _recur(titled, _FEWEST)
        and len(spoken) >= _SHARE * paragraphs
        and sum(_is_said(each) for each in _said(text, titled, found)) >= _SAID * len(titled)
    )
    is_named = (
        _recur(named, _FEWEST_NAMED)
        and len(spoken) >= _SHARE_NAMED * paragraphs
        and _are_words(text, named, found, small)
    )
    is_testimony = _is_testimony(found)
    if not (is_titled or is_named or is_testimony):
        return []
    known = _Names(named, small, is_named=is_named)
    return list(_told([known.settle(each) for each in found], is_testimony))


class _Names:
    """Which bare names are of people: those of a document that has little else, and such as recur.

    Another label in capitals may be one in another language: nobody is known to speak behind it.
    """

    def __init__(self, named: Sequence[Opening], small: Set[str], *, is_named: bool) -> None:
        """`small` are the words of the text that are written so somewhere."""
        self._small = small
        self._often = Counter(map(_key, named))
        self._is_named = is_named

    def settle(self, each: Opening) -> Opening:
        """The opening as it is, or one without a label, at which a speech ends."""
        if each.form == "unread" and each.label:
            words = each.label.words
            is_one = words.isupper() or is_anybody(words) or _is_rare(each, self._small)
            return each._replace(form="end" if is_one else "none", label=None)
        if each.form not in _SPOKEN or not _is_named(each):
            return each
        often, is_rare = self._often[_key(each)] > 1, _is_rare(each, self._small)
        in_capitals = each.label is not None and each.label.words.isupper()
        if (often or is_rare) if self._is_named else (often and is_rare and in_capitals):
            return each
        return each._replace(form="end" if is_rare else "none", label=None)


def _told(found: Sequence[Opening], is_testimony: bool) -> Iterator[Segment]:
    people = People(each.label for each in found if each.label and each.form in _SPOKEN)
    counsel, witness = COUNSEL, WITNESS
    is_asked, is_examined = any(each.form == "question" for each in found), is_testimony
    for each in found:
        if each.form == "none" or (each.form == "answer" and not is_asked):
            continue
        name = people.name(each.label) if each.label else ""
        speaker = witness if name.casefold() == WITNESS.casefold() else name
        if each.form == "examiner":
            counsel, is_examined = name, True
        if each.form == "witness":
            speaker = witness = name
        # who asks at a briefing for the press is not known
        if each.form in ("question", "answer", "examiner") and is_examined:
            speaker = f"{counsel}; {witness}"
        yield Segment(each.start, speaker=speaker)


def _is_named(each: Opening) -> bool:
    return each.label is not None and each.label.kind == "name"


def _recur(found: Sequence[Opening], fewest: int) -> bool:
    """Whether there are as many, by more than one who speaks, and enough by who speaks again."""
    labels = [each.label for each in found if each.label]
    counts = Counter(map(People(labels).name, labels))
    again = sum(count for count in counts.values() if count > 1)
    return len(found) >= fewest and len(counts) > 1 and again >= _RECURRING * len(found)


def _key(each: Opening) -> str:
    return each.label.words.casefold() if each.label else ""


def _is_testimony(found: Sequence[Opening]) -> bool:
    forms = Counter(each.form for each in found)
    asked = min(forms["question"], forms["answer"])
    is_examined = forms["examiner"] + forms["witness"] > 0 or any(
        each.label and each.label.words.casefold() == "the witness" for each in found
    )
    return asked >= _FEWEST and is_examined


def _are_words(
    text: str, named: Sequence[Opening], found: Sequence[Opening], small: Set[str]
) -> bool:
    """Whether what follows bare names is sentences, and the names are no words of the text."""
    said = _said(text, named, found)
    whole = sum(_ENDED.search(each) is not None and not each[0].islower() for each in said)
    rare = sum(_is_rare(each, small) for each in named)
    return whole >= _WHOLE * len(named) and rare >= _WHOLE * len(named)


def _said(text: str, some: Sequence[Opening], found: Sequence[Opening]) -> list[str]:
    """What is said behind each of `some`."""
    ends = {before.start: after.start for before, after in pairwise(found)}
    return [text[each.said : ends.get(each.start, len(text))].strip() for each in some]


def _is_said(words: str) -> bool:
    paragraph = words[:_LOOKED_AT].partition("\n\n")[0]
    return not paragraph[:1].islower() and _HOLDS_END.search(paragraph) is not None


def _is_rare(each: Opening, small: Set[str]) -> bool:
    """Whether one of its words is never written small, as all of a heading's are somewhere.

    An abbreviation among other words never is: `If Remote MCP`.
    """
    said = each.label.words if each.label else ""
    words = _LETTERS.findall(said if not said.isupper() else said.casefold())
    return any(
        len(word) > 2 and not word.isupper() and word.casefold() not in small for word in words
    )


def _join(segments: Sequence[Segment], speeches: Sequence[Segment]) -> tuple[Segment, ...]:
    """Nobody speaks yet where a section begins; a speech is in the section it begins in."""
    places = [(each.start, False, each) for each in segments]
    places += [(each.start, True, each) for each in speeches]
    joined: dict[int, Segment] = {}
    before = Segment(0)
    for start, is_speech, each in sorted(places, key=lambda place: place[:2]):
        before = replace(before, start=start, speaker=each.speaker) if is_speech else each
        joined[start] = before
    return tuple(joined.values())
