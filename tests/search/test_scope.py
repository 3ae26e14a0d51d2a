"""The extent of a search in every result: counts, dates, conditions, gaps."""

from collections.abc import Iterator
from typing import Any

import pytest

from atlas_search import Atlas
from atlas_search.search.scope import ScopeOut, ShortLeg
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.store import LegHits
from tests.finding import aimed, find, searching

FILES = {
    "harbour/lamp.md": "---\ndate: 1901-03-29\nkeeper: Ada Holt\n---\nThe lamp of the harbour.",
    "harbour/fog.md": "---\ndate: 1954\nkeeper: Ben Rook\n---\nFog hides the harbour.",
    "harbour/bell.md": "---\nkeeper: Ben Rook\n---\nThe bell rings in fog.",
    "mill/wheel.md": "---\ndate: 2019-07-04\n---\nThe wheel of the mill turns.",
    "mill/flour.txt": "Flour is ground in the mill.",
    "inn/beds.txt": "The inn has four beds, and none in winter.",
}
EVERY = "Searched 3 corpora (Harbour, Inn, Mill): "
ALL_DATES = "1901-03-29 to 2019-07-04 (3 undated)"


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with searching(tmp_path_factory.mktemp("scope"), FILES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "where", "narrowed", "sentence"),
    [
        ("fog", {}, False, f"{EVERY}6 documents, 6 passages, {ALL_DATES}."),
        (
            "fog",
            {"corpora": "harbour"},
            True,
            "Searched 1 of 3 corpora (Harbour): 3 documents, 3 passages, "
            "1901-03-29 to 1954-12-31 (1 undated).",
        ),
        (
            "beds",
            {"corpora": "inn"},
            True,
            "Searched 1 of 3 corpora (Inn): 1 document, 1 passage, undated.",
        ),
        (
            "fog",
            {"filters": {"keeper": "Ben Rook"}},
            True,
            f"{EVERY}2 of 6 documents, 2 of 6 passages, 1954 (1 undated); "
            "filters: keeper = “Ben Rook”.",
        ),
        (
            "fog",
            {
                "filters": {"date": {"from": "1950", "to": "2000-06"}},
                "corpora": ["mill", "harbour"],
            },
            True,
            "Searched 2 of 3 corpora (Mill, Harbour): 1 of 5 documents, 1 of 5 passages, 1954; "
            "filters: date from 1950 to 2000-06-30.",
        ),
        (
            "fog",
            {"filters": {"keeper": ["Nobody", "No One"], "date": {"to": 1800}}},
            True,
            f"{EVERY}0 of 6 documents, 0 of 6 passages; "
            "filters: keeper = “Nobody” or “No One”, date to 1800.",
        ),
        (
            "fog",
            {"require": ["the harbour"], "exclude": ["fog hides"], "k": 1},
            True,
            f"{EVERY}1 of 6 documents, 1 of 6 passages, 1901-03-29; "
            "only passages that hold “the harbour”; no passages that hold “fog hides”.",
        ),
        # too few passages hold it
        (
            "fog",
            {"require": ["bell rings"]},
            False,
            f"{EVERY}6 documents, 6 passages, {ALL_DATES}; also passages without “bell rings”.",
        ),
        (
            "fog blockchian",
            {},
            False,
            f"{EVERY}6 documents, 6 passages, {ALL_DATES}; no source holds “blockchian”.",
        ),
        (
            "fog blockchian",
            {"corpora": "mill"},
            True,
            "Searched 1 of 3 corpora (Mill): 2 documents, 2 passages, 2019-07-04 (1 undated); "
            "no source of this corpus holds “fog” or “blockchian”.",
        ),
    ],
)
def test_a_sentence_tells_what_was_searched(
    atlas: Atlas, question: str, where: dict[str, Any], sentence: str, *, narrowed: bool
) -> None:
    scope = find(atlas, question, **where).scope
    assert scope.sentence == sentence
    assert scope.narrowed is narrowed


def test_a_scope_has_its_counts_and_conditions_as_values(atlas: Atlas) -> None:
    result = find(
        atlas,
        "fog blockchian",
        filters={"keeper": "Ben Rook", "date": {"from": "1950", "to": "2000-06"}},
        require=["the harbour", "bell"],
        exclude=["lamp"],
    )
    scope = result.to_dict()["scope"]
    assert ScopeOut.model_validate(scope).model_dump(mode="json") == scope
    assert [
        (c["id"], c["label"], c["documents"], c["all_documents"]) for c in scope["corpora"]
    ] == [("harbour", "Harbour", 1, 3), ("inn", "Inn", 0, 1), ("mill", "Mill", 0, 2)]
    assert (scope["passages"], scope["all_passages"], scope["all_corpora"]) == (1, 6, 3)
    assert scope["filters"] == {
        "keeper": ["Ben Rook"],
        "date": {"from": "1950", "to": "2000-06-30"},
    }
    assert (scope["required"], scope["unmet"]) == ([], ["the harbour", "bell"])
    assert (scope["excluded"], scope["unknown_words"]) == (["lamp"], ["blockchian"])


