"""A model exported once for ONNX Runtime, which gives PyTorch's vectors at a third of the cost.

Opened in 0.3 s: neither PyTorch nor sentence-transformers is imported, which takes 9 s. An export
is a folder: the whole model from tokens to unit vectors, its tokenizer, and what it is.
"""

import hashlib
import json
import logging
import os
import shutil
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from atlas_search.core.errors import AtlasError, ConfigurationError, MissingModel
from atlas_search.providers.embedding import (
    NO_LIMIT,
    ROUNDED,
    Device,
    ModelFolder,
    PoolingChoice,
    pooling_name,
    sha256_of,
)

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer


Precision = Literal["float32", "int8"]
"""The type of the weights; `int8` are rounded, each row of a matrix on a scale of its own."""

LEAST_COSINE: dict[Precision, float] = {"float32": 0.9999, "int8": 0.95}
"""The least cosine of the export's vectors to PyTorch's; the default model has 0.9999998 or more,
and 0.98 with rounded weights."""

FEW = 2048
"""Tokens up to which texts are embedded one by one, by the thread that asks. Eight
sentences take 0.7 of the CPU so: as one batch a third of what the model reads is padding, and
threads that share so little work wait for each other."""

_FORM = 1  # of the folder: another is another name
_MODEL, _TOKENIZER, _ABOUT = "model.onnx", "tokenizer.json", "about.json"
_MODULES = {"Transformer", "Pooling", "Normalize", "Dense"}
_TRIED = (
    "What did the court hold?",
    "a",
    "",
    " \tspaces before, and at the end ",
    "An ordinary passage says who did what, when it was done, and in whose name it was. " * 3,
    "Much longer than any model reads at once: " + "wages and hours of labour, " * 400,
    "Fähre über den Fluß, 12,3 %; naïve café — “quoted”, §§ 5–7",
    "日本語のテキスト, русский текст, ελληνικά, 🐳",
)


class NotExported(AtlasError):
    """A model cannot be exported, or its export gives other vectors; says why."""


@dataclass(frozen=True)
class About:
    """The description of an export. `sha256` is of its model file, `lowest_cosine` of its check."""

    dimension: int
    pooling: str
    max_tokens: int
    inputs: tuple[str, ...]
    special_tokens: bool
    sha256: str
    lowest_cosine: float
    precision: Precision = "float32"


