"""A model exported to ONNX Runtime gives PyTorch's vectors, or is not used."""

import json
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from atlas_search.core.errors import ConfigurationError
from atlas_search.evaluation.carry_out import model_settings
from atlas_search.providers import onnx as exporting
from atlas_search.providers.embedding import DEFAULT_MODEL, Runtime
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.providers.onnx import LEAST_COSINE, NotExported
from tests.embedding_models import copy, edit, plain, saved, tiny

__all__ = ["plain", "tiny"]

TEXTS = ["", "that", "  the court held ", "the rules that the court held . " * 9, "query : rule"]


def opened(model: object, exports: Path, runtime: Runtime = "onnxruntime", **options: object):
    return LocalEmbedder(str(model), runtime=runtime, exports=exports, **options)  # type: ignore[arg-type]


def exports_in(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.name != ".lock"]


@pytest.mark.parametrize("pooling", ["", "cls", "mean+max"])
def test_the_export_gives_the_vectors_of_pytorch(tiny: Path, tmp_path: Path, pooling) -> None:
    ours = opened(tiny, tmp_path, pooling=pooling, passage_prefix="passage : ")
    theirs = opened(tiny, tmp_path, "torch", pooling=pooling, passage_prefix="passage : ")
    np.testing.assert_allclose(ours.embed(TEXTS), theirs.embed(TEXTS), atol=1e-6)
    for text in TEXTS:
        np.testing.assert_allclose(ours.embed_query(text), theirs.embed_query(text), atol=1e-6)
        assert ours.token_spans(text) == theirs.token_spans(text)
    assert ours.count_tokens(TEXTS) == theirs.count_tokens(TEXTS)
    assert ours.fingerprint == theirs.fingerprint
    assert (ours.info.dimension, ours.info.pooling, ours.info.max_tokens) == (
        theirs.info.dimension,
        theirs.info.pooling,
        theirs.info.max_tokens,
    )
    assert ours.info.runtime.startswith("onnxruntime ")
    assert theirs.info.runtime.startswith("torch ")
    assert theirs.info.runtime.endswith(" on cpu")


def test_the_default_model_is_the_same_in_both(embedder: LocalEmbedder) -> None:
    torch = LocalEmbedder(DEFAULT_MODEL)
    texts = ["Who spoke of wages in 1926?", "Fähre über den Fluß", "wages " * 400]
    np.testing.assert_allclose(embedder.embed(texts), torch.embed(texts), atol=2e-6)
    assert embedder.count_tokens(texts) == torch.count_tokens(texts)


def test_a_vector_of_few_texts_depends_on_its_text_alone(embedder: LocalEmbedder) -> None:
    texts = ["Wages.", "Who spoke of the wages of miners in 1926?", "wages and hours " * 30, ""]
    together = embedder.embed(texts)
    for row, text in enumerate(texts):
        assert np.array_equal(embedder.embed([text])[0], together[row])
    assert embedder.embed([]).shape == (0, 384)


