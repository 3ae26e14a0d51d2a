"""Concordances and counts of a built collection equal a plain scan of its documents."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.core.errors import RequestError
from atlas_search.words.request import Point
from atlas_search.words.results import Cell, WordCounts
from tests.words.looked import looked_through, where_of
from tests.words.scan import characters, typed, words_in

YEARS = {"1901": 1901, "1901-05-17": 1901, "1903": 1903, "1903-12": 1903, "1911": 1911}
QUERIES = [["strike*"], ["wage"], ["the", "*", "of"], ["general", "strike"], ["*ship*"], ["none"]]
ASKED = [
    *QUERIES,
    ("near", ["strike*"], ["wage*"], 5),
    ("or", ["pay"], ["general", "strike*"]),
]


def scanned(documents: list[Document], query: object) -> list[tuple[str, int, int]]:
    return [(d.id, *span) for d in documents for span in characters(query, d.text)]


@pytest.mark.parametrize("query", ASKED, ids=typed)
def test_a_concordance_has_every_hit_of_a_plain_scan(
    atlas: Atlas, documents: list[Document], query: object
) -> None:
    texts = {d.id: d.text for d in documents}
    found = atlas.concordance(typed(query), limit=1000, context=3)
    assert [(h.document_id, h.start, h.end) for h in found.lines] == scanned(documents, query)
    assert found.hits == found.listed == len(found.lines)
    assert found.words == sum(len(words_in(text)) for text in texts.values())
    for line in found.lines:
        text = texts[line.document_id]
        assert text[line.start : line.end] == line.hit
        begin, end = line.start - len(line.left), line.end + len(line.right)
        assert text[begin:end] == line.left + line.hit + line.right
        before = [span for span in words_in(text) if span[1] <= line.start][-3:]
        after = [span for span in words_in(text) if span[0] >= line.end][:3]
        assert (begin, end) == (
            before[0][0] if before else line.start,
            after[-1][1] if after else line.end,
        )
        shown = atlas.passage(line.passage_id)
        assert shown.document_id == line.document_id
        assert shown.start <= line.start < shown.end
    holding = {
        p.id
        for d in documents
        for p in atlas.passages(d.id)
        if any(p.start <= a and b <= p.end for a, b in characters(query, d.text))
    }
    assert (found.passages, found.documents) == (
        len(holding),
        len({line.document_id for line in found.lines}),
    )


def year_of(document: Document) -> str | None:
    year = YEARS.get(str(document.metadata.get("date", "")))
    return str(year) if year else None


def papers(document: Document) -> list[str]:
    said = document.metadata["paper"]
    return [
        "Echo" if p in ("Echo", "echo") else p
        for p in (said if isinstance(said, tuple) else [said])
    ]


def assert_cells(atlas: Atlas, of: list[Document], query: object, cell: Cell) -> None:
    """The cell says of these documents what a scan does, and opens its hits."""
    hits = scanned(of, query)
    words = sum(len(words_in(d.text)) for d in of)
    assert (cell.hits, cell.words) == (len(hits) if words else None, words)
    assert cell.per_million == (len(hits) * 1e6 / words if words else None)
    assert (cell.documents, cell.of_documents) == (len({id_ for id_, *_ in hits}), len(of))
    assert cell.of_passages == sum(len(atlas.passages(d.id)) for d in of)


@pytest.mark.parametrize("query", ASKED, ids=typed)
@pytest.mark.parametrize("by_corpus", [False, True])
def test_a_trend_has_every_year_and_its_hits(
    atlas: Atlas, documents: list[Document], query: object, by_corpus: bool
) -> None:
    found = atlas.trends(typed(query), by_corpus=by_corpus)
    years = [*(str(year) for year in range(1901, 1912)), None]
    corpora = ["mill", "port"] if by_corpus else [None]
    assert [(c.value, c.corpus) for c in found.cells] == list(product(years, corpora))
    for cell in found.cells:
        of = [d for d in documents if year_of(d) == cell.value and cell.corpus in (None, d.corpus)]
        assert_cells(atlas, of, query, cell)
        opened = atlas.concordance(
            typed(query), limit=1000, point=Point(by="year", value=cell.value, corpus=cell.corpus)
        )
        assert [(h.document_id, h.start, h.end) for h in opened.lines] == scanned(of, query)
        assert opened.passages == cell.passages
    assert_cells(atlas, documents, query, found.total)
    gaps = [cell for cell in found.cells if cell.value == "1902"]
    assert {(cell.words, cell.hits, cell.per_million) for cell in gaps} == {(0, None, None)}


def test_decades_corpora_and_fields_are_counted_too(
    atlas: Atlas, documents: list[Document]
) -> None:
    by_decade = atlas.trends("wage*", by="decade")
    assert [cell.value for cell in by_decade.cells] == ["1900s", "1910s", None]
    query = ["wage*"]
    for cell in by_decade.cells[:2]:
        # `c. 1905` is some year of 1900 to 1910
        of = [d for d in documents if (year_of(d) or "").startswith((cell.value or "")[:3])]
        assert_cells(atlas, of, query, cell)
    by_corpus = atlas.counts("wage*", by="corpus")
    assert {c.value for c in by_corpus.cells} == {"mill", "port"}
    for cell in by_corpus.cells:
        assert_cells(atlas, [d for d in documents if d.corpus == cell.value], query, cell)
    by_paper = atlas.counts("wage*", by="paper")
    assert {c.value for c in by_paper.cells} == {"Echo", "Globe"}
    for cell in by_paper.cells:
        assert_cells(atlas, [d for d in documents if cell.value in papers(d)], query, cell)
    (whole,) = atlas.counts("wage*").cells
    assert (whole.hits, whole.documents) == (by_paper.total.hits, by_paper.total.documents)


def test_the_filters_of_a_cell_find_its_documents(atlas: Atlas) -> None:
    for by in ("year", "decade", "paper"):
        for cell in atlas.trends("strike*", by=by).cells:
            if cell.filters is None:
                assert cell.value is None
                continue
            again = atlas.counts("strike*", filters=cell.filters).total
            assert (again.hits or 0, again.words, again.documents, again.of_documents) == (
                cell.hits or 0,
                cell.words,
                cell.documents,
                cell.of_documents,
            )


@settings(max_examples=40)
@given(
    st.sampled_from(ASKED),
    st.sampled_from(["mill", "port", "all"]),
    st.sampled_from([{}, {"date": {"from": "1902"}}, {"paper": "Echo"}]),
    st.sampled_from(["", "the", "wage of", "dispute"]),
    st.sampled_from(["", "pay", "ship"]),
)
def test_counts_are_of_what_a_search_would_look_through(
    atlas: Atlas,
    documents: list[Document],
    query: object,
    corpora: str,
    filters: dict[str, object],
    require: str,
    exclude: str,
) -> None:
    where = where_of(corpora, filters, require, exclude)
    found = atlas.counts(typed(query), **where).total  # type: ignore[arg-type]
    looked = looked_through(atlas, documents, where)
    hits = sum(sum(map(counts, characters(query, d.text))) for d, counts in looked.documents)
    words = sum(sum(map(counts, words_in(d.text))) for d, counts in looked.documents)
    assert (found.hits or 0, found.words, found.of_passages) == (hits, words, looked.passages)


def test_lines_are_sorted_by_their_context(atlas: Atlas) -> None:
    def of(sort: str) -> list[list[str]]:
        lines = atlas.concordance("strike*", limit=1000, context=5, sort=sort).lines  # type: ignore[arg-type]
        side = {"left": "left", "right": "right", "hit": "hit"}[sort]
        found = [getattr(line, side).lower().replace(".", " ").split() for line in lines]
        return [words[::-1] if sort == "left" else words for words in found]

    for sort in ("left", "right", "hit"):
        assert of(sort) == sorted(of(sort))
        assert len(of(sort)) > 50


def test_lines_are_sorted_by_date_and_corpus(atlas: Atlas) -> None:
    lines = atlas.concordance("strike", limit=1000, sort="date").lines
    first = [atlas.services.store.document(line.document_id).metadata.get("date") for line in lines]
    assert first[0] in ("1901", "1901-05-17", "1901/1911", "c. 1905")
    assert first[-1] is None
    corpora = [line.corpus for line in atlas.concordance("strike", limit=1000, sort="corpus").lines]
    assert corpora == sorted(corpora)
    newest = atlas.concordance("strike", limit=1, sort="-date").lines[0]
    assert newest.date == "1911"


def test_pages_make_the_whole(atlas: Atlas) -> None:
    whole = atlas.concordance("the", limit=1000, sort="left").lines
    pages = [
        line
        for offset in range(0, len(whole), 7)
        for line in atlas.concordance("the", limit=7, offset=offset, sort="left").lines
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


@pytest.mark.parametrize(("by", "names"), [("corpus", ["corpus", "hits"]), ("words", ["value"])])
def test_a_row_has_each_name_once(atlas: Atlas, by: str, names: list[str]) -> None:
    counted = atlas.counts("wage*", by="corpus").model_copy(update={"by": by})
    for row, cell in zip(counted.rows(), counted.cells, strict=True):
        assert list(row)[: len(names)] == names
        assert (row[names[0]], row["words"]) == (cell.value, cell.words)


def test_results_are_data_frames(atlas: Atlas) -> None:
    lines = atlas.concordance("strike*", limit=5).to_frame()
    assert list(lines.columns)[:3] == ["corpus", "document_id", "passage_id"]
    assert len(lines) == 5
    cells = atlas.trends("strike*").to_frame()
    assert list(cells["year"])[:2] == ["1901", "1902"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"limit": 1001}, "limit=1001: give a whole number from 0 to 1000"),
        ({"sort": "up"}, "sort='up': give document"),
        ({"corpora": "moon"}, "Unknown corpus 'moon'"),
        ({"form": "lemma"}, "form='lemma': give surface, stem"),
        ({"form": "stem", "case_sensitive": True}, "case_sensitive compares words"),
        ({"filters": {"moon": "full"}}, "Unknown field 'moon'"),
        ({"require": ["..."]}, "require: '...' holds no word"),
        ({"point": Point(by="moon", value="full")}, "by='moon': give all, year"),
        ({"point": Point(by="year", value="1901", corpus="moon")}, "Unknown corpus 'moon'"),
    ],
)
def test_what_cannot_be_asked_is_refused(atlas: Atlas, asked: dict[str, object], said: str) -> None:
    with pytest.raises(RequestError) as refused:
        atlas.concordance("strike", **asked)  # type: ignore[arg-type]
    assert said in str(refused.value)


def test_who_sees_one_corpus_counts_it_as_if_there_were_no_other(atlas: Atlas) -> None:
    own = atlas.permitted({"port"})

    def plain(counts: WordCounts) -> dict[str, object]:
        return counts.to_dict() | {"trace_id": ""}

    for by in ("year", "decade", "paper", "all"):
        asked = atlas.trends("strike*", by=by, corpora="port")
        assert plain(own.trends("strike*", by=by)) == plain(asked)
    lines = own.concordance("strike*", limit=1000)
    assert lines.lines == atlas.concordance("strike*", limit=1000, corpora="port").lines
    assert lines.per_corpus == {"port": lines.hits}
    assert [cell.value for cell in own.trends("a", by="corpus").cells] == ["port"]
