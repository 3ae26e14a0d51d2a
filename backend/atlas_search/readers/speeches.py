"""The speakers of a transcript that names them in its text alone.

A document that is letters, or holds some, loses its salutations: they are no speakers. Each speaker
has one name, with his office. How a speech begins is in `speech_openings`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from atlas_search.core.domain import Segment
from atlas_search.language.dates import bounds
from atlas_search.readers.law.persons import calm
from atlas_search.readers.speech_openings import (
    Opening,
    SpeakerLabel,
    bare_name,
    is_address,
    is_anybody,
    is_office,
    is_titled,
    openings,
    plain_titles,
)

_SHARE_LETTERS = 0.5
"""Of all labels, salutations and those under a date: a debate has its date once, and a letter that
is read out in it is one among many speeches."""
_SHARE_DATED = 0.9
"""The share where nobody is saluted: dates are those of sittings too, in which several speak."""

_ADDRESS = 6  # lines between the date of a letter and whom it addresses
_LONGEST = 80  # characters of a line with a date and a place; what is longer is a text
_DATED = re.compile(
    r"(\b[^\W\d_]{3,9}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\b\d{1,2}(?:st|nd|rd|th)?(?: of)? [^\W\d_]{3,9}\.?,? \d{4})\b"
    r"(?!.{0,14}\d:\d\d(?::\d\d)?\Z).{0,14}"
)
"""A date, with `4 P.M.` behind it or the like; `10:31` alone is that of a message in a log."""

_LABELLED = ("colon", "dash")
_ADDRESSED = (*_LABELLED, "salutation")
_SPOKEN_LETTERS = (*_LABELLED, "stop", "question")


def without_letters(text: str, found: Sequence[Opening]) -> list[Opening]:
    """The openings without those of letters, which are no speeches.

    In letters nobody speaks behind a colon or a dash. Where speeches begin with a full stop they
    may still be those of a hearing, with letters for the record behind them. A letter that is read
    out in a debate is of who reads it; but whoever is called `SIR` in a play speaks himself.
    """
    if _are_letters(text, found):
        return [
            each._replace(form="end", label=None) if each.form in _ADDRESSED else each
            for each in found
        ]
    return [
        each._replace(form="unread") if each.form == "salutation" else each
        for each in found
        if each.form != "salutation" or each.label
    ]


def _are_letters(text: str, found: Sequence[Opening]) -> bool:
    """Say if half of the labels are salutations, or names under the date and place of a letter.

    `Dear Sir:` can be nothing else; `General Hay:` and `SIR:` may speak, or be written to.
    """
    salutations = sum(each.form == "salutation" and not each.label for each in found)
    spoken = sum(each.form in _SPOKEN_LETTERS for each in found)
    dated = [
        each
        for before, each in pairwise([Opening(0, 0, "none"), *found])
        if each.form in _LABELLED or (each.form == "salutation" and each.label)
        if _is_dated(text, before.said, each.start)
    ]
    salutations += sum(each.form == "salutation" for each in dated)
    addressed = sum(each.form in _LABELLED for each in dated)
    share = _SHARE_LETTERS if salutations else _SHARE_DATED
    return 0 < salutations + addressed >= share * (salutations + spoken)


def _is_dated(text: str, start: int, end: int) -> bool:
    """Say if a date ends one of the last lines of a part of the text."""
    near = text[max(start, end - _LONGEST * _ADDRESS) : end]
    lines = [line.strip() for line in near.split("\n") if line.strip()]
    return any(map(_ends_in_date, lines[-_ADDRESS:]))


def _ends_in_date(line: str) -> bool:
    dates = _DATED.finditer(line) if len(line) <= _LONGEST else ()
    return any(found.end() == len(line) and _is_day(found[1]) for found in dates)


def _is_day(date: str) -> bool:
    days = bounds(date)
    return days is not None and days[0] == days[1]


_CHAIR = re.compile(r"\b(?:chair\w*|speaker|president|presiding)\b", re.IGNORECASE)
_NESTED = re.compile(r"\s*\([^()]*\)?")
_PARTY = re.compile(r",.*")
_AFTER = re.compile(
    r"(?<=[a-zà-ÿ])(?: (?:MP|AM|MS|AS|MSP|MLA|MHR|MLC|MHA|MEP|TD|MK|QC|KC|SC|AC|AO))+\Z"
)
"""Letters behind a name: an honour, or a seat in a parliament."""
_INITIALS = re.compile(r"(?<=\b[^\W\d_a-z]\.) (?=[^\W\d_a-z]\.)")
_PLACE = re.compile(r"[^\W\d_a-z][^\W\d_]*(?:[ .'’&—–-]{1,2}[^\W\d_]+){0,8}\.?")
_SHORTENED = re.compile(r"(\.[^\W\d_])\Z")
_HONOURABLE = re.compile(r"\AHon\b\.?\s*(?=[^\W\d_a-z])")
"""With its stop and a blank: one record prints `Hon Hay`, `Hon.Hay` and `Hon. Hay`."""
_SMALL = re.compile(r"(?<=\s)(?:Of|The|And|For|Pro|Tempore)(?=\s|$)")


class People:
    """The speakers of a transcript, by the labels printed before their words.

    A person is named as he is most fully; an office that has no name beside it is that of whom it
    was last said to be. Who presides is named so only where he does. Where one name stands with
    several places, `Mr. Hay (Northport)` and `Mr. Hay (Southport)`, it is that of several.
    """

    def __init__(self, labels: Iterable[SpeakerLabel]) -> None:
        self._full: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._offices: dict[str, set[str]] = defaultdict(set)
        self._holders: dict[str, str] = {}
        self._places: dict[tuple[str, str], set[str]] = defaultdict(set)
        for each in labels:
            name, office = _parts(each)
            if name and (place := _place(each)):
                self._places[_key_people(name)].add(place)
            if name and len(name.split()) > 2:
                self._full[_key_people(name)].add(name)
            if name and office and not _CHAIR.search(office):
                self._offices[name].add(office)

    def name(self, said: SpeakerLabel) -> str:
        """The one name of whom a label means; labels are asked in the order of the text."""
        name, office = _parts(said)
        if not name:
            return self._holders.get(office.casefold(), office)
        is_shared = len(self._places.get(_key_people(name), ())) > 1
        if is_shared and (place := _place(said)):
            return f"{name} ({place})"
        full = set() if is_shared else self._full.get(_key_people(name), set())
        person = next(iter(full)) if len(full) == 1 else name
        own = self._offices.get(person) or self._offices.get(name) or set()
        title = office or (next(iter(own)) if len(own) == 1 else "")
        full_name = f"{person} ({title})" if title else person
        if office:
            self._holders[office.casefold()] = full_name
        return full_name


@lru_cache(1024)
def _parts(label: SpeakerLabel) -> tuple[str, str]:
    """Name and office; either may be empty."""
    outside, inside = _plain(label.words), _plain(label.inside)
    if label.kind == "office":
        return (inside, outside) if is_titled(inside) or _is_name(inside) else ("", outside)
    return outside, inside if is_office(inside) else ""


def _place(label: SpeakerLabel) -> str:
    """The constituency, state or party in the bracket behind a name."""
    place = " ".join(_PARTY.sub("", label.inside).split())
    is_one = _PLACE.fullmatch(place) is not None
    return calm(place) if is_one and label.kind != "office" and not is_office(place) else ""


def _plain(words: str) -> str:
    bare = _NESTED.sub("", words)
    bare = (bare if is_office(bare) else _PARTY.sub("", bare)).strip(" .,;—-")
    bare = _HONOURABLE.sub("Hon. ", _SHORTENED.sub(r"\1.", bare))
    bare = plain_titles(_INITIALS.sub("", _AFTER.sub("", bare)))
    return _SMALL.sub(lambda word: word[0].lower(), calm(bare))


def _is_name(words: str) -> bool:
    parts = words.split()
    return 1 < len(parts) < 5 and all(word[0].isupper() for word in parts) and not is_office(words)


def _key_people(name: str) -> tuple[str, str]:
    words = name.casefold().replace(".", "").split()
    return words[0], words[-1]


_FEWEST = 3
"""Speeches of a transcript by persons with a title or an office, one of whom speaks again."""

_FEWEST_NAMED = 6
"""Speeches by bare names, which anything with a colon may look like."""

_RECURRING = 0.3  # share of them whose speakers speak again
_SHARE_TRANSCRIPT, _SHARE_NAMED = 0.01, 0.15
"""Of the paragraphs, as far as lines and blank lines tell them."""

_PROSE = 0.5
"""Share of speeches by persons with a title or an office that begin as sentences do and hold the
end of one: the lists of offices, votes and definitions have neither."""

_WHOLE = 0.6  # share of speeches by bare names that end as sentences do, and not as years
_ENDED = re.compile(r"(?<!\d{3})[.?!…—–-][\"'”’)\]*]*\Z")
_HOLDS_END = re.compile(r"(?:\w{3}|[\d)\]\"'”’])\.|[?!…]|[.—–-]\Z")
_LOOKED_AT = 1000  # characters of a speech
_LINES = 8  # of a usual paragraph, where no blank lines tell them apart
_LETTERS = re.compile(r"[^\W\d_]+")
_SPOKEN_TRANSCRIPT = ("colon", "stop", "dash")
COUNSEL, WITNESS = "Counsel", "The Witness"
"""Who asks and who answers where nobody says his name."""


def with_speeches(text: str, segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """`segments` with those of the speeches, if `text` is a transcript; else as they are.

    Nobody speaks between a heading and the next speech. Question and answer of an examination
    belong together, so that both are named over it.
    """
    all_openings = _without_addresses(without_letters(text, list(openings(text))))
    is_labelled = any(each.label for each in all_openings)
    small = set(filter(str.islower, _LETTERS.findall(text))) if is_labelled else set[str]()
    all_openings = [
        each._replace(form="end", label=None) if _is_heading(each, small) else each
        for each in all_openings
    ]
    speeches = _speeches(text, all_openings, small)
    return _join(segments, speeches) if speeches else tuple(segments)


def _is_heading(each: Opening, small: Set[str]) -> bool:
    """Say if its title is an ordinary word, and its name of such, as of `Major Changes`."""
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
    spoken = [each for each in found if each.form in _SPOKEN_TRANSCRIPT]
    titled = [each for each in spoken if not _is_named(each)]
    named = [each for each in spoken if _is_named(each)]
    paragraphs = max(text.count("\n\n") + 1, text.count("\n") // _LINES)
    is_titled = (
        _recur(titled, _FEWEST)
        and len(spoken) >= _SHARE_TRANSCRIPT * paragraphs
        and sum(map(_is_prose, _words_behind(text, titled, found))) >= _PROSE * len(titled)
    )
    is_named = (
        _recur(named, _FEWEST_NAMED)
        and len(spoken) >= _SHARE_NAMED * paragraphs
        and _are_words(text, named, found, small)
    )
    is_testimony = _is_testimony(found)
    if not (is_titled or is_named or is_testimony):
        return []
    names = _Names(named, small, is_named=is_named)
    return list(_segments([names.settle(each) for each in found], is_testimony))


class _Names:
    """The bare names that are of people: all where a document has little else, and recurring ones.

    Another label in capitals may be one in another language: nobody is known to speak behind it.
    """

    def __init__(self, named: Sequence[Opening], small: Set[str], *, is_named: bool) -> None:
        """`small` are the words of the text that are written so somewhere."""
        self._small = small
        self._often = Counter(map(_key_transcript, named))
        self._is_named = is_named

    def settle(self, each: Opening) -> Opening:
        """The opening as it is, or one without a label, at which a speech ends."""
        if each.form == "unread" and each.label:
            words = each.label.words
            is_one = words.isupper() or is_anybody(words) or _is_rare(each, self._small)
            return each._replace(form="end" if is_one else "none", label=None)
        if each.form not in _SPOKEN_TRANSCRIPT or not _is_named(each):
            return each
        often, is_rare = self._often[_key_transcript(each)] > 1, _is_rare(each, self._small)
        in_capitals = each.label is not None and each.label.words.isupper()
        if (often or is_rare) if self._is_named else (often and is_rare and in_capitals):
            return each
        return each._replace(form="end" if is_rare else "none", label=None)


def _segments(found: Sequence[Opening], is_testimony: bool) -> Iterator[Segment]:
    people = People(each.label for each in found if each.label and each.form in _SPOKEN_TRANSCRIPT)
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
    """Say if there are as many, by more than one who speaks, and enough by who speaks again."""
    labels = [each.label for each in found if each.label]
    counts = Counter(map(People(labels).name, labels))
    again = sum(count for count in counts.values() if count > 1)
    return len(found) >= fewest and len(counts) > 1 and again >= _RECURRING * len(found)


def _key_transcript(each: Opening) -> str:
    return each.label.words.casefold() if each.label else ""


def _is_testimony(found: Sequence[Opening]) -> bool:
    forms = Counter(each.form for each in found)
    exchanges = min(forms["question"], forms["answer"])
    is_examined = forms["examiner"] + forms["witness"] > 0 or any(
        each.label and each.label.words.casefold() == "the witness" for each in found
    )
    return exchanges >= _FEWEST and is_examined


def _are_words(
    text: str, named: Sequence[Opening], found: Sequence[Opening], small: Set[str]
) -> bool:
    """Say if what follows bare names is sentences, and the names are no words of the text."""
    speeches = _words_behind(text, named, found)
    whole = sum(_ENDED.search(each) is not None and not each[0].islower() for each in speeches)
    rare = sum(_is_rare(each, small) for each in named)
    return whole >= _WHOLE * len(named) and rare >= _WHOLE * len(named)


def _words_behind(text: str, some: Sequence[Opening], found: Sequence[Opening]) -> list[str]:
    ends = {before.start: after.start for before, after in pairwise(found)}
    return [text[each.said : ends.get(each.start, len(text))].strip() for each in some]


def _is_prose(words: str) -> bool:
    paragraph = words[:_LOOKED_AT].partition("\n\n")[0]
    return not paragraph[:1].islower() and _HOLDS_END.search(paragraph) is not None


def _is_rare(each: Opening, small: Set[str]) -> bool:
    """Say if one of its words is never written small, as all of a heading's are somewhere.

    An abbreviation among other words never is: `If Remote MCP`.
    """
    label = each.label.words if each.label else ""
    words = _LETTERS.findall(label if not label.isupper() else label.casefold())
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