class ExportedModel:
    """An export, opened. Safe to use from several threads."""

    device = "cpu"
    has_spans = True

    def __init__(self, folder: Path, about: About):
        import onnxruntime
        from tokenizers import Tokenizer

        rounded = f" {ROUNDED}" if about.precision == "int8" else ""
        self.runtime = f"onnxruntime {onnxruntime.__version__}{rounded}"
        self.dimension = about.dimension
        self.pooling = about.pooling
        self.max_tokens = about.max_tokens
        self._inputs = about.inputs
        self._special_tokens = about.special_tokens
        self._path = folder / _MODEL
        self._session = _session(self._path, threads=1)
        # one that cuts and fills up, for the model, and one that does not, for counts and places
        self._whole = Tokenizer.from_file(str(folder / _TOKENIZER))
        self._whole.no_truncation()
        padding = self._whole.padding or {}
        self._whole.no_padding()
        self._cut = _cutting(Tokenizer.from_file(str(folder / _TOKENIZER)), about, padding)

    def embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        """Unit vectors of passages, in one batch; of FEW tokens, each vector is that of its text
        alone, to the last bit."""
        encoded = self._cut.encode_batch(
            [prefix + text for text in texts], add_special_tokens=self._special_tokens
        )
        inputs = {
            name: np.array([getattr(each, _FIELDS[name]) for each in encoded])
            for name in self._inputs
        }
        read = np.array([each.attention_mask for each in encoded], dtype=bool)
        if read.sum() > FEW:
            return _run(self._for_many, inputs)
        alone = [
            _run(self._session, {name: ids[[row], :][:, own] for name, ids in inputs.items()})
            for row, own in enumerate(read)
        ]
        return np.concatenate(alone) if alone else np.empty((0, self.dimension), np.float32)

    def embed_query(self, text: str, prefix: str) -> NDArray[np.float32]:
        """The unit vector of a question."""
        vector: NDArray[np.float32] = self.embed([text], prefix)[0]
        return vector

    @cached_property
    def _for_many(self) -> "InferenceSession":
        """The model on all processors. A server has no use for it; builds have."""
        return _session(self._path, threads=0)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included, before any cut."""
        encoded = self._whole.encode_batch_fast(
            list(texts), add_special_tokens=self._special_tokens
        )
        return [len(each) for each in encoded]

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return list(self._whole.encode(text, add_special_tokens=False).offsets)


def export_folder(
    root: Path, model: ModelFolder, pooling: str, precision: Precision = "float32"
) -> Path:
    """Return the folder below `root` for the export of a model with this pooling."""
    parts = [_FORM, pooling, sorted(model.contents.items())]
    parts += ["int8"] if precision == "int8" else []
    return root / hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def open_export(folder: Path) -> ExportedModel | None:
    """The export in `folder`; None if there is none, or a damaged one."""
    about = _read_about(folder)
    with suppress(Exception):  # neither library has a class of its own for a damaged file
        if about and sha256_of(folder / _MODEL) == about.sha256:
            return ExportedModel(folder, about)
    return None


def export(model: "TorchModel", folder: Path, precision: Precision = "float32") -> ExportedModel:
    """Export a model to `folder`, once it gives the same vectors; others that want to, wait for it.

    Those of rounded weights are nearly the same.

    Raises NotExported, or OSError where nothing can be written.
    """
    _check_kind(model)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.parent / ".lock"):
        return open_export(folder) or _export(model, folder, precision)


def _export(model: "TorchModel", folder: Path, precision: Precision) -> ExportedModel:
    """Export in place of what is in `folder`. PyTorch exports one model at a time."""
    staged = folder.parent / ".staged"
    shutil.rmtree(staged, ignore_errors=True)  # of a process that was killed
    staged.mkdir()
    try:
        about = _make(model, staged, precision)
        shutil.rmtree(folder, ignore_errors=True)
        staged.rename(folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return ExportedModel(folder, about)


def _make(model: "TorchModel", folder: Path, precision: Precision) -> About:
    try:
        inputs = _write_model(model, folder)
        if precision == "int8":
            _round(folder / _MODEL)
    except OSError:
        raise
    except Exception as error:  # the exporter raises errors of many kinds
        raise NotExported(f"PyTorch cannot export it ({type(error).__name__})") from error
    unchecked = About(
        dimension=model.dimension,
        pooling=model.pooling,
        max_tokens=model.max_tokens,
        inputs=inputs,
        special_tokens=model.special_tokens,
        sha256=sha256_of(folder / _MODEL),
        lowest_cosine=0.0,
        precision=precision,
    )
    about = replace(unchecked, lowest_cosine=_check(model, folder, unchecked))
    (folder / _ABOUT).write_text(json.dumps(asdict(about), indent=2) + "\n")
    return about


def _check_kind(model: "TorchModel") -> None:
    """Raise NotExported for a model that does more than its graph."""
    kinds = [type(module).__name__ for module in model.model]
    if others := [kind for kind in kinds if kind not in _MODULES]:
        raise NotExported(f"it has a module of the kind {others[0]}")
    if not getattr(model.tokenizer, "is_fast", False):
        raise NotExported("its tokenizer is not one of the library tokenizers")
    first = model.model[0]
    if any(getattr(first, name, None) for name in ("do_lower_case", "query_length")):
        raise NotExported("it changes texts before they are cut into tokens")
    if not all(getattr(module, "include_prompt", True) for module in model.model):
        raise NotExported("its pooling leaves out prefixes")


def _write_model(model: "TorchModel", folder: Path) -> tuple[str, ...]:
    """The model and its tokenizer; the names of the model's inputs."""
    import torch

    class Whole(torch.nn.Module):
        """All modules, from tokens to unit vectors."""

        def __init__(self) -> None:
            super().__init__()
            self.modules_in_order = model.model

        def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
            features: dict[str, Any] = dict(zip(names, tensors, strict=True))
            for module in self.modules_in_order:
                features = module(features)
            vectors: torch.Tensor = features["sentence_embedding"]
            return torch.nn.functional.normalize(vectors, dim=-1)

    given: Mapping[str, Any] = model.model.preprocess(["one text", "and another, longer one"])
    # after its first use, it says with what it fills up
    (folder / _TOKENIZER).write_text(model.tokenizer.backend_tokenizer.to_str(), encoding="utf-8")
    names = tuple(name for name, value in given.items() if isinstance(value, torch.Tensor))
    axes = {name: {0: "texts", 1: "tokens"} for name in names} | {"vectors": {0: "texts"}}
    with warnings.catch_warnings():
        # of this exporter, which PyTorch keeps beside one that needs the lengths of texts bounded,
        # and of branches that hold for all texts or none: the vectors are compared
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Whole().eval(),
            tuple(given[name] for name in names),
            str(folder / _MODEL),
            input_names=list(names),
            output_names=["vectors"],
            dynamic_axes=axes,
            dynamo=False,
        )
    return names


