"""Follow-ups that are no whole question: `What about Canada?`, `And in 1990?`, `Why?`"""

import re
from collections.abc import Sequence

from atlas_search.answer.follow_up.names import Name, names_in
from atlas_search.answer.follow_up.pointers import pointers
from atlas_search.language.countries import is_country
from atlas_search.language.english import AUXILIARIES, any_of

_PREPOSITION = r"(?:in|under|for|during|since|by|before|after|at|to|from|against|of|on)"
_FRAGMENT = re.compile(
    r"(?:(?:and|but|so|or|ok|okay),? )?(?:(?:what|how) about |and what of )(?P<about>[^?]+?)\W*"
    rf"|(?:(?:and|but|or),? )(?P<also>(?:{_PREPOSITION} |the )?[^?]+?)\W*"
    rf"|(?P<place>{_PREPOSITION} (?:the )?(?-i:[A-Z\d])[^?]*?)\W*"
    r"|(?:(?:and|but|so),? )?(?P<asks>why not|why|when|where|how|by whom)\W*",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    rf"(?:{_PREPOSITION} )?(?:{any_of('who whom whose what which when where why how')}|"
    rf"{any_of(AUXILIARIES)}|{any_of('tell explain describe compare list show give')})",
    re.IGNORECASE,
)
_CLAUSE = re.compile(rf" {any_of(f'{AUXILIARIES} who whom what which when where why how')}(?: |$)")
MOST_WORDS = 6
_YEAR = re.compile(r"(?:1\d{3}|20\d\d)")
_IN_YEAR = re.compile(r"\b(?:in|during|since|by|before|after|until) (?:1\d{3}|20\d\d)\b")
_ASKS_WHEN = re.compile(rf"(?:when|where|why|how|by whom)(?= {any_of(AUXILIARIES)})", re.IGNORECASE)
_YES_OR_NO = re.compile(
    r"(?P<verb>is|was|are|were|did|do|does|can|could|must|should|would|has|had|have) (?P<rest>.+)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"no\b", re.IGNORECASE)
_AFFIRMS = re.compile(r"yes\b", re.IGNORECASE)


def is_fragment(question: str) -> bool:
    """Whether a question is only a part of one, which what was asked before makes whole."""
    return _read(question) is not None


def complete(question: str, previous: str, answer: str) -> str:
    """The `previous` question with the fragment put in; empty where its place is unsure."""
    found = _read(question)
    previous = previous.strip()
    if not found or not previous or len(re.findall(r"[?!.](?:\s|$)", previous)) > 1:
        return ""
    if found["asks"]:
        return _ask_otherwise(found["asks"].lower(), previous, answer)
    part = next(found[group] for group in ("about", "also", "place") if found[group])
    if pointers(part) or pointers(previous):
        return ""
    preposition = re.match(rf"({_PREPOSITION}) ", part, re.IGNORECASE)
    if preposition:
        return _with_phrase(previous, part[0].lower() + part[1:], preposition[1].lower())
    return _with_name(previous, part)


def _read(question: str) -> re.Match[str] | None:
    found = _FRAGMENT.fullmatch(question.strip())
    part = found and (found["also"] or found["place"])
    if not part:
        return found
    is_whole = _WHOLE.match(part) or _CLAUSE.search(part) or "," in part
    return None if is_whole or len(part.split()) > MOST_WORDS else found


def _ask_otherwise(asks: str, previous: str, answer: str) -> str:
    """The question before, asking `why` or `where`; a yes or no must be known for its reason."""
    asked = _ASKS_WHEN.match(previous)
    if asked and asks != "why not" and asked.group().lower() != asks:
        return f"{asks.capitalize()}{previous[asked.end() :]}"
    if not (stated := _YES_OR_NO.match(previous)) or asks not in {"why", "why not"}:
        return ""
    denied = asks == "why not" or bool(_DENIES.match(answer))
    if not denied and not _AFFIRMS.match(answer):
        return ""
    verb = stated["verb"].lower()
    negative = "can't" if verb == "can" else f"{verb}n't"
    return f"Why {negative if denied else verb} {stated['rest']}"


def _with_phrase(previous: str, part: str, preposition: str) -> str:
    """With `in Canada` or `for women` in the place of its like, or at the end."""
    object_ = part[len(preposition) + 1 :]
    if _YEAR.fullmatch(object_):
        return _swap_or_append(previous, [m.span() for m in _IN_YEAR.finditer(previous)], part)
    names = names_in(previous)
    if names_in(f"x {object_}") or is_country(object_.removeprefix("the ")):
        return _with_place(previous, part, names, preposition)
    if any(_stands_behind(preposition, name, previous) for name in names):
        return ""
    like = rf"\b{preposition} (?!the [A-Z])[a-z][\w-]*(?: [a-z][\w-]*)?(?=\W*$| {_PREPOSITION} )"
    return _swap_or_append(previous, [m.span() for m in re.finditer(like, previous)], part)


def _with_place(previous: str, part: str, names: Sequence[Name], preposition: str) -> str:
    before = [name for name in names if _stands_behind(preposition, name, previous)]
    places = [name for name in names if name.kind == "place"]
    new = part[len(preposition) + 1 :]
    if before or places:
        named = before or places
        return _put(previous, named[0].start, named[0].end, new) if len(named) == 1 else ""
    return _swap_or_append(previous, [], part) if not names else ""


def _stands_behind(preposition: str, name: Name, text: str) -> bool:
    return text[: name.start].lower().endswith(f" {preposition} ")


def _with_name(previous: str, part: str) -> str:
    """With another name in the place of the only one of its kind."""
    new = names_in(f"x {part}")
    if is_country(part):
        new = [Name(part, "place", "", 0, len(part))]
    if len(new) != 1 or new[0].text != part:
        return ""
    like = [name for name in names_in(previous) if _is_like(new[0], name)]
    return _put(previous, like[0].start, like[0].end, part) if len(like) == 1 else ""


def _is_like(new: Name, old: Name) -> bool:
    if new.kind == "thing" and old.kind == "thing":
        return new.head == old.head
    return new.kind == old.kind or (
        "unknown" in (new.kind, old.kind) and "thing" not in (new.kind, old.kind)
    )


def _swap_or_append(previous: str, slots: Sequence[tuple[int, int]], part: str) -> str:
    if len(slots) > 1:
        return ""
    if slots:
        return _put(previous, *slots[0], part)
    return f"{previous.rstrip('?.! ')} {part}?"


def _put(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]
