"""Local models: a tiny BERT that is made here, and the default model's weights."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingModel, SourceError
from atlas_search.core.settings import Settings
from atlas_search.providers.embedding import DEFAULT_MODEL, NO_LIMIT
from atlas_search.providers.embedding_local import LocalEmbedder, batches
from atlas_search.providers.open import open_embedder
from tests.places import ROOT
from tests.providers.conftest import copy, edit, saved

TEXTS = ("the court held", "that", "the rules that the court held that the rule rules . the court")
Vector = NDArray[np.float32]


def local(folder: Path, **options: Any) -> LocalEmbedder:
    return LocalEmbedder(str(folder), **options)


def unit(vector: Vector) -> Vector:
    return vector / np.linalg.norm(vector)


def token_vectors(plain: Path, text: str) -> Vector:
    """The output of BERT for each token of one text alone."""
    import torch
    from transformers import BertModel, BertTokenizer

    encoded = BertTokenizer.from_pretrained(plain)(text, return_tensors="pt")
    with torch.inference_mode():
        vectors: Vector = (
            BertModel.from_pretrained(plain).eval()(**encoded).last_hidden_state[0].numpy()
        )
        return vectors


def mean(tokens: Vector) -> Vector:
    return np.asarray(tokens.mean(axis=0))


def mean_and_max(tokens: Vector) -> Vector:
    return np.concatenate([tokens.mean(axis=0), tokens.max(axis=0)])


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ("", mean),
        ("mean", mean),
        ("cls", lambda tokens: tokens[0]),
        ("max", lambda tokens: tokens.max(axis=0)),
        ("mean+max", mean_and_max),
    ],
)
def test_a_vector_is_the_tokens_pooled_as_chosen(
    plain: Path, tiny: Path, pooling: str, pool: Callable[[Vector], Vector]
) -> None:
    embedder = local(tiny, pooling=pooling)
    vectors = embedder.embed(TEXTS)
    expected = [unit(pool(token_vectors(plain, text))) for text in TEXTS]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    assert vectors.dtype == np.float32
    assert embedder.info.pooling == (pooling or "mean")
    assert embedder.info.dimension == vectors.shape[1] == (64 if pooling == "mean+max" else 32)


def test_the_models_own_pooling_is_kept(plain: Path, tmp_path: Path) -> None:
    embedder = local(saved(plain, tmp_path, pooling="cls"))
    assert embedder.info.pooling == "cls"
    np.testing.assert_allclose(
        embedder.embed_query(TEXTS[0]), unit(token_vectors(plain, TEXTS[0])[0]), atol=1e-6
    )


def test_pooling_under_a_layer_trained_on_it_cannot_be_changed(plain: Path, tmp_path: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Dense

    folder = saved(plain, tmp_path, Dense(32, 16))
    assert local(folder).embed(TEXTS).shape == (3, 16)
    with pytest.raises(ConfigurationError, match=r"POOLING=cls does not go .*Dense expects"):
        local(folder, pooling="cls")


def test_a_model_without_attention_works_and_has_no_pooling_to_change(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    tokenizer = Tokenizer(WordLevel({"[UNK]": 0, "the": 1, "court": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    modules = [StaticEmbedding(tokenizer, embedding_dim=8)]
    SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path))
    embedder = local(tmp_path)
    assert (embedder.info.dimension, embedder.info.pooling) == (8, "none")
    assert embedder.info.max_tokens == NO_LIMIT
    assert embedder.embed(["the court", "court"]).shape == (2, 8)
    assert embedder.count_tokens(["the court " * 400]) == [800]
    assert embedder.token_spans("the  court") == [(0, 3), (5, 10)]
    with pytest.raises(ConfigurationError, match="StaticEmbedding"):
        local(tmp_path, pooling="mean")


def test_a_folder_of_transformers_alone_is_pooled_by_mean(plain: Path) -> None:
    embedder = local(plain)
    assert (embedder.info.pooling, embedder.info.max_tokens) == ("mean", 40)
    np.testing.assert_allclose(
        embedder.embed(TEXTS[:1])[0], unit(mean(token_vectors(plain, TEXTS[0]))), atol=1e-6
    )
    assert local(plain, pooling="mean").fingerprint == embedder.fingerprint


def test_weights_in_several_files_or_at_half_precision_are_one_model(
    plain: Path, tmp_path: Path
) -> None:
    import torch
    from transformers import BertModel, BertTokenizer

    model = BertModel.from_pretrained(plain)
    model.save_pretrained(tmp_path / "shards", max_shard_size="40KB")
    model.to(torch.bfloat16).save_pretrained(tmp_path / "half")
    for name in ("shards", "half"):
        BertTokenizer.from_pretrained(plain).save_pretrained(tmp_path / name)
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 1
    shards = local(tmp_path / "shards").embed(TEXTS)
    np.testing.assert_array_equal(shards, local(plain).embed(TEXTS))
    half = local(tmp_path / "half").embed(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(half, axis=1), 1.0, atol=1e-6)


def test_prefixes_are_put_before_passages_and_queries(tiny: Path) -> None:
    bare = local(tiny)
    embedder = local(tiny, passage_prefix="passage: ", query_prefix="query: ")
    np.testing.assert_array_equal(embedder.embed(["the court"]), bare.embed(["passage: the court"]))
    np.testing.assert_array_equal(
        embedder.embed_query("the court"), bare.embed_query("query: the court")
    )
    assert bare.count_tokens(["the court"]) == [4]
    assert embedder.count_tokens(["the court"]) == [6]
    assert (embedder.info.passage_prefix, embedder.info.query_prefix) == ("passage: ", "query: ")


ALL_THREE = {"query": "query: ", "document": "", "passage": "passage: "}


@pytest.mark.parametrize(
    ("prompts", "default", "passage", "query"),
    [
        ({"query": "query: ", "document": "passage: "}, None, "passage: ", "query: "),
        (ALL_THREE, None, "passage: ", "query: "),
        ({"query": "query: ", "document": ""}, "query", "", "query: "),
        ({"rule": "rule : "}, "rule", "rule : ", "rule : "),
        ({"rule": "rule : "}, None, "", ""),
    ],
)
def test_a_model_brings_its_own_prefixes(
    tiny: Path, tmp_path: Path, prompts: object, default: object, passage: str, query: str
) -> None:
    folder = copy(tiny, tmp_path / "model")
    edit(folder / "config_sentence_transformers.json", prompts=prompts, default_prompt_name=default)
    own = local(folder)
    set_here = local(tiny, passage_prefix=passage, query_prefix=query)
    assert (own.info.passage_prefix, own.info.query_prefix) == (passage, query)
    np.testing.assert_array_equal(own.embed(TEXTS), set_here.embed(TEXTS))
    np.testing.assert_array_equal(own.embed_query("the rule"), set_here.embed_query("the rule"))
    assert own.fingerprint == set_here.fingerprint
    assert local(folder, passage_prefix="that ").info.passage_prefix == "that "


def test_the_fingerprint_is_of_what_changes_the_vectors_of_passages(
    tiny: Path, tmp_path: Path
) -> None:
    first = local(tiny).fingerprint
    moved = copy(tiny, tmp_path / "moved")
    (moved / "README.md").write_text("Read me.")
    (moved / "onnx").mkdir()
    (moved / "onnx" / "config.json").write_text("{}")
    # as older versions of sentence-transformers write it
    switches = {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    old = {"word_embedding_dimension": 32, "include_prompt": True, **switches}
    older = copy(tiny, tmp_path / "older")
    (older / "1_Pooling" / "config.json").write_text(json.dumps(old))
    for same in (
        local(moved),
        local(moved, pooling="mean"),
        local(moved, query_prefix="query: "),
        local(older),
    ):
        assert same.fingerprint == first
    weights = copy(tiny, tmp_path / "weights") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    tokenizer = copy(tiny, tmp_path / "tokenizer") / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("court", "judge"))
    edit(copy(tiny, tmp_path / "cut") / "tokenizer_config.json", model_max_length=8)
    edit(copy(tiny, tmp_path / "prompt") / "1_Pooling" / "config.json", include_prompt=False)
    assert local(tmp_path / "cut").info.max_tokens == 8
    others = [
        *(local(tmp_path / name) for name in ("weights", "tokenizer", "cut", "prompt")),
        *(local(tiny, pooling=pooling) for pooling in ("cls", "mean+max")),
        local(tiny, passage_prefix="passage: "),
    ]
    assert len({first, *(other.fingerprint for other in others)}) == 1 + len(others)


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
    assert ran.stdout.strip() == local(tiny).fingerprint, ran.stderr


def test_the_spans_of_tokens_are_the_words_of_the_whole_text(tiny: Path) -> None:
    text = "The court  held\n\nthat rules."
    spans = local(tiny, passage_prefix="passage: ").token_spans(text)
    words = ["The", "court", "held", "that", "rule", "s", "."]
    assert [text[start:end] for start, end in spans] == words
    embedder = local(tiny)
    assert embedder.token_spans("") == []
    long = "the court " * 50
    embedder.embed([long])  # this cuts at 40 tokens
    assert embedder.count_tokens([long, "the"]) == [102, 3]
    assert len(embedder.token_spans(long)) == 100
    np.testing.assert_array_equal(embedder.embed([long]), embedder.embed([long + "that"]))


@pytest.mark.thorough
def test_a_tokenizer_without_spans_says_so(tmp_path: Path) -> None:
    from transformers import CanineConfig, CanineModel, CanineTokenizer

    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    CanineModel(CanineConfig(**sizes, intermediate_size=64)).save_pretrained(tmp_path)
    CanineTokenizer().save_pretrained(tmp_path)
    embedder = local(tmp_path)
    assert embedder.count_tokens(["court"]) == [7]
    with pytest.raises(SourceError, match="--chunk-unit"):
        embedder.token_spans("court")


@pytest.mark.parametrize(
    ("lengths", "batches_of"),
    [([3, 9, 4, 9], [[1], [3], [2, 0]]), ([50], [[0]]), ([0, 0], [[0, 1]]), ([], [])],
)
def test_texts_of_like_length_share_a_batch(
    lengths: list[int], batches_of: list[list[int]]
) -> None:
    assert list(batches(lengths, 12)) == batches_of


def test_cuda_is_refused_where_there_is_none(tiny: Path) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has CUDA")
    with pytest.raises(ConfigurationError, match="EMBEDDING_DEVICE=cuda, but PyTorch finds no"):
        _ = local(tiny, device="cuda").info
    np.testing.assert_array_equal(
        local(tiny, device="auto").embed(TEXTS), local(tiny, device="cpu").embed(TEXTS)
    )


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("", r"holds no model\.safetensors"),
        ("no model at all", "neither a folder nor a model that can be downloaded"),
    ],
)
def test_a_name_that_is_no_model_is_reported_with_what_to_do(
    tmp_path: Path, model: str, problem: str
) -> None:
    with pytest.raises(MissingModel, match=problem):
        LocalEmbedder(model or str(tmp_path))


@pytest.mark.parametrize("content", ["{", '{"a": 1}', "[1]"])
def test_a_damaged_list_of_modules_is_reported(tiny: Path, tmp_path: Path, content: str) -> None:
    folder = copy(tiny, tmp_path / "model")
    (folder / "modules.json").write_text(content)
    with pytest.raises(MissingModel, match=r"modules\.json is not"):
        local(folder)


def test_damaged_weights_are_reported_at_first_use(tiny: Path, tmp_path: Path) -> None:
    folder = copy(tiny, tmp_path / "model")
    (folder / "model.safetensors").write_bytes(b"no weights")
    embedder = local(folder)
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