def _round(path: Path) -> None:
    """Round the weights of a model that was written, in place."""
    from onnxruntime.quantization import (  # type: ignore[import-untyped]
        QuantType,
        quant_pre_process,
        quantize_dynamic,
    )

    exact, prepared = path.with_name("exact.onnx"), path.with_name("prepared.onnx")
    path.rename(exact)
    quant_pre_process(exact, prepared, skip_symbolic_shape=True)
    # a scale for each row: with one for a whole matrix vectors are too far from PyTorch's (.95)
    quantize_dynamic(prepared, path, per_channel=True, weight_type=QuantType.QInt8)
    exact.unlink()
    prepared.unlink()


def _check(model: "TorchModel", folder: Path, about: About) -> float:
    """The lowest cosine of the vectors of both. Raises NotExported below LEAST_COSINE, or where
    their tokens differ."""
    try:
        exported = ExportedModel(folder, about)
        if exported.count_tokens(_TRIED) != model.count_tokens(_TRIED):
            raise NotExported("its tokens are others")
        if any(exported.token_spans(text) != model.token_spans(text) for text in _TRIED):
            raise NotExported("its tokens are in other places")
        pairs = [(exported.embed_query(t, ""), model.embed_query(t, "")) for t in _TRIED]
        pairs += zip(exported.embed(_TRIED, ""), model.embed(_TRIED, ""), strict=True)
    except NotExported:
        raise
    except Exception as error:  # as where the exported graph holds for one length of text only
        raise NotExported(f"ONNX Runtime cannot run it ({type(error).__name__})") from error
    lowest = min(float(one @ other) for one, other in pairs)
    if not lowest >= LEAST_COSINE[about.precision]:
        raise NotExported(f"its vectors are others (lowest cosine {lowest:.6f})")
    return lowest


