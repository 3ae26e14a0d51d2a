"""References as items of Zotero.

Item types and their fields: https://api.zotero.org/schema.
"""

from collections.abc import Mapping, Sequence
from html import escape

from atlas_search.output.references import Kind, Reference

_FIELDS: Mapping[Kind, tuple[str, str, str, str]] = {
    "case": ("case", "caseName", "dateDecided", "court"),
    "statute": ("statute", "nameOfAct", "dateEnacted", "extra"),
    "debate": ("hearing", "title", "date", "legislativeBody"),
    "book": ("book", "title", "date", "publisher"),
    "document": ("document", "title", "date", "publisher"),
}
"""Of each kind: its item type, and the fields of its title, its date and its body."""


def zotero_items(references: Sequence[Reference]) -> list[dict[str, object]]:
    """One item for each document; its quotes are notes below it."""
    return [_item(reference) for reference in references]


def _item(reference: Reference) -> dict[str, object]:
    kind, title, date, body = _FIELDS[reference.kind]
    fields = {
        body: reference.body,
        title: reference.title,
        date: reference.dating.written,
        "url": reference.url,
    }
    extra = "\n".join(filter(None, (str(fields.pop("extra", "")), reference.source)))
    item: dict[str, object] = {name: value for name, value in fields.items() if value}
    # names stay as they are written: one field, not two
    who = "contributor" if reference.kind == "debate" else "author"
    return item | {
        "id": reference.key,
        "itemType": kind,
        "creators": [
            {"name": name, "fieldMode": 1, "creatorType": who} for name in reference.authors
        ],
        "extra": extra,
        "notes": [{"note": f"<p>{escape(quote)}</p>"} for quote in reference.quotes],
        "tags": [],
        "attachments": [],
    }