def test_many_texts_have_the_vectors_of_few(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["Wages.", "Who spoke of the wages of miners in 1926?", "wages and hours " * 30]
    few = embedder.embed(texts)
    monkeypatch.setattr(exporting, "FEW", 0)
    np.testing.assert_allclose(embedder.embed(texts), few, atol=1e-6)


def test_it_is_exported_once_and_opened_without_pytorch(tiny: Path, tmp_path: Path) -> None:
    first = opened(tiny, tmp_path).embed_query("the court")
    (folder,) = exports_in(tmp_path)
    before = (folder / "model.onnx").stat().st_mtime_ns
    script = f"""
import sys
from pathlib import Path
from atlas_search.providers.embedding_local import LocalEmbedder
model = LocalEmbedder({str(tiny)!r}, runtime="auto", exports=Path({str(tmp_path)!r}))
print(model.embed_query("the court").tolist())
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""
    said = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    np.testing.assert_allclose(json.loads(said[0]), first, atol=1e-6)
    assert said[1] == "[]"
    assert (folder / "model.onnx").stat().st_mtime_ns == before


def test_many_threads_and_folders_share_an_export(tiny: Path, tmp_path: Path) -> None:
    models = [opened(copy(tiny, tmp_path / str(number)), tmp_path / "ex") for number in range(3)]
    with ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(lambda at: models[at % 3].embed_query("the court"), range(30)))
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)
    assert len(exports_in(tmp_path / "ex")) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("model.onnx", b"no model"),
        ("about.json", b"{"),
        ("about.json", b"{}"),
        ("about.json", b"[]"),
        ("tokenizer.json", b"{"),
        ("tokenizer.json", None),
        ("model.onnx", None),
    ],
)
def test_a_damaged_export_is_made_anew(
    tiny: Path, tmp_path: Path, name: str, content: bytes | None
) -> None:
    first = opened(tiny, tmp_path).embed_query("the court")
    (folder,) = exports_in(tmp_path)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    again = opened(tiny, tmp_path)
    assert np.array_equal(again.embed_query("the court"), first)
    assert exports_in(tmp_path) == [folder]
    assert (
        json.loads((folder / "about.json").read_text())["lowest_cosine"] >= LEAST_COSINE["float32"]
    )


def test_what_a_killed_export_left_goes(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / ".staged").mkdir()
    (tmp_path / ".staged" / "model.onnx").write_bytes(b"half")
    assert opened(tiny, tmp_path).info.runtime.startswith("onnxruntime ")
    assert len(exports_in(tmp_path)) == 1


def test_another_model_or_pooling_is_another_export(tiny: Path, tmp_path: Path) -> None:
    changed = copy(tiny, tmp_path / "changed")
    edit(changed / "tokenizer_config.json", model_max_length=7)
    exports = tmp_path / "exports"
    opened(tiny, exports).embed_query("a")
    opened(changed, exports).embed_query("a")
    opened(tiny, exports, pooling="cls").embed_query("a")
    assert len(exports_in(exports)) == 3


def test_what_gives_other_vectors_is_not_used(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(exporting.LEAST_COSINE, "float32", 1.1)
    with caplog.at_level(logging.WARNING):
        model = opened(tiny, tmp_path / "exports", "auto")
        assert model.info.runtime.startswith("torch ")
    (told,) = caplog.messages
    assert "runs in PyTorch, not in ONNX Runtime: its vectors are others (lowest cosine" in told
    with pytest.raises(ConfigurationError, match="EMBEDDING_RUNTIME=onnxruntime does not go with"):
        opened(tiny, tmp_path / "exports").embed_query("a")
    assert exports_in(tmp_path / "exports") == []


def test_a_model_that_no_graph_holds_stays_in_pytorch(
    plain: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from sentence_transformers.sentence_transformer.modules import LayerNorm

    folder = saved(plain, tmp_path / "model", LayerNorm(32))
    model = opened(folder, tmp_path / "exports", "auto")
    assert model.embed_query("the court").shape == (32,)
    assert model.info.runtime.startswith("torch ")
    assert "it has a module of the kind LayerNorm" in caplog.text


def test_where_nothing_can_be_written_it_stays_in_pytorch(
    tiny: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert opened(tiny, tmp_path / "file", "auto").info.runtime.startswith("torch ")
    assert "runs in PyTorch, not in ONNX Runtime" in caplog.text
    with pytest.raises(ConfigurationError, match="onnxruntime"):
        opened(tiny, tmp_path / "file").embed_query("a")


def test_a_reason_reads_as_a_sentence() -> None:
    assert str(NotExported("its tokens are others")) == "its tokens are others"


def test_rounded_weights_give_vectors_near_those_of_pytorch_and_of_their_own(
    tmp_path: Path, embedder: LocalEmbedder
) -> None:
    rounded = opened(DEFAULT_MODEL, tmp_path, "int8")
    texts = [
        "Who spoke of wages in 1926?",
        "Fähre über den Fluß",
        "The court held that a search without a warrant is unlawful. " * 8,
    ]
    near = [float(a @ b) for a, b in zip(rounded.embed(texts), embedder.embed(texts), strict=True)]
    near += [float(rounded.embed_query(t) @ embedder.embed_query(t)) for t in texts]
    assert 0.98 < min(near) < 0.99999
    assert rounded.fingerprint != embedder.fingerprint
    assert rounded.count_tokens(texts) == embedder.count_tokens(texts)
    assert rounded.info.runtime.endswith(" int8")
    assert not embedder.info.runtime.endswith(" int8")
    (folder,) = exports_in(tmp_path)
    assert not (folder / "exact.onnx").exists()
    assert (folder / "model.onnx").stat().st_size < 30_000_000
    again = opened(DEFAULT_MODEL, tmp_path, "int8")
    np.testing.assert_array_equal(again.embed_query(texts[0]), rounded.embed_query(texts[0]))
    assert model_settings(rounded.info)["embedding_runtime"] == "int8"


def test_rounded_and_exact_exports_are_kept_beside_each_other(tiny: Path, tmp_path: Path) -> None:
    exact = opened(tiny, tmp_path).embed_query("the court")
    rounded = opened(tiny, tmp_path, "int8").embed_query("the court")
    assert len(exports_in(tmp_path)) == 2
    assert not np.array_equal(exact, rounded)
    np.testing.assert_array_equal(opened(tiny, tmp_path).embed_query("the court"), exact)


def test_rounded_weights_do_not_run_on_a_gpu(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_RUNTIME=int8 runs on a CPU"):
        opened(tiny, tmp_path, "int8", device="cuda")
