"""Search as a whole: balance, filters, totality of the order, and what it reports."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.domain import LEGS, Passage
from atlas_search.core.targets import Target
from atlas_search.language.text import words
from atlas_search.search.find import find_candidates, retrieve
from atlas_search.search.flow import search
from atlas_search.search.run import SearchRun
from atlas_search.services import Services
from atlas_search.stores.filters import Range
from atlas_search.stores.vectors import Cosines
from tests.conftest import request_for
from tests.finding import find, searching

QUESTION = "What rights does a person have on arrest by the police?"


def hits_of(services: Services, depth: int, corpora: tuple[str, ...], filters=None):
    target = Target(large_retrieval_size_single_corpus=depth)
    request = request_for(
        services, QUESTION, corpora=corpora, every_corpus=False, filters=filters or {}
    )
    run = SearchRun(services.searcher, request, target)
    return retrieve(
        run,
        run.query,
        Cosines(services.searcher.embedder.embed_query(QUESTION), services.store.vectors),
    )


def test_all_takes_the_same_number_of_candidates_from_each_corpus_in_each_leg(
    services: Services,
) -> None:
    for depth in (1, 5, 20):
        for corpus in hits_of(services, depth, services.default_corpora):
            assert len(corpus.dense.rows) == depth
            assert len(corpus.lexical.rows) == depth


def test_the_depth_is_that_of_all_or_of_chosen_corpora(services: Services) -> None:
    target = services.targets["k10_extractive"].model_copy(
        update={"large_retrieval_size_all_corpus": 7, "large_retrieval_size_single_corpus": 11}
    )
    everything = search(SearchRun(services.searcher, request_for(services, QUESTION), target))
    assert {counts.dense for counts in everything.per_corpus.values()} == {7}
    one = request_for(services, QUESTION, corpora=("legal_us",), every_corpus=False)
    assert search(SearchRun(services.searcher, one, target)).per_corpus["legal_us"].dense == 11


@pytest.mark.parametrize("corpus", ["legal_us", "legal_uk", "legislation_nz"])
def test_a_corpus_filter_lets_no_other_corpus_through_in_either_leg(
    services: Services, corpus: str
) -> None:
    (hits,) = hits_of(services, 500, (corpus,))
    for rows in (hits.dense.rows, hits.lexical.rows):
        assert len(rows)
        assert {passage.corpus for passage in services.store.passages(rows)} == {corpus}


def test_a_metadata_filter_binds_both_legs(services: Services) -> None:
    filters = {"date": Range("1960-01-01", "1969-12-31")}
    for hits in hits_of(services, 500, ("legal_us", "legislation_nz"), filters):
        for rows in (hits.dense.rows, hits.lexical.rows):
            assert len(rows)
            assert all(p.date.startswith("196") for p in services.store.passages(rows))


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("Does +privacy matter?", lambda text: " privaci " in text),
        ('+"cruel and unusual" punishment', lambda text: " cruel and unusu " in text),
        ('arrest by the police -"warrant"', lambda text: " warrant " not in text),
        ('police -"right to silence"', lambda text: " right to silenc " not in text),
    ],
)
def test_required_and_excluded_phrases_bind_both_legs(
    services: Services, question: str, holds: Callable[[str], bool]
) -> None:
    request = request_for(services, question, limit=1)
    found = find_candidates(
        SearchRun(services.searcher, request, services.targets["k10_extractive"])
    )
    rows = [row for hits in found.hits for leg in LEGS for row in hits.legs[leg].rows]
    assert rows
    passages = services.store.passages(rows)
    stems = [" ".join(word.term for word in words(passage.text)) for passage in passages]
    assert all(holds(f" {text} ") for text in stems)


@pytest.mark.parametrize(
    ("field", "value", "of"),
    [
        ("document_id", "legal_us.katz-v-united-states-1967", lambda p: p.document_id),
        ("section", "Facts", lambda p: p.section),
        ("content_type", "pdf", lambda p: p.metadata["content_type"]),
    ],
)
def test_documents_sections_and_content_types_can_be_asked_for(
    services: Services, field: str, value: str, of: Callable[[Passage], str]
) -> None:
    request = request_for(services, QUESTION, filters={field: (value,)})
    found = find_candidates(
        SearchRun(services.searcher, request, services.targets["k10_extractive"])
    )
    rows = [row for hits in found.hits for leg in LEGS for row in hits.legs[leg].rows]
    assert rows
    assert all(value in of(passage) for passage in services.store.passages(rows))


def test_exact_search_compares_every_vector(services: Services) -> None:
    target = services.targets["k10_extractive"].model_copy(
        update={"large_retrieval_size_all_corpus": 20}
    )
    request = request_for(services, QUESTION, exact=True)
    found = find_candidates(SearchRun(services.searcher, request, target))
    everything = np.arange(services.store.manifest.passages)
    similarity = services.store.vectors(everything) @ found.cosines.vector
    for number, hits in enumerate(found.hits):
        own = everything[services.store.corpus_of(everything) == number]
        best = own[np.argsort(-similarity[own], kind="stable")][:20]
        assert hits.dense.rows.tolist() == best.tolist()
    quick = find_candidates(SearchRun(services.searcher, request_for(services, QUESTION), target))
    for one, other in zip(found.hits, quick.hits, strict=True):
        assert one.lexical.rows.tolist() == other.lexical.rows.tolist()


def test_a_filter_that_nothing_meets_gives_no_passage(services: Services) -> None:
    request = request_for(services, QUESTION, filters={"author": ("nobody",)})
    result = search(SearchRun(services.searcher, request, services.targets["k10_extractive"]))
    assert result.passages == ()
    assert {counts.candidates for counts in result.per_corpus.values()} == {0}
    assert result.confidence.low


def test_every_candidate_has_every_signal_between_0_and_1(services: Services) -> None:
    target = services.targets["k10_extractive"].model_copy(update={"search_k": 100})
    for question in (QUESTION, "Brown v. Board of Education", "s59", "zzzz", "the of"):
        request = request_for(services, question, limit=100)
        result = search(SearchRun(services.searcher, request, target))
        assert len(result.passages) == 100
        for item in result.passages:
            assert len(item.ranked.signals) == 9
            assert all(0.0 <= value <= 1.0 for value in item.ranked.signals.values())


def test_passages_come_best_first_and_the_same_every_time(services: Services) -> None:
    target = services.targets["k10_extractive"]
    first = search(SearchRun(services.searcher, request_for(services, QUESTION), target))
    again = search(SearchRun(services.searcher, request_for(services, QUESTION), target))
    scores = [item.ranked.score for item in first.passages]
    assert scores == sorted(scores, reverse=True)
    assert first.passages == again.passages


def test_the_order_in_which_corpora_are_named_changes_no_signal(tmp_path: Path) -> None:
    with searching(tmp_path) as searcher:
        rising, falling = (
            find(searcher, "Is wool exempt from tax?", limit=6, corpora=corpora)
            for corpora in (("tax", "town"), ("town", "tax"))
        )
    assert falling.passages == rising.passages
    assert falling.candidates.table.rows.tolist() == list(range(6))
    for name, values in rising.candidates.table.signals.items():
        assert falling.candidates.table.signals[name].tolist() == values.tolist(), name
    assert list(falling.per_corpus) == ["town", "tax"]
    assert falling.per_corpus == rising.per_corpus


def test_counts_add_up(services: Services) -> None:
    result = search(
        SearchRun(
            services.searcher, request_for(services, QUESTION), services.targets["k10_extractive"]
        )
    )
    assert sum(counts.kept for counts in result.per_corpus.values()) == len(result.passages) == 10
    for counts in result.per_corpus.values():
        assert max(counts.dense, counts.lexical) <= counts.candidates
        assert counts.candidates <= counts.dense + counts.lexical


def test_a_corpus_that_gives_fewer_candidates_than_asked_for_is_reported(
    services: Services,
) -> None:
    result = search(
        SearchRun(
            services.searcher, request_for(services, QUESTION), services.targets["k10_extractive"]
        )
    )
    held = {corpus.id: corpus.passages for corpus in services.store.corpora}["legislation_nz"]
    said = f"legislation_nz: {held} of 200 candidates asked for; it holds no more."
    assert said in result.warnings


def test_quota_gives_every_corpus_the_same_number_of_places(services: Services) -> None:
    target = services.targets["k15_quota"]
    result = search(SearchRun(services.searcher, request_for(services, QUESTION, limit=15), target))
    assert {counts.kept for counts in result.per_corpus.values()} == {5}


def test_highlights_are_sentences_of_the_passage(services: Services) -> None:
    result = search(
        SearchRun(
            services.searcher, request_for(services, QUESTION), services.targets["k10_extractive"]
        )
    )
    for item in result.passages:
        for highlight in item.highlights:
            marked = item.passage.text[highlight.start : highlight.end]
            assert marked == marked.strip() != ""


def test_freshness_counts_passages_older_than_asked_for(services: Services) -> None:
    request = request_for(services, "Katz wiretapping telephone booth", freshness_days=365 * 20)
    result = search(SearchRun(services.searcher, request, services.targets["k10_extractive"]))
    old = [item for item in result.passages if item.valid and item.passage.date < "2006"]
    assert result.freshness.violations == len(old) > 0


def test_a_searched_passage_has_the_cosine_of_its_vector(services: Services) -> None:
    result = search(
        SearchRun(
            services.searcher, request_for(services, QUESTION), services.targets["k10_extractive"]
        )
    )
    question = services.searcher.embedder.embed_query(QUESTION)
    for item in result.passages:
        vector = services.store.vectors(np.array([item.passage.row]))[0]
        assert item.ranked.signals["semantic"] == pytest.approx(float(vector @ question), abs=1e-5)


def test_a_court_whose_name_has_function_words_is_matched(services: Services) -> None:
    result = search(
        SearchRun(
            services.searcher,
            request_for(services, "House of Lords decisions on negligence"),
            services.targets["k10_extractive"],
        )
    )
    lords = [i for i in result.passages if i.passage.metadata.get("court") == "House of Lords"]
    assert lords
    assert all(item.ranked.signals["metadata"] >= 0.5 for item in lords)


def test_a_question_of_several_things_keeps_a_place_for_each(services: Services) -> None:
    question = "Compare the death penalty in Britain with the right to silence in New Zealand"
    target = services.targets["k10_extractive"]
    request = request_for(services, question, limit=4, max_per_document=1)
    found = search(SearchRun(services.searcher, request, target))
    first, second = found.candidates.parts
    kept = [item.passage.row for item in found.passages]
    assert first.rows[0] in kept
    assert second.rows[0] in kept
    assert set(first.rows) | set(second.rows) <= set(found.candidates.table.rows)
    whole = search(
        SearchRun(
            services.searcher,
            request_for(services, question, limit=4),
            target.model_copy(update={"multi_hop": False}),
        )
    )
    assert whole.candidates.parts == ()


def test_what_the_whole_question_excludes_no_part_finds(services: Services) -> None:
    question = 'Compare privacy in Britain with privacy in New Zealand -"commissioner"'
    found = search(
        SearchRun(
            services.searcher, request_for(services, question), services.targets["k10_extractive"]
        )
    )
    assert len(found.candidates.parts) == 2
    texts = (item.text for item in services.store.passages(found.candidates.table.rows))
    assert not any("commission" in {w.term for w in words(text)} for text in texts)


def test_a_simple_question_is_searched_once(services: Services) -> None:
    found = search(
        SearchRun(
            services.searcher, request_for(services, QUESTION), services.targets["k10_extractive"]
        )
    )
    assert found.candidates.parts == ()


def test_a_content_type_that_floods_the_results_keeps_to_its_cap(services: Services) -> None:
    def kept(question: str, caps: str) -> int:
        target = services.targets["k10_extractive"].model_copy(update={"content_type_caps": caps})
        found = search(SearchRun(services.searcher, request_for(services, question), target))
        assert len(found.passages) == 10
        return sum(item.passage.metadata["content_type"] == "md" for item in found.passages)

    assert kept(QUESTION, "") > 2
    assert kept(QUESTION, "md:2") == 2
    # the capped type is asked for
    assert kept(f"{QUESTION} md", "md:2") > 2
