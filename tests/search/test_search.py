"""Searches of the bundled collection, and of corpora in two languages, through `Atlas`."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search import Atlas, SearchResult
from atlas_search.core.domain import LEGS, Passage
from atlas_search.core.targets import SearchType, Target
from atlas_search.language.text import words
from atlas_search.search.ranking import SCORERS
from tests.finding import find, searching

QUESTION = "What rights does a person have on arrest by the police?"
PLAIN = Target()


def by_leg(atlas: Atlas, result: SearchResult) -> dict[str, list[Passage]]:
    """The candidates that each leg found."""
    assert result.explained is not None
    passages = {c.passage_id: atlas.passage(c.passage_id) for c in result.explained}
    return {
        leg: [passages[c.passage_id] for c in result.explained if leg in c.legs] for leg in LEGS
    }


@pytest.mark.parametrize("depth", [1, 5, 20])
def test_each_leg_takes_the_same_number_of_candidates_from_each_corpus(
    atlas: Atlas, depth: int
) -> None:
    target = Target(
        large_retrieval_size_all_corpus=depth, large_retrieval_size_single_corpus=depth + 1
    )
    counts = find(atlas, QUESTION, target).per_corpus
    assert {(of.dense, of.lexical) for of in counts.values()} == {(depth, depth)}
    assert list(counts) == [corpus.id for corpus in atlas.corpora]
    assert find(atlas, QUESTION, target, corpora="legal_us").per_corpus["legal_us"].dense == (
        depth + 1
    )


@pytest.mark.parametrize(("search_type", "leg"), [("similarity", "dense"), ("keyword", "lexical")])
@pytest.mark.parametrize("reranker", sorted(SCORERS))
def test_one_leg_alone_may_find_the_candidates(
    atlas: Atlas, search_type: SearchType, leg: str, reranker: str
) -> None:
    both = find(atlas, QUESTION, Target(multi_hop=False))
    result = find(
        atlas, QUESTION, Target(search_type=search_type, reranker=reranker, multi_hop=False)
    )
    assert result.legs == (leg,)
    assert {c.passage_id for c in result.explained or ()} == {
        c.passage_id for c in both.explained or () if leg in c.legs
    }
    assert len(result.passages) == 3


def test_no_candidate_is_further_than_the_threshold(atlas: Atlas) -> None:
    every = find(atlas, QUESTION, PLAIN).explained or ()
    near = find(atlas, QUESTION, Target(score_threshold=0.3)).explained or ()
    assert {c.passage_id for c in near} == {
        c.passage_id for c in every if c.signals["semantic"] >= 0.3
    }
    assert 0 < len(near) < len(every)
    assert not find(atlas, QUESTION, Target(score_threshold=1)).passages


def holds(phrase: str) -> Callable[[Passage], bool]:
    """Whether the stems of a text hold these, in order."""
    return lambda p: f" {phrase} " in f" {' '.join(word.term for word in words(p.text))} "


@pytest.mark.parametrize(
    ("question", "where", "allowed"),
    [
        (QUESTION, {"corpora": "legal_us"}, lambda p: p.corpus == "legal_us"),
        (QUESTION, {"corpora": "legal_uk"}, lambda p: p.corpus == "legal_uk"),
        (QUESTION, {"corpora": ["legislation_nz"]}, lambda p: p.corpus == "legislation_nz"),
        (
            QUESTION,
            {"filters": {"date": {"from": "1960", "to": "1969-12"}}},
            lambda p: p.date.startswith("196"),
        ),
        (
            QUESTION,
            {"filters": {"document_id": "legal_us.katz-v-united-states-1967"}},
            lambda p: p.document_id == "legal_us.katz-v-united-states-1967",
        ),
        (QUESTION, {"filters": {"section": "Facts"}}, lambda p: "Facts" in p.section),
        (
            QUESTION,
            {"filters": {"content_type": "pdf"}},
            lambda p: p.metadata["content_type"] == "pdf",
        ),
        ("Does +privacy matter?", {}, holds("privaci")),
        ('+"cruel and unusual" punishment', {}, holds("cruel and unusu")),
        ('arrest by the police -"warrant"', {}, lambda p: not holds("warrant")(p)),
        ('police -"right to silence"', {}, lambda p: not holds("right to silenc")(p)),
    ],
)
def test_what_narrows_a_search_binds_both_legs(
    atlas: Atlas, question: str, where: dict[str, Any], allowed: Callable[[Passage], bool]
) -> None:
    legs = by_leg(atlas, find(atlas, question, PLAIN, k=1, **where))
    for leg in LEGS:
        assert legs[leg]
        assert all(map(allowed, legs[leg]))


def test_exact_search_compares_every_vector(atlas: Atlas) -> None:
    result = find(atlas, QUESTION, Target(large_retrieval_size_all_corpus=20), exact=True)
    assert result.explained is not None
    store = atlas.services.store
    every = np.arange(store.manifest.passages)
    similarity = store.similarities(every, result.vector)
    for number, corpus in enumerate(store.corpora):
        own = every[store.corpus_of(every) == number]
        best = own[np.argsort(-similarity[own], kind="stable")][:20]
        dense = [c for c in result.explained if c.corpus == corpus.id and "dense" in c.legs]
        dense.sort(key=lambda c: c.legs["dense"].rank)
        assert [c.passage_id for c in dense] == store.passage_ids(best.tolist())
        assert [c.signals["semantic"] for c in dense] == pytest.approx(similarity[best], abs=1e-6)


def test_a_filter_that_nothing_meets_gives_no_passage(atlas: Atlas) -> None:
    result = find(atlas, QUESTION, PLAIN, filters={"author": "nobody"})
    assert (result.passages, result.explained) == ((), [])
    assert {counts.candidates for counts in result.per_corpus.values()} == {0}
    assert result.confidence.low


@pytest.mark.parametrize(
    "question", [QUESTION, "Brown v. Board of Education", "s59", "zzzz", "the of"]
)
def test_every_candidate_has_every_signal_between_0_and_1(atlas: Atlas, question: str) -> None:
    result = find(atlas, question, PLAIN, k=100)
    assert len(result.passages) == 100
    assert result.explained
    for candidate in result.explained:
        assert len(candidate.signals) == 9
        assert all(0.0 <= value <= 1.0 for value in candidate.signals.values())


def test_passages_come_best_first_and_are_counted(atlas: Atlas) -> None:
    first, again = (find(atlas, QUESTION, PLAIN, k=10) for _ in range(2))
    scores = [item.ranked.score for item in first.passages]
    assert scores == sorted(scores, reverse=True)
    assert first.passages == again.passages
    assert sum(counts.kept for counts in first.per_corpus.values()) == len(scores) == 10
    for counts in first.per_corpus.values():
        assert max(counts.dense, counts.lexical) <= counts.candidates
        assert counts.candidates <= counts.dense + counts.lexical


def test_the_order_in_which_corpora_are_named_changes_no_signal(tmp_path: Path) -> None:
    with searching(tmp_path) as tiny:
        rising, falling = (
            find(tiny, "Is wool exempt from tax?", k=6, corpora=corpora)
            for corpora in (["tax", "town"], ["town", "tax"])
        )
    assert falling.passages == rising.passages
    assert falling.explained == rising.explained
    assert falling.explained
    assert len(falling.explained) == 6
    assert list(falling.per_corpus) == ["town", "tax"]
    assert falling.per_corpus == rising.per_corpus


def test_freshness_counts_passages_older_than_allowed(atlas: Atlas) -> None:
    question = "Katz wiretapping telephone booth"
    days = 365 * 20
    result = find(atlas, question, PLAIN, k=10, freshness_days=days, as_of=date(2026, 1, 1))
    old = [item for item in result.passages if item.valid and item.passage.date < "2006"]
    assert result.freshness.violations == len(old) > 0


def test_a_court_whose_name_has_function_words_is_matched(atlas: Atlas) -> None:
    result = find(atlas, "House of Lords decisions on negligence", PLAIN, k=10)
    lords = [i for i in result.passages if i.passage.metadata.get("court") == "House of Lords"]
    assert lords
    assert all(item.ranked.signals["metadata"] >= 0.5 for item in lords)


def test_a_question_of_several_things_keeps_a_place_for_each(atlas: Atlas) -> None:
    question = "Compare the death penalty in Britain with the right to silence in New Zealand"
    result = find(atlas, question, PLAIN, k=4, max_per_document=1)
    kept = {item.passage.id for item in result.passages}
    best = [find(atlas, part, PLAIN, k=1).passages[0].passage.id for part in result.sub_questions]
    assert len(set(best)) == 2
    assert set(best) <= kept
    assert not find(atlas, question, Target(multi_hop=False)).sub_questions
    assert not find(atlas, QUESTION, PLAIN).sub_questions


def test_no_part_finds_what_the_whole_question_excludes(atlas: Atlas) -> None:
    question = 'Compare privacy in Britain with privacy in New Zealand -"commissioner"'
    result = find(atlas, question, PLAIN)
    assert len(result.sub_questions) == 2
    assert result.explained
    passages = [atlas.passage(candidate.passage_id) for candidate in result.explained]
    assert not any(map(holds("commission"), passages))


@pytest.mark.parametrize(
    ("question", "caps", "capped"),
    [(QUESTION, "", False), (QUESTION, "md:2", True), (f"{QUESTION} md", "md:2", False)],
)
def test_a_content_type_keeps_to_its_cap_unless_the_question_names_it(
    atlas: Atlas, question: str, caps: str, *, capped: bool
) -> None:
    result = find(atlas, question, Target(content_type_caps=caps), k=10)
    assert len(result.passages) == 10
    kept = sum(item.passage.metadata["content_type"] == "md" for item in result.passages)
    assert kept == 2 if capped else kept > 2


TWO_LANGUAGES = {
    "corpora.toml": '[[corpus]]\nid = "recht"\ninclude = ["recht/*"]\nlanguage = "de"\n'
    '[[corpus]]\nid = "law"\ninclude = ["law/*"]\n',
    "recht/haus.txt": "Das alte Haus steht am Markt.",
    "recht/miete.txt": "Die Miete ist monatlich zu zahlen.",
    "law/house.txt": "The old houses of the town.",
    "law/rent.txt": "The rent is due each month.",
}


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with searching(tmp_path_factory.mktemp("languages"), TWO_LANGUAGES) as opened:
        yield opened


def overlaps(result: SearchResult) -> dict[str, float]:
    return {item.passage.document_id: item.overlap for item in result.passages}


def test_every_corpus_is_searched_in_its_own_language(languages: Atlas) -> None:
    german = find(languages, "die Häuser", PLAIN, k=4)
    assert german.per_corpus["recht"].lexical == 1
    assert german.passages[0].highlights
    # "die" is a function word in German alone, and English has neither it nor "Häuser"
    assert overlaps(german)["recht.haus"] == 1.0
    assert overlaps(german)["law.house"] == 0.0
    english = find(languages, "house", PLAIN, k=4)
    assert overlaps(english) == {
        "law.house": 1.0,
        "law.rent": 0.0,
        "recht.haus": 0.0,
        "recht.miete": 0.0,
    }
    both = find(languages, "house Miete", PLAIN, k=4).explained
    assert both
    assert {c.passage_id.partition(":")[0]: c.signals["bm25"] > 0 for c in both} == {
        "law.house": True,
        "law.rent": False,
        "recht.haus": False,
        "recht.miete": True,
    }


def test_a_required_phrase_is_compared_in_the_language_of_the_corpus(languages: Atlas) -> None:
    assert list(overlaps(find(languages, '+"altes Haus"', PLAIN, k=1))) == ["recht.haus"]
    english = find(languages, '+"old house" -"town"', PLAIN, k=1)
    assert english.required_unmet
    assert english.required_unmet.passages == 0
    assert "law.house" not in overlaps(english)


def test_misspelt_words_are_known_in_either_language(languages: Atlas) -> None:
    assert find(languages, "Mietee", PLAIN, fuzzy=True).per_corpus["recht"].lexical == 1
    assert find(languages, "Mietee", PLAIN).per_corpus["recht"].lexical == 0
