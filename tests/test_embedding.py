"""Local models: a tiny BERT that is made here, and the default model's weights."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingModel, SourceError
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import DEFAULT_MODEL, NO_LIMIT
from atlas_search.providers.embedding_local import LocalEmbedder, batches
from atlas_search.providers.open import open_embedder
from tests.embedding_models import copy, edit, plain, saved, tiny
from tests.places import ROOT

__all__ = ["plain", "tiny"]

TEXTS = ("the court held", "that", "the rules that the court held that the rule rules . the court")


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / np.linalg.norm(vector)


def token_vectors(plain: Path, text: str) -> NDArray[np.float32]:
    """What BERT gives for each token of one text alone."""
    import torch
    from transformers import BertModel, BertTokenizer

    encoded = BertTokenizer.from_pretrained(plain)(text, return_tensors="pt")
    with torch.inference_mode():
        return BertModel.from_pretrained(plain).eval()(**encoded).last_hidden_state[0].numpy()


def test_a_folder_says_what_its_model_is(tiny: Path) -> None:
    info = LocalEmbedder(str(tiny)).info
    assert (info.name, info.provider) == (str(tiny), "local")
    assert (info.dimension, info.pooling, info.max_tokens) == (32, "mean", 40)
    assert (info.passage_prefix, info.query_prefix) == ("", "")
    assert len(info.digest) == 64


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ("", lambda tokens: tokens.mean(axis=0)),
        ("mean", lambda tokens: tokens.mean(axis=0)),
        ("cls", lambda tokens: tokens[0]),
        ("max", lambda tokens: tokens.max(axis=0)),
        ("mean+max", lambda tokens: np.concatenate([tokens.mean(axis=0), tokens.max(axis=0)])),
    ],
)
def test_a_vector_is_the_tokens_pooled_as_asked(plain: Path, tiny: Path, pooling, pool) -> None:
    embedder = LocalEmbedder(str(tiny), pooling=pooling)
    vectors = embedder.embed(TEXTS)
    expected = [unit(pool(token_vectors(plain, text))) for text in TEXTS]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert embedder.info.pooling == (pooling or "mean")
    assert embedder.info.dimension == vectors.shape[1] == (64 if pooling == "mean+max" else 32)


def test_the_models_own_pooling_is_kept(plain: Path, tmp_path: Path) -> None:
    embedder = LocalEmbedder(str(saved(plain, tmp_path, pooling="cls")))
    assert embedder.info.pooling == "cls"
    np.testing.assert_allclose(
        embedder.embed_query(TEXTS[0]), unit(token_vectors(plain, TEXTS[0])[0]), atol=1e-6
    )


def test_pooling_under_a_layer_trained_on_it_cannot_be_changed(plain: Path, tmp_path: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Dense

    folder = saved(plain, tmp_path, Dense(32, 16))
    assert LocalEmbedder(str(folder)).embed(TEXTS).shape == (3, 16)
    with pytest.raises(ConfigurationError, match=r"POOLING=cls does not go .*Dense expects"):
        LocalEmbedder(str(folder), pooling="cls")


def test_a_model_without_attention_works_and_has_no_pooling_to_change(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = {"[UNK]": 0, "the": 1, "court": 2}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    modules = [StaticEmbedding(tokenizer, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path))
    embedder = LocalEmbedder(str(tmp_path))
    assert (embedder.info.dimension, embedder.info.pooling) == (8, "none")
    assert embedder.info.max_tokens == NO_LIMIT
    assert embedder.embed(["the court", "court"]).shape == (2, 8)
    assert embedder.count_tokens(["the court " * 400]) == [800]
    assert embedder.token_spans("the  court") == [(0, 3), (5, 10)]
    with pytest.raises(ConfigurationError, match="StaticEmbedding"):
        LocalEmbedder(str(tmp_path), pooling="mean")


def test_a_folder_of_transformers_alone_is_pooled_by_mean(plain: Path) -> None:
    embedder = LocalEmbedder(str(plain))
    assert (embedder.info.pooling, embedder.info.max_tokens) == ("mean", 40)
    np.testing.assert_allclose(
        embedder.embed(TEXTS[:1])[0], unit(token_vectors(plain, TEXTS[0]).mean(axis=0)), atol=1e-6
    )
    assert LocalEmbedder(str(plain), pooling="mean").fingerprint == embedder.fingerprint


def test_weights_in_several_files_are_one_model(plain: Path, tmp_path: Path) -> None:
    from transformers import BertModel, BertTokenizer

    BertModel.from_pretrained(plain).save_pretrained(tmp_path, max_shard_size="40KB")
    BertTokenizer.from_pretrained(plain).save_pretrained(tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    np.testing.assert_array_equal(
        LocalEmbedder(str(tmp_path)).embed(TEXTS), LocalEmbedder(str(plain)).embed(TEXTS)
    )


def test_prefixes_are_put_before_passages_and_queries(tiny: Path) -> None:
    bare = LocalEmbedder(str(tiny))
    embedder = LocalEmbedder(str(tiny), passage_prefix="passage: ", query_prefix="query: ")
    np.testing.assert_array_equal(embedder.embed(["the court"]), bare.embed(["passage: the court"]))
    np.testing.assert_array_equal(
        embedder.embed_query("the court"), bare.embed_query("query: the court")
    )
    assert bare.count_tokens(["the court"]) == [4]
    assert embedder.count_tokens(["the court"]) == [6]
    assert (embedder.info.passage_prefix, embedder.info.query_prefix) == ("passage: ", "query: ")


@pytest.mark.parametrize(
    ("prompts", "default", "passage", "query"),
    [
        ({"query": "query: ", "document": "passage: "}, None, "passage: ", "query: "),
        (
            {"query": "query: ", "document": "", "passage": "passage: "},
            None,
            "passage: ",
            "query: ",
        ),
        ({"query": "query: ", "document": ""}, "query", "", "query: "),
        ({"rule": "rule : "}, "rule", "rule : ", "rule : "),
        ({"rule": "rule : "}, None, "", ""),
    ],
)
def test_a_model_brings_its_own_prefixes(
    tiny: Path, tmp_path: Path, prompts, default, passage, query
) -> None:
    folder = copy(tiny, tmp_path / "model")
    edit(folder / "config_sentence_transformers.json", prompts=prompts, default_prompt_name=default)
    own = LocalEmbedder(str(folder))
    set_here = LocalEmbedder(str(tiny), passage_prefix=passage, query_prefix=query)
    assert (own.info.passage_prefix, own.info.query_prefix) == (passage, query)
    np.testing.assert_array_equal(own.embed(TEXTS), set_here.embed(TEXTS))
    np.testing.assert_array_equal(own.embed_query("the rule"), set_here.embed_query("the rule"))
    assert own.fingerprint == set_here.fingerprint
    assert LocalEmbedder(str(folder), passage_prefix="that ").info.passage_prefix == "that "


def test_the_fingerprint_is_of_what_changes_the_vectors_of_passages(
    tiny: Path, tmp_path: Path
) -> None:
    first = LocalEmbedder(str(tiny)).fingerprint
    moved = copy(tiny, tmp_path / "moved")
    (moved / "README.md").write_text("Read me.")
    (moved / "onnx").mkdir()
    (moved / "onnx" / "config.json").write_text("{}")
    assert LocalEmbedder(str(moved)).fingerprint == first
    assert LocalEmbedder(str(moved), pooling="mean").fingerprint == first
    assert LocalEmbedder(str(moved), query_prefix="query: ").fingerprint == first
    others = {
        LocalEmbedder(str(moved), pooling="cls").fingerprint,
        LocalEmbedder(str(moved), pooling="mean+max").fingerprint,
        LocalEmbedder(str(moved), passage_prefix="passage: ").fingerprint,
    }
    assert len(others | {first}) == 4


def test_the_fingerprint_is_of_weights_tokenizer_and_cut(tiny: Path, tmp_path: Path) -> None:
    weights = copy(tiny, tmp_path / "weights") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    tokenizer = copy(tiny, tmp_path / "tokenizer") / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("court", "judge"))
    edit(copy(tiny, tmp_path / "cut") / "tokenizer_config.json", model_max_length=8)
    edit(copy(tiny, tmp_path / "prompt") / "1_Pooling" / "config.json", include_prompt=False)
    assert LocalEmbedder(str(tmp_path / "cut")).info.max_tokens == 8
    folders = [tiny, *tmp_path.iterdir()]
    assert len({LocalEmbedder(str(folder)).fingerprint for folder in folders}) == 5


def test_older_folders_name_the_same_pooling_in_switches(tiny: Path, tmp_path: Path) -> None:
    folder = copy(tiny, tmp_path / "old")
    switches = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    old = {"word_embedding_dimension": 32, "include_prompt": True, **switches}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(old))
    assert LocalEmbedder(str(folder)).fingerprint == LocalEmbedder(str(tiny)).fingerprint
    assert LocalEmbedder(str(folder)).info.pooling == "mean"


def test_a_fingerprint_costs_no_import_of_torch(tiny: Path) -> None:
    code = (
        "import sys\n"
        "from atlas_search.providers.open import open_embedder\n"
        "from atlas_search.core.settings import Settings\n"
        f"print(open_embedder(Settings(embedding_model={str(tiny)!r})).fingerprint)\n"
        "assert not {'torch', 'transformers', 'sentence_transformers'} & set(sys.modules)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ran.stdout.strip() == LocalEmbedder(str(tiny)).fingerprint, ran.stderr


def test_the_spans_of_tokens_are_the_words_of_the_text(tiny: Path) -> None:
    text = "The court  held\n\nthat rules."
    spans = LocalEmbedder(str(tiny), passage_prefix="passage: ").token_spans(text)
    words = ["The", "court", "held", "that", "rule", "s", "."]
    assert [text[start:end] for start, end in spans] == words
    assert LocalEmbedder(str(tiny)).token_spans("") == []


def test_spans_and_counts_are_those_of_the_whole_text(tiny: Path) -> None:
    embedder = LocalEmbedder(str(tiny))
    text = "the court " * 50
    embedder.embed([text])  # this cuts at 40 tokens
    assert embedder.count_tokens([text, "the"]) == [102, 3]
    assert len(embedder.token_spans(text)) == 100
    np.testing.assert_array_equal(embedder.embed([text]), embedder.embed([text + "that"]))


def test_a_tokenizer_without_spans_says_so(tmp_path: Path) -> None:
    from transformers import CanineConfig, CanineModel, CanineTokenizer

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    CanineModel(CanineConfig(**sizes, intermediate_size=64)).save_pretrained(tmp_path)
    CanineTokenizer().save_pretrained(tmp_path)
    embedder = LocalEmbedder(str(tmp_path))
    assert embedder.count_tokens(["court"]) == [7]
    with pytest.raises(SourceError, match="--chunk-unit"):
        embedder.token_spans("court")


def test_the_order_of_vectors_is_that_of_the_texts(tiny: Path) -> None:
    embedder = LocalEmbedder(str(tiny))
    vectors = embedder.embed(TEXTS)
    for vector, text in zip(vectors, TEXTS, strict=True):
        np.testing.assert_allclose(vector, embedder.embed_query(text), atol=1e-6)
    assert embedder.embed(TEXTS).tobytes() == vectors.tobytes()
    assert embedder.embed([]).shape == (0, 32)
    assert embedder.count_tokens([]) == []


def test_texts_of_like_length_share_a_batch() -> None:
    assert list(batches([3, 9, 4, 9], 12)) == [[1], [3], [2, 0]]
    assert list(batches([50], 12)) == [[0]]
    assert list(batches([0, 0], 12)) == [[0, 1]]
    assert list(batches([], 12)) == []


def test_several_threads_may_use_a_model_from_the_start(tiny: Path) -> None:
    embedder = LocalEmbedder(str(tiny))
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, ["the court"] * 8))
        counts = list(pool.map(lambda text: embedder.count_tokens([text]), TEXTS))
    assert {vector.tobytes() for vector in vectors} == {vectors[0].tobytes()}
    assert counts == [[5], [3], [17]]


def test_cuda_is_refused_where_there_is_none(tiny: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(ConfigurationError, match="EMBEDDING_DEVICE=cuda, but PyTorch finds no"):
        _ = LocalEmbedder(str(tiny), device="cuda").info
    np.testing.assert_array_equal(
        LocalEmbedder(str(tiny), device="auto").embed(TEXTS),
        LocalEmbedder(str(tiny), device="cpu").embed(TEXTS),
    )


def test_half_precision_weights_are_used_in_full_precision(plain: Path, tmp_path: Path) -> None:
    import torch
    from transformers import BertModel, BertTokenizer

    BertModel.from_pretrained(plain).to(torch.bfloat16).save_pretrained(tmp_path)
    BertTokenizer.from_pretrained(plain).save_pretrained(tmp_path)
    vectors = LocalEmbedder(str(tmp_path)).embed(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_a_folder_without_weights_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match=r"holds no model\.safetensors"):
        LocalEmbedder(str(tmp_path))


def test_a_name_that_is_no_model_is_reported_with_what_to_do() -> None:
    with pytest.raises(MissingModel, match="neither a folder nor a model that can be downloaded"):
        LocalEmbedder("no model at all")


@pytest.mark.parametrize("content", ["{", '{"a": 1}', "[1]"])
def test_a_damaged_list_of_modules_is_reported(tiny: Path, tmp_path: Path, content: str) -> None:
    folder = copy(tiny, tmp_path / "model")
    (folder / "modules.json").write_text(content)
    with pytest.raises(MissingModel, match=r"modules\.json is not"):
        LocalEmbedder(str(folder))


def test_damaged_weights_are_reported_at_first_use(tiny: Path, tmp_path: Path) -> None:
    folder = copy(tiny, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    embedder = LocalEmbedder(str(folder))
    with pytest.raises(MissingModel, match="cannot be loaded"):
        embedder.embed(TEXTS)


def test_the_default_models_weights_are_those_published(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LocalEmbedder(DEFAULT_MODEL).fingerprint
    monkeypatch.setattr("atlas_search.providers.embedding_local.find_folder", lambda _name: tiny)
    with pytest.raises(MissingModel, match=r"have SHA-256 .* not the published"):
        LocalEmbedder(DEFAULT_MODEL)


def test_the_settings_choose_a_local_model(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().embedding_model == DEFAULT_MODEL
    monkeypatch.setenv("EMBEDDING_MODEL", str(tiny))
    monkeypatch.setenv("POOLING", "mean+max")
    monkeypatch.setenv("EMBEDDING_QUERY_PREFIX", "query: ")
    monkeypatch.setenv("EMBEDDING_PASSAGE_PREFIX", "passage: ")
    monkeypatch.setenv("EMBEDDING_DEVICE", "cpu")
    info = open_embedder(Settings()).info
    assert (info.name, info.pooling, info.dimension) == (str(tiny), "mean+max", 64)
    assert (info.passage_prefix, info.query_prefix) == ("passage: ", "query: ")