def _run(session: "InferenceSession", inputs: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    (vectors,) = session.run(None, inputs)
    return np.asarray(vectors, dtype=np.float32)


def _session(path: Path, threads: int) -> "InferenceSession":
    """A model run by so many threads, 0 for one on each processor."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # else its threads wait in a busy loop, which takes the cores from whatever works beside it
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _cutting(tokenizer: "Tokenizer", about: About, padding: Mapping[str, Any]) -> "Tokenizer":
    tokenizer.enable_truncation(about.max_tokens)
    chosen = {
        name: padding[name]
        for name in ("pad_id", "pad_type_id", "pad_token", "direction")
        if name in padding
    }
    tokenizer.enable_padding(**chosen)
    return tokenizer


_FIELDS = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}


def _read_about(folder: Path) -> About | None:
    try:
        read = json.loads((folder / _ABOUT).read_bytes())
        return About(**read | {"inputs": tuple(read["inputs"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


@dataclass(frozen=True)
class TorchModel:
    """A model in PyTorch. Safe to use from several threads. `tokenizer` is a transformers one.

    `runtime` says what runs it, `has_spans` whether its tokenizer tells where its tokens are.
    The methods are those of an ExportedModel.
    """

    model: "SentenceTransformer"
    tokenizer: Any
    special_tokens: bool
    runtime: str
    device: str
    dimension: int
    pooling: str
    max_tokens: int
    has_spans: bool
    # the tokenizer must not be used by two threads at once, and PyTorch keeps threads of its
    # own for each thread that calls it: 100 more after a load test, and 600 MB
    _worker: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="embed"), repr=False
    )

    def embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        return self._worker.submit(self._embed, texts, prefix).result()

    def embed_query(self, text: str, prefix: str) -> NDArray[np.float32]:
        return self._worker.submit(self._embed_query, text, prefix).result()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._worker.submit(self._count_tokens, texts).result() if texts else []

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._worker.submit(self._token_spans, text).result()

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        vectors = self.model.encode_document(
            list(texts),
            prompt=prefix,
            batch_size=len(texts),
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)

    def _embed_query(self, text: str, prefix: str) -> NDArray[np.float32]:
        vectors = self.model.encode_query(
            [text], prompt=prefix, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors[0], dtype=np.float32)

    def _count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self.tokenizer(
            list(texts),
            add_special_tokens=self.special_tokens,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        return [len(ids) for ids in encoded["input_ids"]]

    def _token_spans(self, text: str) -> list[tuple[int, int]]:
        encoded = self.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        return [(start, end) for start, end in encoded["offset_mapping"]]


def load(folder: Path, pooling: PoolingChoice, device: Device) -> TorchModel:
    """The model in `folder`. Raises MissingModel if it cannot be loaded, ConfigurationError if
    there is no such device."""
    import_quietly()
    import torch
    from sentence_transformers import SentenceTransformer

    chosen = choose_device(device)
    try:
        # half precision is slow on a CPU, and would make vectors depend on the device
        model = SentenceTransformer(
            str(folder), device=chosen, model_kwargs={"dtype": torch.float32}
        )
    except Exception as error:  # the loaders of weights, tokenizers and modules share no class
        raise MissingModel(f"The model in {folder} cannot be loaded: {error}") from error
    if pooling:
        _set_pooling(model, pooling)
    tokenizer, special_tokens = _tokenizer(model)
    return TorchModel(
        model=model,
        tokenizer=tokenizer,
        special_tokens=special_tokens,
        runtime=f"torch {torch.__version__} on {chosen}",
        device=chosen,
        dimension=int(model.get_embedding_dimension() or model.encode("a").shape[-1]),
        pooling=_pooling(model),
        max_tokens=int(min(model.max_seq_length or NO_LIMIT, NO_LIMIT)),
        has_spans=bool(tokenizer.is_fast),
    )


def import_quietly() -> None:
    """Import sentence-transformers so that it looks for nothing online and prints no bars."""
    # all three are read when the imports below run
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # PyTorch's threads wait in a busy loop: where other programs use the cores, a question took
    # 500 ms to embed and takes 35 ms so
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import sentence_transformers  # noqa: F401
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)


def may_have_cuda() -> bool:
    """Return False where there is surely no GPU, which saves the seconds PyTorch takes to look."""
    return os.name != "posix" or Path("/proc/driver/nvidia").exists()


def choose_device(device: Device) -> str:
    """`cpu` or `cuda`. Raises ConfigurationError if there is no such device."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device == "cuda" and not torch.cuda.is_available():
        raise ConfigurationError(
            "EMBEDDING_DEVICE=cuda, but PyTorch finds no CUDA device here. Set EMBEDDING_DEVICE="
            "cpu or auto, or install a driver and a CUDA build of PyTorch."
        )
    return device


def _set_pooling(model: "SentenceTransformer", pooling: PoolingChoice) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    for index, module in enumerate(model):
        if isinstance(module, Pooling):
            model[index] = Pooling(
                module.embedding_dimension,
                tuple(pooling.split("+")),
                include_prompt=module.include_prompt,
            )


def _pooling(model: "SentenceTransformer") -> str:
    modes = [getattr(module, "pooling_mode", None) for module in model]
    return next((pooling_name(mode) for mode in modes if mode), "none")


def _tokenizer(model: "SentenceTransformer") -> tuple[Any, bool]:
    """The model's tokenizer as transformers has them, and whether it adds special tokens."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    own = model.tokenizer
    if isinstance(own, Tokenizer):  # a model without attention, such as StaticEmbedding
        return PreTrainedTokenizerFast(tokenizer_object=own), False  # type: ignore[no-untyped-call]
    return own, True
