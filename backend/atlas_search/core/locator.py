"""Locators: how a source names a place of itself, as a citation does (`s 10(1)`, `p. 3`).

A citation token has it without blanks: `[acts.privacy s10(1)]`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

_KINDS = "§|s|r|reg|art|cl|para|sch|o|sch ?(?:s|r|reg|art|cl|para)"
"""The units of statutes in citations: section, rule, regulation, article, clause, paragraph,
schedule or order. The only schedule of an act has no number: `sch para 3`. Lower case, so that a
token is no heading."""

_LEVELS = re.compile(r"(?P<root>[^()]*)(?P<levels>(?:\([^()\s]*\))*)\Z")
_LEVEL = re.compile(r"\([^()\s]*\)")
_UNIT = re.compile(rf"(?:{_KINDS})\s?[\dA-Z]")

TOKEN_PLACE = rf"(?:p\d+|(?:{_KINDS[2:].replace(' ?', '')})[\dA-Z][^\[\]\s]*)"
"""The place in a citation token: a page counted from 1, or a locator."""

LOCATOR_IN_TEXT = rf"(?:{_KINDS[2:]})[\dA-Z]\w*(?:\([^\W_]{{1,5}}\))*"
"""A locator as tokens have it, without the punctuation that may follow it in running text."""

PAGED = frozenset("docx epub iiif odt pdf pptx rtf scan".split())
"""Content types that have pages; the text of others is one, unless marks divide it."""


def is_locator(text: str) -> bool:
    """Check that a citation token can hold `text`: a kind, then a digit or a capital."""
    return _UNIT.match(text) is not None and not re.search(r"[\[\]\n]", text)


def root(locator: str) -> str:
    """The locator without its levels in brackets: `s 10` of `s 10(1)(a)`."""
    return _split(locator)[0]


def common(locators: Sequence[str]) -> str:
    """The smallest part that all of them name, or the first one's root: `s 10` of `s 10(1)` and
    `s 10(2)`. Empty without any."""
    if not locators:
        return ""
    parts = [_split(locator) for locator in locators]
    head = parts[0][0]
    if any(other != head for other, _ in parts):
        return head
    in_turn = zip(*(levels for _, levels in parts), strict=False)
    shared = takewhile(lambda each: len(set(each)) == 1, in_turn)
    return head + "".join(level for level, *_ in shared)


def token_place(locator: str) -> str:
    """The locator as a citation token has it: `s10(1)` of `s 10(1)`, `s1983` of `§ 1983`."""
    return re.sub(r"\s+", "", locator).replace("§", "s")


def place_in_words(
    locator: str | None, page: int, printed_page: str | None, metadata: Mapping[str, object]
) -> str:
    """A place as its source says it: `s 10(1)`, else the page (or column) by the number on it,
    `p. xii (page 12 of the file)`, else in the file, `p. 4`. Empty in a text without pages."""
    is_whole = page == 1 and metadata.get("content_type") not in {None, *PAGED}
    if locator or (is_whole and not printed_page):
        return locator or ""
    unit = page_unit(metadata.get("pages_are"))
    if printed_page in (None, "", str(page)):
        return f"{unit} {page}"
    return f"{unit} {printed_page} (page {page} of the file)"


def page_unit(pages_are: object) -> str:
    """The label of a page number: `col.` if the metadata's `pages_are` says columns, else `p.`."""
    return "col." if str(pages_are).startswith("columns") else "p."


def _split(locator: str) -> tuple[str, list[str]]:
    match = _LEVELS.match(locator)
    return (match["root"].strip(), _LEVEL.findall(match["levels"])) if match else (locator, [])
