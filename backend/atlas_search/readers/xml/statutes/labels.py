"""What the label of a provision says: `SEC. 2.`, `Article 5`, `*9 to 11`, `(1.1)`."""

import re

_INSERTED = r"(?:\s(?:bis|ter|quater|quinquies|sexies|septies|octies)\b)?"
_TOKEN = rf"[A-Za-z]{{0,3}}\d+[A-Za-z\d]*(?:[.:/-]\d*[A-Za-z\d]+)*{_INSERTED}"
_JOINT = r"\s*(?:\b(?:to|à|through|and|et|or|ou)\b|,|-)\s*"
_NUMBERS = re.compile(rf"(?<![^\W\d_]){_TOKEN}(?:{_JOINT}{_TOKEN})*")
_LETTERED = re.compile(r"\b(?:[IVXLC]+|[A-Z])\b")
_SCHEDULE = re.compile(r"(?i)\W*(?:schedules?|annexe?|appendix|anexo)\s+([^\W_][\w.-]*)")
_LEVEL = re.compile(r"[A-Za-z\d]+(?:[.-][A-Za-z\d]+)*")
_TO = re.compile(r"\b(?:to|à|through)\b|\s-\s")
_JOINTS = frozenset({"to", "à", "through", "and", "et", "or", "ou"})


def number(label: str) -> str:
    """The number in a label, as a citation has it: `2`, `5 bis`, `9-11`, `I`; empty without one.

    Dashes are hyphens. Several numbers are joined by a comma, both ends of a row by a hyphen.
    What is in brackets after a number is not its own: `Article 4 (ex Article 2)`.
    """
    text = _plain(label)
    if found := _NUMBERS.search(text):
        return _join(re.findall(_TOKEN, found[0]), found[0])
    letters: list[str] = _LETTERED.findall(text)
    return letters[-1] if letters else ""


def schedule_number(label: str) -> str:
    """The number of a schedule, `I` of `SCHEDULE I / ANNEXE I`; empty for `SCHEDULE TO PART IV`."""
    text = _plain(label)
    found = _SCHEDULE.match(text)
    if found:
        return number(found[1])
    return "" if " " in text else number(text)


def level(label: str) -> str:
    """A label as the level of a citation: `(1)` of `1.` or `(1)`; empty without one."""
    text = _plain(label)
    found = [part for part in _LEVEL.findall(text) if part not in _JOINTS]
    return f"({_join(found, text)})" if found else ""


def _join(numbers: list[str], text: str) -> str:
    if len(numbers) > 1 and _TO.search(text):
        return f"{numbers[0]}-{numbers[-1]}"
    return ",".join(numbers)


def _plain(label: str) -> str:
    return re.sub("[\u2010-\u2014\u2212]", "-", " ".join(label.split()))
