"""The second stage of ranking: a model that reads the best passages again, here or at Cohere.

What any server of a provider may do besides is in `tests/providers/test_http.py`.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from math import exp
from pathlib import Path

import numpy as np
import pytest
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.errors import (
    ConfigurationError,
    MissingModel,
    RequestError,
    RerankerUnavailable,
)
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.search.ranking import Ranking
from atlas_search.search.rerankers import (
    ATTEMPTS,
    BATCH,
    COHERE_SERVER,
    CohereReranker,
    CrossEncoderReranker,
    Relevance,
    read_again,
    reorder,
    sigmoid,
)
from atlas_search.search.signals import SignalTable
from atlas_search.services import Services
from tests.chat_server import Cut
from tests.cohere_server import KEY, MODEL, CohereServer, cohere_server, results
from tests.finding import find
from tests.mistral_server import Reply
from tests.providers.conftest import VOCABULARY, save_cross_encoder


class Script:
    """A second stage that gives these scores, or is unavailable, and remembers the questions."""

    name = "script"

    def __init__(self, *scores: float, error: str = ""):
        self.scores, self.error = scores, error
        self.questions: list[tuple[str, Sequence[str], float]] = []

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        self.questions.append((question, texts, seconds))
        if self.error:
            raise RerankerUnavailable(self.error)
        return Relevance(np.array(self.scores), "")


class ByLength:
    """A second stage that finds short texts relevant."""

    name = "by length"

    def relevance(self, question: str, texts: Sequence[str], seconds: float) -> Relevance:
        return Relevance(np.array([1 / len(text) for text in texts]), "")


def ranking() -> Ranking:
    """Passages 40, 30, 20, 10, best first."""
    table = SignalTable(
        np.array([10, 20, 30, 40]), {"semantic": np.array([0.1, 0.2, 0.3, 0.4])}, np.zeros(4)
    )
    return Ranking(table, np.array([3, 2, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6]))


# of three that were read the scores scale to 1, 1/2, 0; 1/2, 3/4, 9/10 have the log-odds
# 0, ln 3, ln 9: 0, 1/2, 1
SHARED = [1 / 2, 3 / 4, 9 / 10]


@pytest.mark.parametrize(
    ("relevance", "share", "rows"),
    [
        ([0.2, 0.5, 0.4], 1.0, [30, 20, 40, 10]),
        ([0.2, 0.5], 1.0, [30, 40, 20, 10]),
        (SHARED, 0.0, [40, 30, 20, 10]),
        (SHARED, 0.4, [40, 30, 20, 10]),
        (SHARED, 0.5, [40, 30, 20, 10]),
        (SHARED, 0.6, [20, 30, 40, 10]),
        (SHARED, 1.0, [20, 30, 40, 10]),
        # 0 and 1 have no odds, and yet a place
        ([0.0, 0.5, 1.0], 1.0, [20, 30, 40, 10]),
        # equals stay in their former order
        ([0.5, 0.7, 0.5, 0.7], 1.0, [30, 10, 40, 20]),
    ],
)
def test_a_model_has_its_share_in_the_order_of_what_it_read(
    relevance: list[float], share: float, rows: list[int]
) -> None:
    assert reorder(ranking(), Relevance(np.array(relevance), ""), share).rows.tolist() == rows


def test_scores_and_signals_stay_with_their_passages() -> None:
    again = reorder(ranking(), Relevance(np.array([0.25, 0.5]), "some were not read"), 1.0)
    assert again.rows.tolist() == [30, 40, 20, 10]
    assert again.scores.tolist() == [0.8, 0.9, 0.7, 0.6]
    assert again.note == "some were not read"
    assert [again.signals(place) for place in range(3)] == [
        {"semantic": 0.3, "relevance": 0.5},
        {"semantic": 0.4, "relevance": 0.25},
        {"semantic": 0.2},
    ]


def test_only_the_best_are_read_and_only_their_beginnings() -> None:
    stage = Script(0.1, 0.2)
    limits = {"rerank_depth": 2, "rerank_characters": 6, "rerank_seconds": 1.5, "rerank_share": 1.0}
    target = Target().model_copy(update=limits)
    again = read_again(
        stage, "why?", ranking(), lambda rows: [f"text {row}" for row in rows], target, Stop()
    )
    assert stage.questions == [("why?", ["text 4", "text 3"], 1.5)]
    assert again.rows.tolist() == [30, 40, 20, 10]


def test_no_candidates_stay_none() -> None:
    table = SignalTable(np.arange(0), {"semantic": np.zeros(0)}, np.zeros(0))
    none = Ranking(table, np.arange(0), np.zeros(0))
    assert read_again(Script(), "why?", none, lambda _: [], Target(), Stop()).rows.tolist() == []


QUESTION = "What rights does a person have on arrest by the police?"


def with_stage(services: Services, stage: object) -> Atlas:
    searcher = replace(services.searcher, stages={("cohere", ""): stage})
    answerer = replace(services.answerer, searcher=searcher)
    return Atlas(replace(services, answerer=answerer, targets=dict(services.targets)))


def test_a_search_is_in_the_order_of_the_second_stage(services: Services) -> None:
    atlas = with_stage(services, ByLength())
    target = Target(
        reranker="cohere", rerank_depth=20, rerank_share=1.0, max_passages_per_document=100
    )
    result = find(atlas, QUESTION, target, k=10)
    lengths = [len(item.passage.embedded) for item in result.passages]
    assert lengths == sorted(lengths)
    relevance = [item.ranked.signals["relevance"] for item in result.passages]
    assert relevance == pytest.approx([1 / length for length in lengths], abs=1e-6)
    plain = find(atlas, QUESTION, Target(), k=10)
    assert result.confidence.support == plain.confidence.support
    varied = find(atlas, QUESTION, target.model_copy(update={"diversity": "mmr"}))
    assert "relevance" in varied.passages[0].ranked.signals


def test_a_search_goes_on_without_its_second_stage_and_says_so(services: Services) -> None:
    atlas = with_stage(services, Script(error="Nobody is there. Try again later."))
    result = find(atlas, QUESTION, Target(reranker="cohere"), k=10)
    plain = find(atlas, QUESTION, Target(), k=10)
    assert [i.passage.id for i in result.passages] == [i.passage.id for i in plain.passages]
    assert "relevance" not in result.passages[0].ranked.signals
    assert result.warnings[0] == (
        "The passages are in the order of the first stage. Nobody is there. Try again later."
    )


def test_a_stage_that_was_not_opened_cannot_be_chosen_while_the_server_runs(
    services: Services,
) -> None:
    own = with_stage(services, ByLength()).services
    assert own.configure_reranker(None, {"reranker": "cohere"}).reranker == "cohere"
    with pytest.raises(RequestError, match="cross-encoder needs a model, which is opened when"):
        own.configure_reranker(None, {"reranker": "cross-encoder"})


SILENCE = "right to silence"
BANKS = ["the right bank", "the right to silence", "fishing"]
SHARES = [1 / 3, 3 / 3, 0 / 3]


@pytest.fixture
def server() -> Iterator[CohereServer]:
    with cohere_server() as running:
        yield running


@pytest.fixture
def cohere(server: CohereServer, waits: list[float]) -> CohereReranker:
    return CohereReranker(MODEL, SecretStr(KEY), f"{server.address}/", sleep=waits.append)


def test_coheres_scores_come_in_the_order_of_the_texts(
    server: CohereServer, cohere: CohereReranker
) -> None:
    scores, note = cohere.relevance(SILENCE, BANKS, 20.0)
    assert scores.tolist() == pytest.approx(SHARES)
    assert (scores.dtype, note, cohere.name) == (np.float64, "", MODEL)
    assert [request.path for request in server.requests] == ["/v2/rerank"]
    assert server.requests[0].body == {
        "model": MODEL,
        "query": SILENCE,
        "documents": BANKS,
        "top_n": 3,
    }
    cohere.relevance(SILENCE, [], 20.0)
    assert len(server.requests) == 1


def test_no_try_begins_after_the_time_is_used_up(server: CohereServer) -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    server.then(*[Reply(500, {"message": "internal server error"})] * ATTEMPTS)
    reranker = CohereReranker(
        MODEL, SecretStr(KEY), server.address, sleep=sleep, clock=lambda: now[0]
    )
    with pytest.raises(RerankerUnavailable):
        reranker.relevance(SILENCE, BANKS, 1.0)
    # 0.25 + 0.5 are less than 1 second, 0.25 + 0.5 + 1 are more
    assert now[0] == 100 + 0.25 + 0.5
    assert len(server.requests) == 3


def test_a_connection_that_is_cut_is_made_again_and_given_up_in_the_end(
    server: CohereServer, cohere: CohereReranker, waits: list[float]
) -> None:
    server.then(Cut())
    assert cohere.relevance(SILENCE, BANKS, 20.0).scores == pytest.approx(SHARES)
    assert waits == [0.25]
    server.then(*[Cut()] * ATTEMPTS)
    with pytest.raises(RerankerUnavailable, match=r"did not answer.*RemoteProtocolError"):
        cohere.relevance(SILENCE, BANKS, 20.0)
    assert len(server.requests) == 2 + ATTEMPTS


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"results": [{"index": 0}]}, r"results\.0\.relevance_score: Field required"),
        (results((0, 0.5)), r"2 passages, and results for \[0\]"),
        (results((0, 0.5), (2, 0.6)), r"2 passages, and results for \[0, 2\]"),
        (results((0, 0.5), (1, 0.6), (1, 0.6)), r"2 passages, and results for \[0, 1, 1\]"),
        (results(("0", 0.5), (1, 0.6)), r"results\.0\.index: .*valid integer"),
        (results((0, "0.5"), (1, 0.6)), r"results\.0\.relevance_score: .*valid number"),
        (results((0, float("nan")), (1, 0.6)), r"results\.0\.relevance_score: .*finite number"),
        (results((0, 0.5), (1, 1.5)), r"results\.1\.relevance_score: .*less than or equal to 1"),
        (results((0, -7.2), (1, 0.6)), r"results\.0\.relevance_score: .*greater than or equal"),
    ],
)
def test_scores_that_make_no_sense_are_reported_and_never_used(
    server: CohereServer, cohere: CohereReranker, body: object, problem: str
) -> None:
    server.then(Reply(200, body))
    with pytest.raises(RerankerUnavailable, match=rf"answer \({problem}.*COHERE_SERVER_URL"):
        cohere.relevance(SILENCE, BANKS[:2], 20.0)
    assert len(server.requests) == 1


def test_an_address_that_cannot_be_one_is_reported() -> None:
    with pytest.raises(ConfigurationError, match=r"COHERE_SERVER_URL=http://localhost:one is no"):
        CohereReranker(MODEL, SecretStr(KEY), "http://localhost:one")


def test_cohere_itself_is_asked_unless_another_server_is_named(
    server: CohereServer, waits: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", server.address)  # which answers that it is none
    reranker = CohereReranker(MODEL, SecretStr(KEY), sleep=waits.append)
    with pytest.raises(RerankerUnavailable, match=f"Cohere at {COHERE_SERVER} did not answer"):
        reranker.relevance(SILENCE, BANKS, 20.0)
    assert server.requests == []


LONGEST = 24  # tokens that the tiny model reads
RULE = "the rule"
RULES = ("the court held", "fish", "that rule held that the rule held", "the court", "rule")
AMPLE = 1000.0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_cross_encoder(tmp_path_factory.mktemp("tiny"), LONGEST)


@pytest.fixture(scope="module")
def reranker(tiny: Path) -> CrossEncoderReranker:
    return CrossEncoderReranker(str(tiny), device="cpu")


@pytest.fixture
def copy(tiny: Path, tmp_path: Path) -> Path:
    """The tiny model in a folder to be spoilt."""
    return shutil.copytree(tiny, tmp_path / "model")


def logit(folder: Path, question: str, text: str) -> float:
    """The output of BERT for one pair alone."""
    import torch
    from transformers import BertForSequenceClassification, BertTokenizer

    encoded = BertTokenizer.from_pretrained(folder)(question, text, return_tensors="pt")
    with torch.inference_mode():
        model = BertForSequenceClassification.from_pretrained(folder).eval()
        return float(model(**encoded).logits[0, 0])


def ticks() -> Callable[[], float]:
    """A clock that is a second further at each look: 0, 1, 2 ..."""
    return map(float, count()).__next__


def test_relevance_is_the_sigmoid_of_the_models_logit(
    tiny: Path, reranker: CrossEncoderReranker
) -> None:
    scores, note = reranker.relevance(RULE, RULES * 4, AMPLE)
    logits = [logit(tiny, RULE, text) for text in RULES]
    # in whichever batch a text stands, but for rounding
    assert scores == pytest.approx([1 / (1 + exp(-value)) for value in logits * 4], abs=1e-4)
    assert len(set(scores[:5])) == 5
    assert (note, reranker.name) == ("", str(tiny))
    anew = CrossEncoderReranker(str(tiny), device="cpu").relevance(RULE, RULES * 4, AMPLE)
    assert anew.scores.tobytes() == scores.tobytes()


def test_the_sigmoid_keeps_large_logits_apart_and_does_not_overflow() -> None:
    assert sigmoid(np.array([0.0, 1.0])) == pytest.approx([1 / 2, 1 / (1 + exp(-1))])
    far = sigmoid(np.array([-2000.0, -20.001, -20.0, 20.0, 20.001, 2000.0]))
    assert (np.diff(far) > 0).all()
    assert (far[0], far[-1]) == (0.0, 1.0)


def test_a_text_longer_than_the_model_reads_is_cut(reranker: CrossEncoderReranker) -> None:
    # [CLS] the rule [SEP] and [SEP] take 5 places
    read = "the court " * ((LONGEST - 5) // 2) + "held"
    scores = reranker.relevance(RULE, [read, f"{read} rule rule", "held"], AMPLE).scores
    assert scores[0] == scores[1] != scores[2]


@pytest.mark.parametrize(("seconds", "batches"), [(3.0, 2), (0.5, 0)])
def test_reading_stops_when_the_time_is_used_up(
    tiny: Path, reranker: CrossEncoderReranker, seconds: float, batches: int
) -> None:
    texts = (RULES * 5)[: 3 * BATCH]
    # looks: 0 to begin, 1 before the first batch, 2 before the second, 3 before the third
    hurried = CrossEncoderReranker(str(tiny), device="cpu", clock=ticks())
    scores, note = hurried.relevance(RULE, texts, seconds)
    full = reranker.relevance(RULE, texts, AMPLE).scores
    assert scores.tolist() == full[: batches * BATCH].tolist()
    assert note.startswith(
        f"{tiny} read {batches * BATCH} of {3 * BATCH} passages in {seconds:g} seconds; the others"
    )
    assert "RERANK_SECONDS" in note


def test_waiting_for_another_thread_counts_as_time(reranker: CrossEncoderReranker) -> None:
    with reranker._lock:
        scores, note = reranker.relevance(RULE, RULES, 0.01)
    assert len(scores) == 0
    assert "read 0 of 5 passages in 0.01 seconds" in note


@pytest.mark.parametrize("activation", ["", "Tanh"])
def test_a_folder_that_sentence_transformers_saved_gives_the_same(
    tiny: Path, tmp_path: Path, reranker: CrossEncoderReranker, activation: str
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    own = {"activation_fn": getattr(torch.nn, activation)()} if activation else {}
    CrossEncoder(str(tiny), device="cpu", **own).save_pretrained(str(tmp_path))
    assert (tmp_path / "modules.json").exists()
    saved = CrossEncoderReranker(str(tmp_path), device="cpu")
    np.testing.assert_array_equal(
        saved.relevance(RULE, RULES, AMPLE).scores, reranker.relevance(RULE, RULES, AMPLE).scores
    )


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no model at all", r"^RERANK_MODEL=no model at all is neither a folder nor .*downloaded"),
        (DEFAULT_MODEL, f"RERANK_MODEL={DEFAULT_MODEL} is not a cross-encoder"),
        ("", r"config\.json cannot be read .*No such file"),
    ],
)
def test_a_name_of_no_cross_encoder_is_reported_at_once(
    tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(MissingModel, match=problem):
        CrossEncoderReranker(name or str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"architectures": None}, "is not a cross-encoder"),
        ({"architectures": []}, "is not a cross-encoder"),
        ({"architectures": ["BertModel"]}, "is not a cross-encoder"),
        (None, r"config\.json cannot be read"),
    ],
)
def test_settings_of_no_cross_encoder_are_reported_at_once(
    copy: Path, settings: dict[str, object] | None, problem: str
) -> None:
    config = copy / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | settings) if settings else "{")
    with pytest.raises(MissingModel, match=problem):
        CrossEncoderReranker(str(copy))


def damage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"no weights")


def give_three_numbers(folder: Path) -> None:
    save_cross_encoder(folder, LONGEST, labels=3)


def enlarge_vocabulary(folder: Path) -> None:
    from transformers import BertTokenizer

    names = [*VOCABULARY, "is", "this", "a", "question", "text"]
    BertTokenizer(vocab={w: number for number, w in enumerate(names)}).save_pretrained(folder)


def give_no_number(folder: Path) -> None:
    from transformers import BertForSequenceClassification

    model = BertForSequenceClassification.from_pretrained(folder)
    model.classifier.bias.data.fill_(float("nan"))
    model.save_pretrained(folder)


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (damage_weights, r"RERANK_MODEL=.* cannot be loaded"),
        (give_three_numbers, "gives 3 numbers for a question and a text"),
        (enlarge_vocabulary, r"RERANK_MODEL cannot be used: .*index out of range"),
        (give_no_number, r"cannot be used: .*gives no number"),
    ],
)
def test_a_model_that_cannot_be_used_is_reported_when_it_is_loaded(
    copy: Path, spoil: Callable[[Path], None], problem: str
) -> None:
    spoil(copy)
    with pytest.raises(MissingModel, match=problem):
        CrossEncoderReranker(str(copy), device="cpu").load()
