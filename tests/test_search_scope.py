"""What a search looked through is said of every result: counts, dates, conditions, gaps."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from atlas_search.answer.compare import search_each, together
from atlas_search.documents.search import ScopeOut
from atlas_search.search.request import conditions
from atlas_search.search.result import WholeResult
from atlas_search.search.run import Searcher
from atlas_search.search.scope import ShortLeg
from atlas_search.search.summary import extent_of
from atlas_search.stores.store import LegHits
from tests.finding import find, search_of, searching

FILES = {
    "harbour/lamp.md": "---\ndate: 1901-03-29\nkeeper: Ada Holt\n---\nThe lamp of the harbour.",
    "harbour/fog.md": "---\ndate: 1954\nkeeper: Ben Rook\n---\nFog hides the harbour.",
    "harbour/bell.md": "---\nkeeper: Ben Rook\n---\nThe bell rings in fog.",
    "mill/wheel.md": "---\ndate: 2019-07-04\n---\nThe wheel of the mill turns.",
    "mill/flour.txt": "Flour is ground in the mill.",
    "inn/beds.txt": "The inn has four beds, and none in winter.",
}


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with searching(tmp_path_factory.mktemp("scope"), FILES) as opened:
        yield opened


def in_corpora(searcher: Searcher, *corpora: str, question: str = "fog") -> WholeResult:
    return find(searcher, question, corpora=corpora, every_corpus=False)


def filtered(searcher: Searcher, question: str = "fog", **filters: object) -> WholeResult:
    asked = conditions(filters, {"keeper", "date"})  # type: ignore[arg-type]
    return find(searcher, question, filters=asked)


def test_a_search_of_everything_says_all_that_there_is(searcher: Searcher) -> None:
    scope = find(searcher, "fog").scope
    assert [(c.id, c.label, c.documents, c.passages) for c in scope.corpora] == [
        ("harbour", "Harbour", 3, 3),
        ("inn", "Inn", 1, 1),
        ("mill", "Mill", 2, 2),
    ]
    assert (scope.documents, scope.passages, scope.narrowed) == (6, 6, False)
    assert scope.sentence == (
        "Searched 3 corpora (Harbour, Inn, Mill): 6 documents, 6 passages, "
        "1901-03-29 to 2019-07-04 (3 undated)."
    )


def test_a_chosen_corpus_is_told_from_the_whole(searcher: Searcher) -> None:
    found = in_corpora(searcher, "harbour")
    assert found.scope.narrowed
    assert found.scope.sentence == (
        "Searched 1 of 3 corpora (Harbour): 3 documents, 3 passages, "
        "1901-03-29 to 1954-12-31 (1 undated)."
    )
    assert in_corpora(searcher, "inn", question="beds").scope.sentence == (
        "Searched 1 of 3 corpora (Inn): 1 document, 1 passage, undated."
    )


def test_within_a_filter_only_what_it_allows_was_searched(searcher: Searcher) -> None:
    scope = filtered(searcher, keeper="Ben Rook").scope
    assert scope.narrowed
    assert [(c.documents, c.all_documents) for c in scope.corpora] == [(2, 3), (0, 1), (0, 2)]
    assert scope.sentence == (
        "Searched 3 corpora (Harbour, Inn, Mill): 2 of 6 documents, 2 of 6 passages, "
        "1954 (1 undated); filters: keeper = “Ben Rook”."
    )
    told = ScopeOut.model_validate(scope.to_dict()).model_dump(mode="json")
    assert told == scope.to_dict()
    assert told["filters"] == {"keeper": ["Ben Rook"]}


def test_a_filter_and_a_corpus_are_both_told(searcher: Searcher) -> None:
    asked = conditions({"date": {"from": "1950", "to": "2000-06"}}, {"date"})
    found = find(searcher, "fog", filters=asked, corpora=("mill", "harbour"), every_corpus=False)
    assert found.scope.sentence == (
        "Searched 2 of 3 corpora (Mill, Harbour): 1 of 5 documents, 1 of 5 passages, 1954; "
        "filters: date from 1950 to 2000-06-30."
    )
    assert found.scope.to_dict()["filters"] == {"date": {"from": "1950", "to": "2000-06-30"}}


def test_a_filter_that_nothing_meets_says_that_nothing_was_searched(searcher: Searcher) -> None:
    found = filtered(searcher, keeper=["Nobody", "No One"], date={"to": 1800})
    assert found.passages == ()
    assert found.scope.sentence == (
        "Searched 3 corpora (Harbour, Inn, Mill): 0 of 6 documents, 0 of 6 passages; "
        "filters: keeper = “Nobody” or “No One”, date to 1800."
    )


def test_phrases_that_narrow_a_search_are_told(searcher: Searcher) -> None:
    found = find(searcher, "fog", require=("the harbour",), exclude=("fog hides",), limit=1)
    scope = found.scope
    assert (scope.required, scope.unmet, scope.excluded) == (("the harbour",), (), ("fog hides",))
    assert scope.sentence == (
        "Searched 3 corpora (Harbour, Inn, Mill): 1 of 6 documents, 1 of 6 passages, 1901-03-29; "
        "only passages that hold “the harbour”; no passages that hold “fog hides”."
    )


def test_a_required_phrase_that_too_few_hold_narrows_nothing(searcher: Searcher) -> None:
    found = find(searcher, "fog", require=("bell rings",))
    assert found.required_unmet is not None
    assert (found.scope.required, found.scope.unmet) == ((), ("bell rings",))
    assert not found.scope.narrowed
    assert found.scope.sentence.endswith("(3 undated); also passages without “bell rings”.")


def test_a_word_that_is_nowhere_is_told_with_where_it_is_not(searcher: Searcher) -> None:
    everywhere = find(searcher, "fog blockchian")
    assert everywhere.scope.unknown_words == ("blockchian",)
    assert everywhere.scope.sentence.endswith("; no source holds “blockchian”.")
    one = in_corpora(searcher, "mill", question="fog blockchian")
    assert one.scope.unknown_words == tuple(word.word for word in one.unknown_words)
    assert one.scope.sentence.endswith("; no source of this corpus holds “fog” or “blockchian”.")


def test_legs_that_fell_short_agree_with_the_warnings(searcher: Searcher) -> None:
    found = filtered(searcher, keeper="Ben Rook")
    legs = {(leg.corpus, leg.leg): leg for leg in found.scope.short_legs}
    assert legs["harbour", "dense"] == ShortLeg("harbour", "dense", 2, 200, "narrowed")
    assert legs["inn", "dense"] == ShortLeg("inn", "dense", 0, 200, "narrowed")
    said = "harbour: 2 of 200 candidates asked for; what was asked for leaves no more."
    assert said in found.warnings
    assert said in found.notes
    legs = {(leg.corpus, leg.leg): leg for leg in find(searcher, "bell").scope.short_legs}
    assert legs["harbour", "dense"].reason == "corpus"
    assert legs["harbour", "lexical"] == ShortLeg("harbour", "lexical", 1, 200, "words")


def test_candidates_that_the_index_missed_are_told(searcher: Searcher) -> None:
    run = search_of(searcher, "fog")
    every = find(searcher, "fog").candidates.hits
    missed = [replace(h, dense=LegHits(*(side[:1] for side in h.dense))) for h in every]
    scope = extent_of(run, missed)
    legs = {leg.corpus: leg for leg in scope.short_legs if leg.leg == "dense"}
    assert legs["harbour"] == ShortLeg("harbour", "dense", 1, 200, "index")
    assert legs["inn"].reason == "corpus"
    assert "; the index found 1 of 200 candidates of Harbour" in scope.sentence
    assert "Inn;" not in scope.sentence


def test_a_filter_that_leaves_a_corpus_whole_is_not_why_it_gave_no_more(
    searcher: Searcher,
) -> None:
    found = filtered(searcher, keeper=["Ben Rook", "Ada Holt"])
    assert "harbour: 3 of 200 candidates asked for; it holds no more." in found.warnings


def test_corpora_that_are_compared_are_counted_together(searcher: Searcher) -> None:
    run = search_of(searcher, "fog wheel blockchian", limit=1, require=("the mill",))
    whole = find(searcher, "fog wheel blockchian").scope
    scope = together(search_each(run), run.request).scope
    assert (scope.documents, scope.passages) == (whole.documents, whole.passages) == (6, 6)
    assert scope.dates == whole.dates
    # the mill has it; the others were searched without
    assert (scope.required, scope.unmet) == ((), ("the mill",))
    assert scope.unknown_words == ("blockchian",)
    assert {leg.corpus for leg in scope.short_legs} == {"harbour", "inn", "mill"}


def test_dates_that_are_open_at_an_end_count_with_the_other(tmp_path_factory) -> None:
    files = {
        "a/one.md": "---\ndate: before 1901\n---\nOne lamp.",
        "a/two.md": "---\ndate: 1950\n---\nTwo lamps.",
        "b/three.md": "---\ndate: since 1980\n---\nThree lamps.",
        "c/four.md": "---\ndate: some day\n---\nFour lamps.",
    }
    with searching(tmp_path_factory.mktemp("open"), files) as opened:
        dates = find(opened, "lamp").scope.dates
        assert (dates.first, dates.last, dates.undated) == ("1900-12-31", "1980-01-01", 1)
        assert (dates.or_earlier, dates.or_later) == (True, True)
        assert find(opened, "lamp").scope.sentence == (
            "Searched 3 corpora (A, B, C): 4 documents, 4 passages, "
            "1900-12-31 or earlier to 1980-01-01 or later (1 undated)."
        )
        one = in_corpora(opened, "b", question="lamp").scope
        assert one.sentence.endswith("1 passage, 1980-01-01 or later.")
        assert one.to_dict()["dates"] == {
            "first": "1980-01-01",
            "last": "1980-01-01",
            "or_earlier": False,
            "or_later": True,
            "undated": 0,
        }


def test_of_many_corpora_and_values_the_first_are_named(tmp_path_factory) -> None:
    files = {f"c{n}/one.txt": f"Lamp number {n}." for n in range(7)}
    with searching(tmp_path_factory.mktemp("many"), files) as opened:
        asked = conditions({"document_id": [f"c{n}.one" for n in range(7)]}, ())
        assert find(opened, "lamp", filters=asked).scope.sentence == (
            "Searched 7 corpora (C0, C1, C2, C3, C4 and 2 more): 7 documents, 7 passages, undated; "
            "filters: document_id = “c0.one” or “c1.one” or “c2.one” or “c3.one” or “c4.one” "
            "or 2 more."
        )
