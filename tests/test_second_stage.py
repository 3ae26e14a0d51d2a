"""The second stage of ranking: a model that reads the best passages again."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from atlas_search.core.errors import RequestError, RerankerUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.search.flow import search
from atlas_search.search.ranking import Ranking
from atlas_search.search.rerankers import Relevance, RerankLimits, read_again, reorder
from atlas_search.search.run import SearchRun
from atlas_search.search.signals import SignalTable
from atlas_search.services import Services
from atlas_search.stores.arrays import IntArray
from tests.conftest import request_for


class Script:
    """A second stage that gives what it is told and remembers what it was asked."""

    name = "script"

    def __init__(self, *scores: float, note: str = "", error: str = ""):
        self.scores, self.note, self.error = scores, note, error
        self.asked: list[tuple[str, Sequence[str], float]] = []

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        self.asked.append((question, texts, seconds))
        if self.error:
            raise RerankerUnavailable(self.error)
        return Relevance(np.array(self.scores), self.note)


def ranking() -> Ranking:
    """Passages 40, 30, 20, 10, best first."""
    rows = np.array([10, 20, 30, 40])
    table = SignalTable(rows, {"semantic": np.array([0.1, 0.2, 0.3, 0.4])}, np.zeros(4))
    return Ranking(table, np.array([3, 2, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6]))


def texts_of(rows: IntArray) -> list[str]:
    return [f"text {row}" for row in rows]


def test_what_was_read_comes_first_by_relevance_and_the_rest_as_it_was() -> None:
    found = reorder(ranking(), Relevance(np.array([0.2, 0.5, 0.4]), "some were not read"), 1.0)
    assert found.rows.tolist() == [30, 20, 40, 10]
    assert found.relevance == {2: 0.5, 1: 0.4, 3: 0.2}
    assert found.note == "some were not read"


def test_the_scores_of_the_first_stage_stay_with_their_passages() -> None:
    found = reorder(ranking(), Relevance(np.array([0.2, 0.5]), ""), 1.0)
    assert found.rows.tolist() == [30, 40, 20, 10]
    assert found.scores.tolist() == [0.8, 0.9, 0.7, 0.6]


@pytest.mark.parametrize(
    ("share", "rows"),
    [
        (0.0, [40, 30, 20, 10]),
        (0.4, [40, 30, 20, 10]),
        (0.5, [40, 30, 20, 10]),
        (0.6, [20, 30, 40, 10]),
        (1.0, [20, 30, 40, 10]),
    ],
)
def test_a_model_has_its_share_in_the_order(share: float, rows: list[int]) -> None:
    # of three that were read the scores are 1, .5, 0, the log-odds 0, ln 3, ln 9: 0, .5, 1
    relevance = Relevance(np.array([1 / 2, 3 / 4, 9 / 10]), "")
    scored = replace(ranking(), scores=np.array([0.9, 0.8, 0.7, 0.6]))
    assert reorder(scored, relevance, share).rows.tolist() == rows


def test_what_a_service_is_certain_of_has_a_place() -> None:
    found = reorder(ranking(), Relevance(np.array([0.0, 0.5, 1.0]), ""), 1.0)
    assert found.rows.tolist() == [20, 30, 40, 10]


def test_equal_relevance_leaves_passages_in_their_former_order() -> None:
    found = reorder(ranking(), Relevance(np.array([0.5, 0.7, 0.5, 0.7]), ""), 1.0)
    assert found.rows.tolist() == [30, 10, 40, 20]


def test_relevance_is_a_signal_of_the_passages_that_were_read() -> None:
    found = reorder(ranking(), Relevance(np.array([0.25, 0.5]), ""), 1.0)
    assert [found.signals(place) for place in range(3)] == [
        {"semantic": 0.3, "relevance": 0.5},
        {"semantic": 0.4, "relevance": 0.25},
        {"semantic": 0.2},
    ]


def test_only_the_best_are_read_and_only_their_beginnings() -> None:
    stage = Script(0.1, 0.2)
    found = read_again(stage, "why?", ranking(), texts_of, RerankLimits(2, 6, 1.5, 1.0), Stop())
    assert stage.asked == [("why?", ["text 4", "text 3"], 1.5)]
    assert found.rows.tolist() == [30, 40, 20, 10]


def test_the_first_order_stays_and_the_reason_is_told_if_the_stage_is_unavailable() -> None:
    stage = Script(error="Nobody is there. Try again later.")
    found = read_again(stage, "why?", ranking(), texts_of, RerankLimits(2, 100, 1.5, 1.0), Stop())
    assert found.rows.tolist() == [40, 30, 20, 10]
    assert found.relevance == {}
    assert found.note == (
        "The passages are in the order of the first stage. Nobody is there. Try again later."
    )


def test_no_candidates_stay_none() -> None:
    empty = SignalTable(np.arange(0), {"semantic": np.zeros(0)}, np.zeros(0))
    none = Ranking(empty, np.arange(0), np.zeros(0))
    found = read_again(Script(), "why?", none, texts_of, RerankLimits(50, 100, 1.5, 1.0), Stop())
    assert found.rows.tolist() == []


class ByLength:
    """A second stage that finds short texts relevant."""

    name = "by length"

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        return Relevance(np.array([1 / len(text) for text in texts]), "")


QUESTION = "What rights does a person have on arrest by the police?"


def with_stage(services: Services, stage: object) -> Services:
    searcher = replace(services.searcher, stages={("cohere", ""): stage})
    answerer = replace(services.answerer, searcher=searcher)
    return replace(services, answerer=answerer, targets=dict(services.targets))


def test_a_search_is_in_the_order_of_the_second_stage(services: Services) -> None:
    searcher = with_stage(services, ByLength()).searcher
    request = request_for(services, QUESTION)
    target = Target(
        reranker="cohere", rerank_depth=20, rerank_share=1.0, max_passages_per_document=100
    )
    found = search(SearchRun(searcher, request, target))
    lengths = [len(item.passage.embedded) for item in found.passages]
    assert lengths == sorted(lengths)
    for item in found.passages:
        assert item.ranked.signals["relevance"] == pytest.approx(
            1 / len(item.passage.embedded), abs=1e-6
        )
    plain = search(SearchRun(services.searcher, request, Target()))
    assert found.confidence.support == plain.confidence.support
    varied = search(SearchRun(searcher, request, target.model_copy(update={"diversity": "mmr"})))
    assert {"relevance"} <= varied.passages[0].ranked.signals.keys()


def test_a_search_goes_on_without_its_second_stage_and_says_so(services: Services) -> None:
    searcher = with_stage(services, Script(error="Nobody is there.")).searcher
    request = request_for(services, QUESTION)
    found = search(SearchRun(searcher, request, Target(reranker="cohere")))
    plain = search(SearchRun(services.searcher, request, Target()))
    assert [i.passage.id for i in found.passages] == [i.passage.id for i in plain.passages]
    assert found.warnings[0] == (
        "The passages are in the order of the first stage. Nobody is there."
    )


def test_a_stage_that_was_not_opened_cannot_be_chosen_while_the_server_runs(
    services: Services,
) -> None:
    own = with_stage(services, ByLength())
    assert own.configure_reranker(None, {"reranker": "cohere"}).reranker == "cohere"
    with pytest.raises(RequestError, match="cross-encoder needs a model, which is opened when"):
        own.configure_reranker(None, {"reranker": "cross-encoder"})
