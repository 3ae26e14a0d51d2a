"""A model exported to ONNX Runtime gives PyTorch's vectors, or is not used."""

import json
import logging
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atlas_search.core.errors import ConfigurationError
from atlas_search.evaluation.carry_out import model_settings
from atlas_search.providers import onnx as exporting
from atlas_search.providers.embedding import DEFAULT_MODEL, Runtime
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.providers.onnx import LEAST_COSINE
from tests.providers.conftest import copy, edit, saved

TEXTS = ["", "that", "  the court held ", "the rules that the court held . " * 9, "query : rule"]
MINERS = ["Wages.", "Who spoke of the wages of miners in 1926?", "wages and hours " * 30, ""]


def opened(
    model: object, exports: Path, runtime: Runtime = "onnxruntime", **options: Any
) -> LocalEmbedder:
    return LocalEmbedder(str(model), runtime=runtime, exports=exports, **options)


def exports_in(folder: Path) -> list[Path]:
    return [each for each in folder.iterdir() if each.name != ".lock"]


@pytest.fixture(scope="module")
def exported(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the export of the tiny model."""
    folder = tmp_path_factory.mktemp("exported")
    opened(tiny, folder).embed_query("the court")
    return folder


@pytest.fixture
def exports(exported: Path, tmp_path: Path) -> Path:
    return shutil.copytree(exported, tmp_path / "exports")


@pytest.mark.parametrize(
    "pooling",
    ["", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("cls", "mean+max"))],
)
def test_the_export_gives_the_vectors_of_pytorch(tiny: Path, tmp_path: Path, pooling: str) -> None:
    ours, theirs = (
        opened(tiny, tmp_path, runtime, pooling=pooling, passage_prefix="passage : ")
        for runtime in ("onnxruntime", "torch")
    )
    np.testing.assert_allclose(ours.embed(TEXTS), theirs.embed(TEXTS), atol=1e-6)
    for text in TEXTS:
        np.testing.assert_allclose(ours.embed_query(text), theirs.embed_query(text), atol=1e-6)
        assert ours.token_spans(text) == theirs.token_spans(text)
    assert ours.count_tokens(TEXTS) == theirs.count_tokens(TEXTS)
    assert ours.fingerprint == theirs.fingerprint
    for name in ("dimension", "pooling", "max_tokens"):
        assert getattr(ours.info, name) == getattr(theirs.info, name)
    assert ours.info.runtime.startswith("onnxruntime ")
    assert theirs.info.runtime.startswith("torch ")
    assert theirs.info.runtime.endswith(" on cpu")


def test_the_default_model_is_the_same_in_both(embedder: LocalEmbedder) -> None:
    torch = LocalEmbedder(DEFAULT_MODEL)
    texts = ["Who spoke of wages in 1926?", "Fähre über den Fluß", "wages " * 400]
    np.testing.assert_allclose(embedder.embed(texts), torch.embed(texts), atol=2e-6)
    assert embedder.count_tokens(texts) == torch.count_tokens(texts)


def test_a_vector_of_few_texts_depends_on_its_text_alone(
    embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = embedder.embed(MINERS)
    for row, text in enumerate(MINERS):
        assert np.array_equal(embedder.embed([text])[0], together[row])
    assert embedder.embed([]).shape == (0, 384)
    monkeypatch.setattr(exporting, "FEW", 0)
    np.testing.assert_allclose(embedder.embed(MINERS), together, atol=1e-6)


def test_threads_that_embed_bring_no_threads_of_their_own(embedder: LocalEmbedder) -> None:
    def threads_of_this_process() -> int:
        return len(list(Path("/proc/self/task").iterdir()))

    callers = 16
    embedder.embed_query("The first call starts what stays.")
    before = threads_of_this_process()
    together = threading.Barrier(callers)

    def embed(number: int) -> None:
        together.wait(20)
        embedder.embed_query(f"Question {number}")

    with ThreadPoolExecutor(callers) as executor:
        list(executor.map(embed, range(callers)))
        assert threads_of_this_process() - before <= callers + 1


def test_it_is_exported_once_and_opened_without_pytorch(tiny: Path, exports: Path) -> None:
    (folder,) = exports_in(exports)
    before = (folder / "model.onnx").stat().st_mtime_ns
    script = f"""
import sys
from pathlib import Path
from atlas_search.providers.embedding_local import LocalEmbedder
model = LocalEmbedder({str(tiny)!r}, runtime="auto", exports=Path({str(exports)!r}))
print(model.embed_query("the court").tolist())
print([name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules])
"""
    vector, modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    expected = opened(tiny, exports).embed_query("the court")
    np.testing.assert_allclose(json.loads(vector), expected, atol=1e-6)
    assert modules == "[]"
    assert (folder / "model.onnx").stat().st_mtime_ns == before


@pytest.mark.thorough
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
        *(
            pytest.param(name, content, marks=pytest.mark.thorough)
            for name, content in (
                ("about.json", b"{}"),
                ("about.json", b"[]"),
                ("tokenizer.json", b"{"),
                ("tokenizer.json", None),
                ("model.onnx", None),
            )
        ),
    ],
)
def test_a_damaged_export_is_made_anew(
    tiny: Path, exports: Path, name: str, content: bytes | None
) -> None:
    whole = opened(tiny, exports).embed_query("the court")
    (folder,) = exports_in(exports)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    assert np.array_equal(opened(tiny, exports).embed_query("the court"), whole)
    assert exports_in(exports) == [folder]
    about = json.loads((folder / "about.json").read_text())
    assert about["lowest_cosine"] >= LEAST_COSINE["float32"]


@pytest.mark.thorough
def test_the_rest_of_a_killed_export_goes(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / ".staged").mkdir()
    (tmp_path / ".staged" / "model.onnx").write_bytes(b"half")
    assert opened(tiny, tmp_path).info.runtime.startswith("onnxruntime ")
    assert len(exports_in(tmp_path)) == 1


@pytest.mark.thorough
def test_another_model_pooling_or_rounding_is_another_export(tiny: Path, exports: Path) -> None:
    changed = copy(tiny, exports.parent / "changed")
    edit(changed / "tokenizer_config.json", model_max_length=7)
    exact = opened(tiny, exports).embed_query("the court")
    opened(changed, exports).embed_query("the court")
    opened(tiny, exports, pooling="cls").embed_query("the court")
    rounded = opened(tiny, exports, "int8").embed_query("the court")
    assert len(exports_in(exports)) == 4
    assert not np.array_equal(exact, rounded)
    np.testing.assert_array_equal(opened(tiny, exports).embed_query("the court"), exact)


def ask_too_much(folder: Path, _: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(exporting.LEAST_COSINE, "float32", 1.1)
    return folder


def add_layer(_: Path, plain: Path, __: pytest.MonkeyPatch) -> Path:
    from sentence_transformers.sentence_transformer.modules import LayerNorm

    return saved(plain, plain.parent / "layered", LayerNorm(32))


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (ask_too_much, "its vectors are others (lowest cosine"),
        (add_layer, "it has a module of the kind LayerNorm"),
    ],
)
def test_a_model_that_cannot_be_exported_stays_in_pytorch(
    tiny: Path,
    plain: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    spoil: Callable[[Path, Path, pytest.MonkeyPatch], Path],
    reason: str,
) -> None:
    folder = spoil(tiny, plain, monkeypatch)
    with caplog.at_level(logging.WARNING):
        model = opened(folder, tmp_path, "auto")
        assert model.info.runtime.startswith("torch ")
    (message,) = caplog.messages
    assert f"runs in PyTorch, not in ONNX Runtime: {reason}" in message
    assert model.embed_query("the court").shape == (32,)
    with pytest.raises(ConfigurationError, match="EMBEDDING_RUNTIME=onnxruntime does not go with"):
        opened(folder, tmp_path).embed_query("a")
    assert exports_in(tmp_path) == []


def test_where_nothing_can_be_written_it_stays_in_pytorch(
    tiny: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert opened(tiny, tmp_path / "file", "auto").info.runtime.startswith("torch ")
    assert "runs in PyTorch, not in ONNX Runtime" in caplog.text
    with pytest.raises(ConfigurationError, match="onnxruntime"):
        opened(tiny, tmp_path / "file").embed_query("a")


@pytest.mark.thorough
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


def test_rounded_weights_do_not_run_on_a_gpu(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_RUNTIME=int8 runs on a CPU"):
        opened(tiny, tmp_path, "int8", device="cuda")
