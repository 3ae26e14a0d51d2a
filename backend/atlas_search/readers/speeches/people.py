"""One name for everybody who speaks in a transcript, with his office where it is given."""

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from atlas_search.readers.persons import calm
from atlas_search.readers.speeches.labels import Label, is_office, is_titled, plain_titles

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
    """Who speaks, by what is printed before his words.

    A person is named as he is most fully; an office that has no name beside it is that of whom it
    was last said to be. Who presides is named so only where he does. Where one name stands with
    several places, `Mr. Hay (Northport)` and `Mr. Hay (Southport)`, it is that of several.
    """

    def __init__(self, labels: Iterable[Label]) -> None:
        self._full: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._offices: dict[str, set[str]] = defaultdict(set)
        self._holders: dict[str, str] = {}
        self._places: dict[tuple[str, str], set[str]] = defaultdict(set)
        for each in labels:
            name, office = _parts(each)
            if name and (place := _place(each)):
                self._places[_key(name)].add(place)
            if name and len(name.split()) > 2:
                self._full[_key(name)].add(name)
            if name and office and not _CHAIR.search(office):
                self._offices[name].add(office)

    def name(self, said: Label) -> str:
        """The one name of whom a label means; labels are asked in the order of the text."""
        name, office = _parts(said)
        if not name:
            return self._holders.get(office.casefold(), office)
        is_shared = len(self._places.get(_key(name), ())) > 1
        if is_shared and (place := _place(said)):
            return f"{name} ({place})"
        full = set() if is_shared else self._full.get(_key(name), set())
        person = next(iter(full)) if len(full) == 1 else name
        own = self._offices.get(person) or self._offices.get(name) or set()
        shown = office or (next(iter(own)) if len(own) == 1 else "")
        told = f"{person} ({shown})" if shown else person
        if office:
            self._holders[office.casefold()] = told
        return told


@lru_cache(1024)
def _parts(said: Label) -> tuple[str, str]:
    """Name and office; either may be empty."""
    outside, inside = _plain(said.words), _plain(said.inside)
    if said.kind == "office":
        return (inside, outside) if is_titled(inside) or _is_name(inside) else ("", outside)
    return outside, inside if is_office(inside) else ""


def _place(said: Label) -> str:
    """The constituency, state or party in the bracket behind a name."""
    place = " ".join(_PARTY.sub("", said.inside).split())
    is_one = _PLACE.fullmatch(place) is not None
    return calm(place) if is_one and said.kind != "office" and not is_office(place) else ""


def _plain(words: str) -> str:
    bare = _NESTED.sub("", words)
    bare = (bare if is_office(bare) else _PARTY.sub("", bare)).strip(" .,;—-")
    bare = _HONOURABLE.sub("Hon. ", _SHORTENED.sub(r"\1.", bare))
    bare = plain_titles(_INITIALS.sub("", _AFTER.sub("", bare)))
    return _SMALL.sub(lambda word: word[0].lower(), calm(bare))


def _is_name(words: str) -> bool:
    found = words.split()
    return 1 < len(found) < 5 and all(word[0].isupper() for word in found) and not is_office(words)


def _key(name: str) -> tuple[str, str]:
    words = name.casefold().replace(".", "").split()
    return words[0], words[-1]
