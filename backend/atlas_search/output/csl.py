"""CSL-JSON, as citation processors and reference managers read it.

https://github.com/citation-style-language/schema, `schemas/input/csl-data.json`.
"""

import json
from collections.abc import Mapping, Sequence

from atlas_search.output.dating import Dating
from atlas_search.output.references import Kind, Reference

TYPES: Mapping[Kind, str] = {
    "case": "legal_case",
    "statute": "legislation",
    "debate": "hearing",
    "book": "book",
    "document": "document",
}


def csl_json(references: Sequence[Reference]) -> str:
    """One item for each cited document; its `note` holds the quotes, one a line."""
    items = [_item(reference) for reference in references]
    return json.dumps(items, ensure_ascii=False, indent=2) + "\n"


def _item(reference: Reference) -> dict[str, object]:
    # names stay as they are written: a judge's title or an institution has no family name
    item = {
        "id": reference.key,
        "type": TYPES[reference.kind],
        "title": reference.title,
        "author": [{"literal": name} for name in reference.authors],
        "issued": _date(reference.dating),
        "publisher" if reference.kind == "book" else "authority": reference.body,
        "URL": reference.url,
        "note": "\n".join(filter(None, (reference.source, *reference.quotes))),
    }
    return {name: value for name, value in item.items() if value}


def _date(dating: Dating) -> dict[str, object]:
    if not dating.parts:
        return {"literal": dating.written} if dating.written else {}
    date: dict[str, object] = {"date-parts": dating.parts}
    return date | {"circa": True} if dating.circa else date
