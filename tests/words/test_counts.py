"""Concordances, trends and counts of scopes equal a plain scan of the documents."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.core.errors import RequestError, UnknownFilterField
from atlas_search.language.dates import bounds
from atlas_search.language.text import words
from atlas_search.services import Services
from atlas_search.words.request import Point
from atlas_search.words.results import Cell, Concordance, WordCounts
from tests.conftest import sample_documents
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, document_ids, write_sources
from tests.words.conftest import WORDS, files
from tests.words.scan import characters, scanned, scope_of, typed, where_of, words_in

YEARS = {"1901": "1901", "1901-05-17": "1901", "1903": "1903", "1903-12": "1903", "1911": "1911"}
QUERIES: list[object] = [
    *(["strike*"], ["wage"], ["the", "*", "of"], ["general", "strike"], ["*ship*"], ["none"]),
    ("near", ["strike*"], ["wage*"], 5),
    ("or", ["pay"], ["general", "strike*"]),
]


def spans_of(concordance: Concordance) -> list[tuple[str, int, int]]:
    return [(line.document_id, line.start, line.end) for line in concordance.lines]


def holding(atlas: Atlas, documents: Iterable[Document], query: object) -> set[str]:
    """The ids of the passages that hold a hit whole."""
    return {
        p.id
        for d in documents
        for p in atlas.passages(d.id)
        if any(p.start <= a and b <= p.end for a, b in characters(query, d.text))
    }


def assert_lines(atlas: Atlas, documents: list[Document], query: object) -> None:
    """The concordance has every hit of a plain scan, in its context and opened by its passage."""
    texts = {d.id: d.text for d in documents}
    result = atlas.concordance(typed(query), limit=1000, context=3)
    expected = scanned(documents, query)
    assert (result.hits, result.listed) == (len(expected), len(expected))
    assert spans_of(result) == expected[:1000]
    assert result.words == sum(len(words_in(text)) for text in texts.values())
    assert result.passages == len(holding(atlas, documents, query))
    assert result.documents == len({id_ for id_, *_ in expected})
    for line in result.lines:
        text = texts[line.document_id]
        begin, end = line.start - len(line.left), line.end + len(line.right)
        assert text[line.start : line.end] == line.hit
        assert text[begin:end] == line.left + line.hit + line.right
        before = [span for span in words_in(text) if span[1] <= line.start][-3:]
        after = [span for span in words_in(text) if span[0] >= line.end][:3]
        assert begin == (before[0][0] if before else line.start)
        assert end == (after[-1][1] if after else line.end)
        # a heading stands between passages; the one after it shows it
        opened = [p for p in atlas.passages(line.document_id) if p.start <= line.start < p.end]
        whole = [p.id for p in opened if line.end <= p.end]
        assert not opened or line.passage_id in (whole or [p.id for p in opened])


def year_of(document: Document) -> str | None:
    return YEARS.get(str(document.metadata.get("date", "")))


def papers(document: Document) -> list[str]:
    value = document.metadata["paper"]
    return [p.title() for p in (value if isinstance(value, tuple) else [str(value)])]


def assert_cell(atlas: Atlas, of: list[Document], query: object, cell: Cell) -> None:
    """The cell says of these documents what a scan does."""
    hits = scanned(of, query)
    count = sum(len(words_in(d.text)) for d in of)
    assert (cell.hits, cell.words) == (len(hits) if count else None, count)
    assert cell.per_million == (len(hits) * 1e6 / count if count else None)
    assert (cell.documents, cell.of_documents) == (len({id_ for id_, *_ in hits}), len(of))
    assert cell.of_passages == sum(len(atlas.passages(d.id)) for d in of)


def group_of(document: Document, by: str) -> Sequence[str | None]:
    """The values under which a document is counted."""
    if by == "corpus":
        return [document.corpus]
    if by == "paper":
        return papers(document)
    if by == "all":
        return ["all"]
    year = year_of(document)
    if by == "decade" and not year:  # `c. 1905` is some year of 1900 to 1910
        return [None]
    return [f"{year[:3]}0s" if by == "decade" and year else year]


def assert_trend(
    atlas: Atlas, documents: list[Document], query: object, by: str, *, by_corpus: bool
) -> None:
    """Every cell of a trend says of its documents what a scan does, and opens its hits."""
    trend = atlas.trends(typed(query), by=by, by_corpus=by_corpus)
    held = holding(atlas, documents, query)
    for cell in trend.cells:
        of = [
            d
            for d in documents
            if cell.value in group_of(d, by) and cell.corpus in (None, d.corpus)
        ]
        assert_cell(atlas, of, query, cell)
        assert cell.passages == len({p.id for d in of for p in atlas.passages(d.id)} & held)
        point = Point(by=by, value=cell.value, corpus=cell.corpus)
        assert (
            spans_of(atlas.concordance(typed(query), limit=1000, point=point))
            == (scanned(of, query)[:1000])
        )
    assert_cell(atlas, documents, query, trend.total)


@pytest.mark.parametrize("query", QUERIES, ids=typed)
def test_a_query_is_hit_and_counted_as_in_a_plain_scan(
    atlas: Atlas, documents: list[Document], query: object
) -> None:
    assert_lines(atlas, documents, query)
    assert_trend(atlas, documents, query, "year", by_corpus=False)


@pytest.mark.parametrize(
    ("by", "by_corpus", "values"),
    [
        ("year", True, [*map(str, range(1901, 1912)), None]),
        ("decade", False, ["1900s", "1910s", None]),
        ("corpus", False, ["mill", "port"]),
        ("paper", False, ["Echo", "Globe"]),
        ("all", False, ["all"]),
    ],
)
def test_hits_are_counted_by_years_decades_corpora_and_fields(
    atlas: Atlas, documents: list[Document], by: str, values: list[str | None], *, by_corpus: bool
) -> None:
    cells = atlas.trends("wage*", by=by, by_corpus=by_corpus).cells
    assert {cell.value for cell in cells} == set(values)
    assert len(cells) == len(values) * (2 if by_corpus else 1)
    assert_trend(atlas, documents, ["wage*"], by, by_corpus=by_corpus)
    # a year without a text is a gap
    gaps = [cell for cell in cells if cell.value == "1902"]
    assert {(cell.words, cell.hits, cell.per_million) for cell in gaps} <= {(0, None, None)}


PATTERNS = [*WORDS, "strike*", "*age*", "?ay", "none"]


def random_query(chance: random.Random, depth: int = 2) -> object:
    """A phrase, or two queries that are near each other or of which either is wanted."""
    if depth and chance.random() < 0.5:
        parts = [random_query(chance, depth - 1) for _ in range(2)]
        if chance.random() < 0.5:
            return ("or", *parts)
        return ("near", *parts, chance.choice([1, 3, 30]))
    return chance.choices(PATTERNS, k=chance.choice([1, 1, 2]))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_any_query_of_any_collection_equals_a_scan(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    source = write_sources(tmp_path / "source", files(chance))
    size = chance.choice([60, 120, 400])
    build_tiny(source, tmp_path / "c", HashEmbedder(), size=size, overlap=size // 2)
    with Atlas.open(tmp_path / "c", embedder=HashEmbedder()) as atlas:
        documents = [atlas.document(id_) for id_ in document_ids(tmp_path / "c")]
        for _ in range(12):
            query = random_query(chance)
            assert_lines(atlas, documents, query)
            by = chance.choice(["year", "corpus", "paper"])
            assert_trend(atlas, documents, query, by, by_corpus=False)


@pytest.mark.parametrize("by", ["year", "decade", "paper"])
def test_the_filters_of_a_cell_find_its_documents(atlas: Atlas, by: str) -> None:
    for cell in atlas.trends("strike*", by=by).cells:
        if cell.filters is None:
            assert cell.value is None
            continue
        again = atlas.counts("strike*", filters=cell.filters).total
        assert (again.hits or 0, again.words) == (cell.hits or 0, cell.words)
        assert (again.documents, again.of_documents) == (cell.documents, cell.of_documents)


@settings(max_examples=40)
@given(
    st.sampled_from(QUERIES),
    st.sampled_from(["mill", "port", "all"]),
    st.sampled_from([{}, {"date": {"from": "1902"}}, {"paper": "Echo"}]),
    st.sampled_from(["", "the", "wage of", "dispute"]),
    st.sampled_from(["", "pay", "ship"]),
)
def test_hits_are_those_of_the_passages_that_a_search_would_look_through(
    atlas: Atlas,
    documents: list[Document],
    query: object,
    corpora: str,
    filters: dict[str, Any],
    require: str,
    exclude: str,
) -> None:
    where = where_of(corpora, filters, require, exclude)
    scope = scope_of(atlas, documents, where)
    spans = [
        (d.id, *span)
        for d, counts in scope.documents
        for span in characters(query, d.text)
        if counts(span)
    ]
    total = atlas.counts(typed(query), **where).total
    words_counted = sum(sum(map(counts, words_in(d.text))) for d, counts in scope.documents)
    assert (total.hits or 0, total.words) == (len(spans), words_counted)
    assert total.of_passages == len(scope.passages)
    lines = atlas.concordance(typed(query), limit=1000, **where)
    assert spans_of(lines) == spans
    held = holding(atlas, [d for d, _ in scope.documents], query) & {p.id for p in scope.passages}
    assert total.passages == lines.passages == len(held)
    if require or exclude:
        assert {line.passage_id for line in lines.lines} <= held


@pytest.mark.parametrize("sort", ["left", "right", "hit"])
def test_lines_are_sorted_by_their_context(atlas: Atlas, sort: Any) -> None:
    lines = atlas.concordance("strike*", limit=1000, context=5, sort=sort).lines
    sides = [re.findall(r"\w+", getattr(line, sort).lower()) for line in lines]
    keys = [side[::-1] if sort == "left" else side for side in sides]
    assert keys == sorted(keys)
    assert len(keys) > 50


def test_lines_are_sorted_by_date_and_corpus(atlas: Atlas) -> None:
    dates = [line.date for line in atlas.concordance("strike", limit=1000, sort="date").lines]
    assert dates[0] in ("1901", "1901-05-17", "1901/1911", "c. 1905")
    assert dates[-1] is None
    corpora = [line.corpus for line in atlas.concordance("strike", limit=1000, sort="corpus").lines]
    assert corpora == sorted(corpora)
    assert atlas.concordance("strike", limit=1, sort="-date").lines[0].date == "1911"


def test_pages_make_the_whole(atlas: Atlas) -> None:
    whole = atlas.concordance("the", limit=1000, sort="left").lines
    pages = [
        line
        for offset in range(0, len(whole), 50)
        for line in atlas.concordance("the", limit=50, offset=offset, sort="left").lines
    ]
    assert pages == whole
    assert atlas.concordance("the", offset=10**6).lines == []


def test_a_sample_is_repeatable_and_says_how_many_there_are(atlas: Atlas) -> None:
    some = atlas.concordance("the", sample=10, seed=1)
    assert (len(some.lines), some.listed) == (10, 10)
    assert some.hits == atlas.concordance("the").hits
    assert atlas.concordance("the", sample=10, seed=1).lines == some.lines
    assert atlas.concordance("the", sample=10, seed=2).lines != some.lines
    assert set(some.lines) < set(atlas.concordance("the", sample=20, seed=1).lines)


def test_results_are_rows_and_data_frames(atlas: Atlas) -> None:
    lines = atlas.concordance("strike*", limit=5).to_frame()
    assert list(lines.columns)[:3] == ["corpus", "document_id", "passage_id"]
    assert len(lines) == 5
    assert list(atlas.trends("strike*").to_frame()["year"])[:2] == ["1901", "1902"]
    counts = atlas.counts("wage*", by="corpus")
    # a field may have the name of a column
    for by, names in (("corpus", ["corpus", "hits"]), ("words", ["value"])):
        for row, cell in zip(
            counts.model_copy(update={"by": by}).rows(), counts.cells, strict=True
        ):
            assert list(row)[: len(names)] == names
            assert (row[names[0]], row["words"]) == (cell.value, cell.words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 1001}, "limit=1001: give 1000 or less"),
        ({"sort": "up"}, "sort='up': give 'document', 'left'"),
        ({"corpora": "moon"}, "Unknown corpus 'moon'"),
        ({"form": "lemma"}, "form='lemma': give 'surface' or 'stem'"),
        ({"form": "stem", "case_sensitive": True}, "case_sensitive compares words"),
        ({"filters": {"moon": "full"}}, "Unknown field 'moon'"),
        ({"require": ["..."]}, "require: '...' holds no word"),
        ({"point": Point(by="moon", value="full")}, "by='moon': give all, year"),
        ({"point": Point(by="year", value="1901", corpus="moon")}, "Unknown corpus 'moon'"),
    ],
)
def test_a_request_that_cannot_be_served_is_refused(
    atlas: Atlas, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(RequestError) as refused:
        atlas.concordance("strike", **arguments)
    assert message in str(refused.value)


def test_a_part_of_the_corpora_is_counted_as_if_there_were_no_other(atlas: Atlas) -> None:
    own = atlas.permitted({"port"})

    def plain(counts: WordCounts) -> dict[str, object]:
        return counts.to_dict() | {"trace_id": ""}

    for by in ("year", "decade", "paper", "all"):
        whole = atlas.trends("strike*", by=by, corpora="port")
        assert plain(own.trends("strike*", by=by)) == plain(whole)
    lines = own.concordance("strike*", limit=1000)
    assert lines.lines == atlas.concordance("strike*", limit=1000, corpora="port").lines
    assert lines.per_corpus == {"port": lines.hits}
    assert [cell.value for cell in own.trends("a", by="corpus").cells] == ["port"]


SCOPES: list[dict[str, Any]] = [
    {},
    {"corpora": "mill"},
    {"corpora": ["mill", "port"], "filters": {"date": {"from": "1902"}}},
    {"filters": {"paper": "globe"}},
    {"corpora": "port", "filters": {"paper": ["Echo", "echo"], "date": {"to": "1903"}}},
    {"filters": {"paper": "nowhere"}},
]


def meets(document: Document, field: str, condition: Any) -> bool:
    """Whether a document meets a filter, read plainly."""
    value = document.metadata.get(field)
    if field == "date":
        days = bounds(str(value)) if value else None
        low, high = condition.get("from", "0000"), condition.get("to", "9")
        return bool(days and days[1] >= low and days[0][:4] <= high)
    values = value if isinstance(value, tuple) else (value,)
    chosen = [condition] if isinstance(condition, str) else condition
    return bool({str(v).casefold() for v in values} & {c.casefold() for c in chosen})


def left(documents: list[Document], scope: dict[str, Any], but: str = "") -> list[Document]:
    corpora = scope.get("corpora", "all")
    filters = {f: condition for f, condition in scope.get("filters", {}).items() if f != but}
    return [
        document
        for document in documents
        if corpora == "all" or document.corpus in corpora
        if all(meets(document, field, condition) for field, condition in filters.items())
    ]


@pytest.mark.parametrize("scope", SCOPES)
def test_facets_of_a_scope_are_those_of_a_plain_scan(
    atlas: Atlas, documents: list[Document], scope: dict[str, Any]
) -> None:
    facets = atlas.facets(["paper"], **scope)
    assert facets.documents == len(left(documents, scope))
    assert facets.passages == sum(len(atlas.passages(d.id)) for d in left(documents, scope))
    expected: Counter[str] = Counter()
    for document in left(documents, scope, but="paper"):
        expected.update(set(papers(document)))
    counted = facets.fields["paper"]
    assert {v.value.title(): v.documents for v in counted.values} == expected
    assert counted.left_out == 0
    dates = [document.metadata.get("date") for document in left(documents, scope, but="date")]
    days = [bounds(str(date)) for date in dates if date]
    years = Counter(int(d[0][:4]) for d in days if d and d[0][:4] == d[1][:4])
    assert [(y.year, y.documents) for y in facets.dates.years] == sorted(years.items())
    assert facets.dates.undated == len(dates) - len(days)
    assert facets.dates.several_years == len(days) - sum(years.values())


def test_phrases_narrow_a_scope_without_exception(atlas: Atlas, documents: list[Document]) -> None:
    facets = atlas.facets(False, require=["shipyard dispute"])
    held = [
        passage
        for document in documents
        for passage in atlas.passages(document.id)
        if "shipyard dispute" in " ".join(re.findall(r"\w+", passage.text.lower()))
    ]
    assert facets.passages == len(held) > 0
    assert facets.documents == len({passage.document_id for passage in held})
    assert facets.fields == {}
    without = atlas.facets(False, exclude=["shipyard dispute"])
    assert facets.passages + without.passages == atlas.facets(False).passages


def test_a_scope_that_cannot_be_counted_is_refused(atlas: Atlas) -> None:
    with pytest.raises(UnknownFilterField, match="nothing"):
        atlas.facets(["nothing"])
    with pytest.raises(RequestError, match="empty list"):
        atlas.facets(corpora=[])
    with pytest.raises(RequestError, match="holds no word"):
        atlas.facets(require=["…"])


@pytest.fixture(scope="module")
def demo_documents() -> list[Document]:
    return sample_documents()


@pytest.mark.parametrize("word", ["libel", "the", "constitution", "court's", "nobody-says-this"])
def test_a_word_of_the_demo_is_hit_wherever_a_regular_expression_finds_it(
    services: Services, demo_documents: list[Document], word: str
) -> None:
    letters = re.escape(word).replace("'", "['’]")
    pattern = re.compile(rf"(?<!\w)(?<!\w['’]){letters}(?!\w)(?!['’]\w)", re.IGNORECASE)
    result = Atlas(services).concordance(word, limit=1000)
    expected = [(d.id, *m.span()) for d in demo_documents for m in pattern.finditer(d.text)]
    assert result.hits == len(expected) == sum(result.per_corpus.values())
    assert spans_of(result) == expected[:1000]


def year_stated(document: Document) -> str | None:
    days = bounds(str(document.metadata.get("date", "")))
    return days[0][:4] if days and days[0][:4] == days[1][:4] else None


@pytest.mark.parametrize(
    "phrase", ["right to silence", "supreme court", "consti*", "*ness", "the * of the", "wom?n"]
)
def test_trends_of_the_demo_equal_a_scan(
    services: Services, demo_documents: list[Document], phrase: str
) -> None:
    pattern = phrase.split()
    expected: Counter[str | None] = Counter()
    count = 0
    for document in demo_documents:
        folded = [word.folded for word in words(document.text)]
        count += len(folded)
        expected[year_stated(document)] += sum(
            all(map(fnmatchcase, folded[at:], pattern))
            for at in range(len(folded) - len(pattern) + 1)
        )
    trend = Atlas(services).trends(f'"{phrase}"')
    with_text = [cell for cell in trend.cells if cell.hits is not None]
    assert {cell.value: cell.hits for cell in with_text} == expected
    assert (trend.total.hits, trend.total.words) == (expected.total(), count)
    assert sum(cell.words for cell in with_text) == count
    known = [int(cell.value) for cell in trend.cells if cell.value]
    assert known == list(range(known[0], known[-1] + 1))
