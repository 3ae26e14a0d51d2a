"""What a scope holds: counted as a plain scan of all documents counts it."""

import re
from collections import Counter
from typing import Any

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.core.errors import RequestError, UnknownFilterField
from atlas_search.language.dates import bounds

SCOPES: list[dict[str, Any]] = [
    {},
    {"corpora": "mill"},
    {"corpora": ["mill", "port"], "filters": {"date": {"from": "1902"}}},
    {"filters": {"paper": "globe"}},
    {"corpora": "port", "filters": {"paper": ["Echo", "echo"], "date": {"to": "1903"}}},
    {"filters": {"paper": "nowhere"}},
]


def meets(document: Document, field: str, wanted: Any) -> bool:
    """Whether a document meets a filter, read plainly."""
    value = document.metadata.get(field)
    if field == "date":
        days = bounds(str(value)) if value else None
        return bool(
            days and days[1] >= wanted.get("from", "0000") and days[0][:4] <= wanted.get("to", "9")
        )
    values = value if isinstance(value, tuple) else (value,)
    chosen = [wanted] if isinstance(wanted, str) else wanted
    return bool({str(v).casefold() for v in values} & {c.casefold() for c in chosen})


def left(documents: list[Document], scope: dict[str, Any], but: str = "") -> list[Document]:
    corpora = scope.get("corpora", "all")
    filters = {f: wanted for f, wanted in scope.get("filters", {}).items() if f != but}
    return [
        document
        for document in documents
        if corpora == "all" or document.corpus in corpora
        if all(meets(document, field, wanted) for field, wanted in filters.items())
    ]


@pytest.mark.parametrize("scope", SCOPES)
def test_counts_are_those_of_a_plain_scan(
    atlas: Atlas, documents: list[Document], scope: dict[str, Any]
) -> None:
    found = atlas.facets(["paper"], **scope)
    assert found.documents == len(left(documents, scope))
    assert found.passages == sum(len(atlas.passages(d.id)) for d in left(documents, scope))

    papers: Counter[str] = Counter()
    for document in left(documents, scope, but="paper"):
        said = document.metadata.get("paper", ())
        papers.update({name.casefold() for name in (said if isinstance(said, tuple) else (said,))})
    counted = found.fields["paper"]
    assert {v.value.casefold(): v.documents for v in counted.values} == papers
    assert counted.left_out == 0

    dates = [document.metadata.get("date") for document in left(documents, scope, but="date")]
    days = [bounds(str(date)) for date in dates if date]
    years = Counter(int(d[0][:4]) for d in days if d and d[0][:4] == d[1][:4])
    assert found.dates.years == years
    assert list(found.dates.years) == sorted(years)
    assert found.dates.undated == len(dates) - len(days)
    assert found.dates.several_years == len(days) - sum(years.values())


def test_phrases_narrow_without_exception(atlas: Atlas, documents: list[Document]) -> None:
    found = atlas.facets(False, require=["shipyard dispute"])
    held = [
        passage
        for document in documents
        for passage in atlas.passages(document.id)
        if "shipyard dispute" in " ".join(re.findall(r"\w+", passage.text.lower()))
    ]
    assert found.passages == len(held) > 0
    assert found.documents == len({passage.document_id for passage in held})
    assert found.fields == {}
    without = atlas.facets(False, exclude=["shipyard dispute"])
    assert found.passages + without.passages == atlas.facets(False).passages


def test_what_cannot_be_counted_is_refused(atlas: Atlas) -> None:
    with pytest.raises(UnknownFilterField, match="nothing"):
        atlas.facets(["nothing"])
    with pytest.raises(RequestError, match="empty list"):
        atlas.facets(corpora=[])
    with pytest.raises(RequestError, match="holds no word"):
        atlas.facets(require=["…"])
