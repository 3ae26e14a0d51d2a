"""An elliptical phrase, put where its like stands: `and in B` becomes `the law in B`."""

import re

from backend.search.multihop.patterns import (
    NAME,
    NAMED,
    PREPOSITION,
    STANDS_IN,
    WH,
    any_of,
    topics_of,
)

_OBJECT_AT_END = re.compile(rf"{PREPOSITION} (?P<object>(?:the )?{NAMED}(?:, (?:the )?{NAMED})*)$")
_DATED = re.compile(r" (?:the )?\d")
_OWNER = re.compile("['’]s$")
_OWNED = re.compile(r".*['’]s (?P<thing>.+)")
_ADJECTIVE = re.compile(
    r"(?:the )?\w*(?:able|al|ary|ate|direct|ed|ern|express|ible|ic|il|ive|ory|ous|strict|void)"
)
_TAIL = re.compile(
    rf" {any_of('about concerning during in on over regarding under when within')} .*"
)


def completed_phrase(whole: str, phrase: str) -> str:
    """`whole` with `phrase` for its like: "in Wales" for the last "in ...", a name for a name.

    Empty if nothing in `whole` is like it.
    """
    phrase = STANDS_IN.sub("", phrase)
    if re.match(PREPOSITION, phrase):
        at = place_of_like(whole, phrase)
        return whole[:at] + phrase if at else ""
    place = _object_at_end(whole)
    return whole[: place.start("object")] + phrase if place and NAME.fullmatch(phrase) else ""


def place_of_like(whole: str, phrase: str) -> int:
    """Where the last phrase of `whole` with the same preposition starts; 0 if there is none.

    Dates are put for dates where there are both; "in" and "under" stand for each other.
    """
    start = re.match(PREPOSITION, phrase)
    first = start.group().lower() if start else ""
    dated = bool(_DATED.match(phrase[len(first) :]))
    for alike in (first, "in|under") if first in {"in", "under"} else (first,):
        found = [*re.finditer(rf"(?<= )(?:{alike}) (?!{WH})", whole, re.I)]
        same_kind = [m for m in found if bool(_DATED.match(whole[m.end() - 1 :])) == dated]
        if found:
            return (same_kind or found)[-1].start()
    return 0


def _object_at_end(whole: str) -> re.Match[str] | None:
    """The preposition and the name (or names) that end `whole`, if a topic stands before them."""
    found = _OBJECT_AT_END.search(whole)
    return found if found and topics_of(whole[: found.start()]) else None


def shared_parts(left: str, right: str) -> list[str]:
    """Things joined, each with the words that are said only once; empty if that is not clear."""
    for rule in (_shared_owned, _shared_elliptical, _shared_place, _shared_predicate, _shared_noun):
        if (parts := rule(left, right)) is not None:
            return parts
    found = None if re.search(PREPOSITION, left) else _TAIL.search(right)
    tail = found.group() if found else ""
    items = left.split(", ")
    short = all(item.count(" ") < 4 for item in items)
    return [*(item + tail for item in (items if short else [left])), right]


def _shared_owned(left: str, right: str) -> list[str] | None:
    """`Britain's law` and `France's`, `Hart's` and `Fuller's view`"""
    if _OWNER.search(right) and (owned := _OWNED.match(left)):
        return [left, f"{right} {owned['thing']}"]
    if _OWNER.search(left) and (owned := _OWNED.match(right)):
        return [f"{left} {owned['thing']}", right]
    return None


def _shared_elliptical(left: str, right: str) -> list[str] | None:
    """`the law in Britain` and `that in France`, `Britain's law` and `that of France`"""
    phrase = STANDS_IN.sub("", right)
    if not re.match(PREPOSITION, phrase):
        return None
    owned = _OWNED.match(left)
    other = completed_phrase(left, phrase) or (f"{owned['thing']} {phrase}" if owned else "")
    return [left, other] if other else []


def _shared_place(left: str, right: str) -> list[str] | None:
    """`the law of Britain` and `France on slavery`"""
    name, place = NAME.match(right), _object_at_end(left)
    tail = right[name.end() :] if name else "-"
    if not place or not re.match(rf"$| (?:{PREPOSITION}|to )", tail):
        return None
    head = left[: place.start("object")]
    return [*(f"{head}{item}{tail}" for item in place["object"].split(", ")), head + right]


def _shared_predicate(left: str, right: str) -> list[str] | None:
    """`how Britain` and `France treat privacy`; without names it is not clear where to cut."""
    asked, subject = re.match(rf"{WH} ", left), left.partition(" ")[2]
    if not asked or subject.count(" ") > 2 or re.match(WH, right):
        return None
    name = NAME.match(right)
    if not name or not NAME.fullmatch(subject):
        return []
    return [left + right[name.end() :], asked.group() + right]


def _shared_noun(left: str, right: str) -> list[str] | None:
    """`civil` and `criminal trials`, `the French` and `American revolutions`"""
    noun = re.match(rf"(?:{NAMED}|(?!the )[a-z]\w+) (?P<rest>(?!{PREPOSITION})[a-z].+)", right)
    alike = _ADJECTIVE.fullmatch(left) or (NAME.fullmatch(left) and NAME.match(right))
    return [f"{left} {noun['rest']}", right] if noun and alike else None