@pytest.mark.parametrize(
    ("filters", "leg", "count", "reason", "warning"),
    [
        ({"keeper": "Ben Rook"}, "dense", 2, "narrowed", "what was asked for leaves no more"),
        ({}, "dense", 3, "corpus", "it holds no more"),
        # this filter leaves the corpus whole
        ({"keeper": ["Ben Rook", "Ada Holt"]}, "dense", 3, "corpus", "it holds no more"),
        ({}, "lexical", 1, "words", ""),
    ],
)
def test_a_leg_that_fell_short_has_a_reason(
    atlas: Atlas, filters: dict[str, Any], leg: Any, count: int, reason: Any, warning: str
) -> None:
    result = find(atlas, "bell", filters=filters)
    assert ShortLeg("harbour", leg, count, 200, reason) in result.scope.short_legs
    if warning:
        line = f"harbour: {count} of 200 candidates asked for; {warning}."
        assert line in result.warnings
        assert line in result.notes


def test_candidates_that_the_index_missed_are_told(
    atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = EmbeddedStore.nearest

    def first(*arguments: Any) -> LegHits:
        return LegHits(*(side[:1] for side in whole(*arguments)))

    monkeypatch.setattr(EmbeddedStore, "nearest", first)
    scope = find(atlas, "fog").scope
    legs = {leg.corpus: leg for leg in scope.short_legs if leg.leg == "dense"}
    assert legs["harbour"] == ShortLeg("harbour", "dense", 1, 200, "index")
    assert legs["inn"].reason == "corpus"
    assert "; the index found 1 of 200 candidates of Harbour" in scope.sentence
    assert "Inn;" not in scope.sentence


def test_corpora_that_are_compared_are_counted_together(atlas: Atlas) -> None:
    question = "fog wheel blockchian"
    whole = find(atlas, question).to_dict()["scope"]
    compared = aimed(atlas).compare(question, target="test", k=1, require=["the mill"]).to_dict()
    scope = compared["scope"]
    assert (scope["documents"], scope["passages"], scope["dates"]) == (6, 6, whole["dates"])
    # the mill has it; the others were searched without
    assert (scope["required"], scope["unmet"]) == ([], ["the mill"])
    assert scope["unknown_words"] == ["blockchian"]
    assert {leg["corpus"] for leg in scope["short_legs"]} == {"harbour", "inn", "mill"}


def test_dates_that_are_open_at_an_end_count_with_the_other(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = {
        "a/one.md": "---\ndate: before 1901\n---\nOne lamp.",
        "a/two.md": "---\ndate: 1950\n---\nTwo lamps.",
        "b/three.md": "---\ndate: since 1980\n---\nThree lamps.",
        "c/four.md": "---\ndate: some day\n---\nFour lamps.",
    }
    with searching(tmp_path_factory.mktemp("open"), files) as opened:
        scope = find(opened, "lamp").scope
        assert scope.sentence == (
            "Searched 3 corpora (A, B, C): 4 documents, 4 passages, "
            "1900-12-31 or earlier to 1980-01-01 or later (1 undated)."
        )
        one = find(opened, "lamp", corpora="b")
        assert one.scope.sentence.endswith("1 passage, 1980-01-01 or later.")
        assert one.to_dict()["scope"]["dates"] == {
            "first": "1980-01-01",
            "last": "1980-01-01",
            "or_earlier": False,
            "or_later": True,
            "undated": 0,
        }


def test_of_many_corpora_and_values_the_first_are_named(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    files = {f"c{n}/one.txt": f"Lamp number {n}." for n in range(7)}
    documents = [f"c{n}.one" for n in range(7)]
    with searching(tmp_path_factory.mktemp("many"), files) as opened:
        assert find(opened, "lamp", filters={"document_id": documents}).scope.sentence == (
            "Searched 7 corpora (C0, C1, C2, C3, C4 and 2 more): 7 documents, 7 passages, undated; "
            "filters: document_id = “c0.one” or “c1.one” or “c2.one” or “c3.one” or “c4.one” "
            "or 2 more."
        )
