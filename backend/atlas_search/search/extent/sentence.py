"""The scope of a search in one sentence, for a person."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from atlas_search.search.conditions import written
from atlas_search.search.extent.dates import Dates
from atlas_search.stores.filters import Condition

if TYPE_CHECKING:
    from atlas_search.search.extent.extent import Extent

MOST_NAMED = 5  # corpora, or values of a filter; more of them would bury the rest


def sentence(extent: "Extent") -> str:
    """What was searched, and of what; the corpora, filters and phrases that narrowed it.

    `Searched 1 of 3 corpora (Debates): 12 of 1,204 documents, 96 of 18,332 passages, 1901 to 2019;
    filters: speaker = “A B”; no source of this corpus holds “blockchian”.`
    """
    clauses = [_searched(extent), *_filters(extent), *_phrases(extent), *_gaps(extent)]
    return f"{'; '.join(clauses)}."


def _searched(extent: "Extent") -> str:
    corpora = _share(len(extent.corpora), extent.all_corpora, "corpus", "corpora")
    labels = _some([corpus.label for corpus in extent.corpora], ", ", " and ")
    found = [
        _share(extent.documents, extent.all_documents, "document", "documents"),
        _share(extent.passages, extent.all_passages, "passage", "passages"),
        *_dates(extent.dates, extent.documents),
    ]
    return f"Searched {corpora} ({labels}): {', '.join(found)}"


def _share(part: int, whole: int, one: str, several: str) -> str:
    """`12 documents`, or `12 of 1,204 documents`."""
    counted = f"{whole:,} {one if whole == 1 else several}"
    return counted if part == whole else f"{part:,} of {counted}"


def _dates(dates: Dates, documents: int) -> Iterator[str]:
    if dates.first:
        undated = f" ({dates.undated:,} undated)" if dates.undated else ""
        yield f"{_span(dates)}{undated}"
    elif documents:
        yield "undated"


def _span(dates: Dates) -> str:
    first, last = dates.first, dates.last
    if first.endswith("-01-01") and last.endswith("-12-31"):  # whole years
        first, last = first[:4], last[:4]
    earlier, later = " or earlier" * dates.or_earlier, " or later" * dates.or_later
    if first == last and not (earlier and later):
        return f"{first}{earlier}{later}"
    return f"{first}{earlier} to {last}{later}"


def _filters(extent: "Extent") -> Iterator[str]:
    if extent.filters:
        conditions = (_condition(field, of) for field, of in extent.filters.items())
        yield f"filters: {', '.join(conditions)}"


def _condition(field: str, condition: Condition) -> str:
    asked = written(condition)
    if isinstance(asked, dict):
        return f"{field} {' '.join(f'{end} {value}' for end, value in asked.items())}"
    return f"{field} = {_some([f'“{value}”' for value in asked], ' or ', ' or ')}"


def _phrases(extent: "Extent") -> Iterator[str]:
    if extent.required:
        yield f"only passages that hold {_quoted(extent.required, 'and')}"
    if extent.unmet:
        yield f"also passages without {_quoted(extent.unmet, 'or')}"
    if extent.excluded:
        yield f"no passages that hold {_quoted(extent.excluded, 'or')}"


def _gaps(extent: "Extent") -> Iterator[str]:
    """What the search could not find: words that are nowhere, and candidates the index missed."""
    if extent.unknown_words:
        yield f"no source{_of_these(extent)} holds {_quoted(extent.unknown_words, 'or')}"
    labels = {corpus.id: corpus.label for corpus in extent.corpora}
    for leg in extent.short_legs:
        if leg.reason == "index":
            yield f"the index found {leg.found} of {leg.asked} candidates of {labels[leg.corpus]}"


def _of_these(extent: "Extent") -> str:
    """Other corpora may hold a word, but nothing outside a filter that the corpora do not."""
    if len(extent.corpora) == extent.all_corpora:
        return ""
    return " of this corpus" if len(extent.corpora) == 1 else " of these corpora"


def _quoted(phrases: Sequence[str], joint: str) -> str:
    return f" {joint} ".join(f"“{phrase}”" for phrase in phrases)


def _some(names: Sequence[str], between: str, last: str) -> str:
    """The names, or the first of them and how many more there are."""
    if len(names) <= MOST_NAMED:
        return between.join(names)
    return f"{between.join(names[:MOST_NAMED])}{last}{len(names) - MOST_NAMED} more"
