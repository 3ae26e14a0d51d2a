"""A sentence-transformers model in memory. Loading imports torch, which takes seconds."""

import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingModel
from atlas_search.providers.embedding import NO_LIMIT, Device, PoolingChoice
from atlas_search.providers.embedding.folder import pooling_name

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True)
class TorchModel:
    """A model in PyTorch. Safe to use from several threads. `tokenizer` is a transformers one.

    `runtime` says what runs it, `has_spans` whether its tokenizer tells where its tokens are.
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
        """Unit vectors of passages, in one batch."""
        return self._worker.submit(self._embed, texts, prefix).result()

    def embed_query(self, text: str, prefix: str) -> NDArray[np.float32]:
        """The unit vector of a question."""
        return self._worker.submit(self._embed_query, text, prefix).result()

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones included, before any cut."""
        return self._worker.submit(self._count_tokens, texts).result() if texts else []

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Where the tokens are; see Embedder."""
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
    """Whether it is worth the seconds that PyTorch takes to say whether there is a GPU."""
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
