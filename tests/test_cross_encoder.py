"""Cross-encoders: a tiny one that is made here, loaded as any other."""

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import exp
from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.errors import MissingModel
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.search.rerankers import BATCH, CrossEncoderReranker, sigmoid

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] the court held that rule fish".split()
LONGEST = 24
QUESTION = "the rule"
TEXTS = ("the court held", "fish", "that rule held that the rule held", "the court", "rule")
AMPLE = 1000.0


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with random weights that scores pairs, as transformers saves it."""
    return made(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def reranker(tiny: Path) -> CrossEncoderReranker:
    return CrossEncoderReranker(str(tiny), device="cpu")


def made(folder: Path, labels: int = 1) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        num_labels=labels,
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    words = {word: number for number, word in enumerate(VOCABULARY)}
    BertTokenizer(vocab=words).save_pretrained(folder)
    return folder


def logit(folder: Path, question: str, text: str) -> float:
    """What BERT gives for one pair alone."""
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
    scores, note = reranker.relevance(QUESTION, TEXTS, AMPLE)
    logits = [logit(tiny, QUESTION, text) for text in TEXTS]
    assert scores == pytest.approx([1 / (1 + exp(-value)) for value in logits], abs=1e-4)
    assert len(set(scores)) == len(TEXTS)
    assert note == ""


def test_the_sigmoid_keeps_large_logits_apart_and_does_not_overflow() -> None:
    assert sigmoid(np.array([0.0, 1.0])) == pytest.approx([1 / 2, 1 / (1 + exp(-1))])
    far = sigmoid(np.array([-2000.0, -20.001, -20.0, 20.0, 20.001, 2000.0]))
    assert (np.diff(far) > 0).all()
    assert (far[0], far[-1]) == (0.0, 1.0)


def test_the_model_is_named_as_it_was_chosen(tiny: Path, reranker: CrossEncoderReranker) -> None:
    assert reranker.name == str(tiny)


def test_the_same_texts_get_the_same_relevance(tiny: Path, reranker: CrossEncoderReranker) -> None:
    texts = TEXTS * 4
    first = reranker.relevance(QUESTION, texts, AMPLE).scores
    again = CrossEncoderReranker(str(tiny), device="cpu").relevance(QUESTION, texts, AMPLE).scores
    assert first.tobytes() == again.tobytes()
    # in whichever batch a text stands, but for rounding
    assert first.tolist() == pytest.approx(first[: len(TEXTS)].tolist() * 4, abs=1e-4)


def test_threads_do_not_disturb_each_other(reranker: CrossEncoderReranker) -> None:
    questions = [f"the {word}" for word in VOCABULARY[5:]]
    alone = [reranker.relevance(question, TEXTS, AMPLE).scores for question in questions]
    with ThreadPoolExecutor(len(questions)) as pool:
        together = pool.map(lambda q: reranker.relevance(q, TEXTS, AMPLE).scores, questions)
        np.testing.assert_array_equal(list(together), alone)


def test_a_text_longer_than_the_model_reads_is_cut(reranker: CrossEncoderReranker) -> None:
    # [CLS] the rule [SEP] and [SEP] take 5 places
    read = "the court " * ((LONGEST - 5) // 2) + "held"
    scores = reranker.relevance(QUESTION, [read, f"{read} fish fish", "held"], AMPLE).scores
    assert scores[0] == scores[1] != scores[2]


def test_reading_stops_when_the_time_is_used_up(tiny: Path, reranker: CrossEncoderReranker) -> None:
    texts = (TEXTS * 5)[: 3 * BATCH]
    # looks: 0 to begin, 1 before the first batch, 2 before the second, 3 before the third
    hurried = CrossEncoderReranker(str(tiny), device="cpu", clock=ticks())
    scores, note = hurried.relevance(QUESTION, texts, 3.0)
    full = reranker.relevance(QUESTION, texts, AMPLE).scores
    assert scores.tolist() == full[: 2 * BATCH].tolist()
    assert note.startswith(
        f"{tiny} read {2 * BATCH} of {3 * BATCH} passages in 3 seconds; the others follow"
    )
    assert "RERANK_SECONDS" in note


def test_without_any_time_nothing_is_read(tiny: Path) -> None:
    hurried = CrossEncoderReranker(str(tiny), device="cpu", clock=ticks())
    scores, note = hurried.relevance(QUESTION, TEXTS, 0.5)
    assert (scores.shape, scores.dtype) == ((0,), np.float64)
    assert "read 0 of 5 passages in 0.5 seconds" in note


def test_waiting_for_another_thread_counts_as_time(reranker: CrossEncoderReranker) -> None:
    with reranker._lock:
        scores, note = reranker.relevance(QUESTION, TEXTS, 0.01)
    assert len(scores) == 0
    assert "read 0 of 5 passages in 0.01 seconds" in note


def test_nothing_to_read_is_read_in_no_time(reranker: CrossEncoderReranker) -> None:
    assert reranker.relevance(QUESTION, [], 0.0).scores.shape == (0,)
    assert reranker.relevance(QUESTION, [], 0.0).note == ""


def test_a_folder_that_sentence_transformers_saved_gives_the_same(
    tiny: Path, tmp_path: Path, reranker: CrossEncoderReranker
) -> None:
    from sentence_transformers import CrossEncoder

    CrossEncoder(str(tiny), device="cpu").save_pretrained(str(tmp_path))
    saved = CrossEncoderReranker(str(tmp_path), device="cpu")
    assert (tmp_path / "modules.json").exists()
    np.testing.assert_array_equal(
        saved.relevance(QUESTION, TEXTS, AMPLE).scores,
        reranker.relevance(QUESTION, TEXTS, AMPLE).scores,
    )


def test_a_model_that_was_saved_with_an_activation_of_its_own_gives_the_same(
    tiny: Path, tmp_path: Path, reranker: CrossEncoderReranker
) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    own = CrossEncoder(str(tiny), device="cpu", activation_fn=torch.nn.Tanh())
    own.save_pretrained(str(tmp_path))
    np.testing.assert_array_equal(
        CrossEncoderReranker(str(tmp_path), device="cpu").relevance(QUESTION, TEXTS, 9.0).scores,
        reranker.relevance(QUESTION, TEXTS, AMPLE).scores,
    )


def test_a_name_that_is_no_model_is_reported_at_once() -> None:
    with pytest.raises(
        MissingModel, match=r"^RERANK_MODEL=no model at all is neither a folder nor .*downloaded"
    ):
        CrossEncoderReranker("no model at all")


def test_a_folder_without_a_model_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match=r"config\.json cannot be read .*No such file"):
        CrossEncoderReranker(str(tmp_path))


def test_an_embedding_model_is_not_taken_for_a_cross_encoder() -> None:
    with pytest.raises(MissingModel, match=f"RERANK_MODEL={DEFAULT_MODEL} is no cross-encoder"):
        CrossEncoderReranker(DEFAULT_MODEL)


@pytest.mark.parametrize("architectures", [None, [], ["BertModel"]])
def test_a_model_without_a_layer_for_pairs_is_not_taken_for_a_cross_encoder(
    tiny: Path, tmp_path: Path, architectures: object
) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
    with pytest.raises(MissingModel, match="is no cross-encoder"):
        CrossEncoderReranker(str(folder))


def test_damaged_settings_are_reported_at_once(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    (folder / "config.json").write_text("{")
    with pytest.raises(MissingModel, match=r"config\.json cannot be read"):
        CrossEncoderReranker(str(folder))


def test_damaged_weights_are_reported_when_the_model_is_loaded(tiny: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(MissingModel, match=r"RERANK_MODEL=.* cannot be loaded"):
        CrossEncoderReranker(str(folder)).load()


def test_a_model_that_gives_several_numbers_is_reported_when_loaded(tmp_path: Path) -> None:
    reranker = CrossEncoderReranker(str(made(tmp_path, labels=3)), device="cpu")
    with pytest.raises(MissingModel, match="gives 3 numbers for a question and a text"):
        reranker.load()


def test_a_tokenizer_that_does_not_fit_is_reported_when_the_model_is_loaded(
    tiny: Path, tmp_path: Path
) -> None:
    from transformers import BertTokenizer

    folder = shutil.copytree(tiny, tmp_path / "model")
    words = [*VOCABULARY, "is", "this", "a", "question", "text"]
    BertTokenizer(vocab={w: number for number, w in enumerate(words)}).save_pretrained(folder)
    with pytest.raises(MissingModel, match=r"RERANK_MODEL cannot be used: .*index out of range"):
        CrossEncoderReranker(str(folder), device="cpu").load()


def test_weights_that_give_no_number_are_reported_when_the_model_is_loaded(
    tiny: Path, tmp_path: Path
) -> None:
    from transformers import BertForSequenceClassification

    folder = shutil.copytree(tiny, tmp_path / "model")
    model = BertForSequenceClassification.from_pretrained(folder)
    model.classifier.bias.data.fill_(float("nan"))
    model.save_pretrained(folder)
    with pytest.raises(MissingModel, match=r"cannot be used: .*gives no number"):
        CrossEncoderReranker(str(folder), device="cpu").load()
