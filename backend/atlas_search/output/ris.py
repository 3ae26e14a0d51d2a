"""RIS, which nearly every reference manager imports.

A value is one line. https://en.wikipedia.org/wiki/RIS_(file_format) lists the tags by program.
"""

from collections.abc import Mapping, Sequence

import rispy

from atlas_search.output.dating import Dating
from atlas_search.output.references import Kind, Reference

TYPES: Mapping[Kind, str] = {
    "case": "CASE",
    "statute": "STAT",
    "debate": "HEAR",
    "book": "BOOK",
    "document": "GEN",
}


class _Writer(rispy.RisWriter):  # type: ignore[misc]
    def set_header(self, count: int) -> str:  # noqa: ARG002
        """Without rispy's number above each entry, which is not part of the format."""
        return ""


def ris(references: Sequence[Reference]) -> str:
    """One entry for each cited document; its notes are the quotes."""
    entries = [_entry(reference) for reference in references]
    return str(rispy.dumps(entries, implementation=_Writer))


def _entry(reference: Reference) -> dict[str, object]:
    entry: dict[str, object] = {
        "type_of_reference": TYPES[reference.kind],
        "id": reference.key,
        "title": reference.title,
        "authors": list(reference.authors),
        "publisher": reference.body,
        "year": _year(reference.dating),
        "date": _date(reference.dating),
        "urls": [reference.url] if reference.url else [],
        "notes": [*filter(None, [reference.source]), *reference.quotes],
    }
    return {label: value for label, value in entry.items() if value}


def _year(dating: Dating) -> str:
    return f"{dating.parts[0][0]:04}" if dating.parts else ""


def _date(dating: Dating) -> str:
    """`1954/05/17/`; what is no single date stands as written in the fourth place."""
    if not dating.written:
        return ""
    if len(dating.parts) != 1 or dating.circa:
        return f"{_year(dating)}///{dating.written}"
    numbers = [f"{number:02}" for number in dating.parts[0]]
    return "/".join((numbers[0].zfill(4), *numbers[1:], *[""] * (4 - len(numbers))))
