"""A question-answering model of transformers in memory. Loading imports torch: seconds."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from atlas_search.core.errors import MissingModel, ReaderUnavailable
from atlas_search.providers.embedding import Device
from atlas_search.providers.embedding.folder import find_folder
from atlas_search.providers.embedding.loading import choose_device, import_quietly
from atlas_search.providers.reading.best_span import FloatArray
from atlas_search.providers.reading.windows import Window, windows

EXAMPLE = "deepset/minilm-uncased-squad2"

LONGEST = 384  # tokens: what the SQuAD readers were trained with, and the most they are used with
_TRAINED_TO_READ = ("ForQuestionAnswering", "ForQuestionAnsweringSimple")
_PROBE = ("Is this a question?", "This is a text. " * 150)  # more than one window


@dataclass(frozen=True)
class LoadedReader:
    """A model ready to read. `longest` is what it reads at once, in tokens.

    Cutting is for one thread at a time, and so is reading.
    """

    name: str
    model: Any
    tokenizer: Any
    device: str
    longest: int

    def cut(self, question: str, texts: Sequence[str]) -> list[Window]:
        """The windows of the texts. Raises ReaderUnavailable."""
        try:
            return windows(self.tokenizer, question, texts, self.longest)
        except Exception as error:  # whatever the tokenizer raises
            raise ReaderUnavailable(f"{self.name} cannot cut the passages: {error}") from error

    def logits(self, cut: Sequence[Window]) -> list[tuple[FloatArray, FloatArray]]:
        """Logits of start and end for each token of each window, in one batch.

        Those of shorter windows are followed by logits of padding. Raises ReaderUnavailable.
        """
        try:
            starts, ends = self._forward(cut)
        except Exception as error:  # whatever torch raises
            raise ReaderUnavailable(f"{self.name} cannot read the passages: {error}") from error
        if not (np.isfinite(starts).all() and np.isfinite(ends).all()):
            raise ReaderUnavailable(
                f"{self.name} gives no number for some passages. Choose another READER_MODEL."
            )
        return list(zip(starts, ends, strict=True))

    def _forward(self, cut: Sequence[Window]) -> tuple[FloatArray, FloatArray]:
        import torch

        names = cut[0].tokens
        inputs = {name: [list(window.tokens[name]) for window in cut] for name in names}
        batch = self.tokenizer.pad(inputs, padding_side="right", return_tensors="pt", verbose=False)
        with torch.inference_mode():
            given = self.model(**batch.to(self.device))
        starts, ends = (
            np.asarray(logits.cpu(), dtype=np.float64)
            for logits in (given.start_logits, given.end_logits)
        )
        return starts, ends


def find_reader(name: str) -> Path:
    """The folder of the model called `name`. Raises MissingModel if it is not there, or was not
    trained to find answers."""
    try:
        folder = find_folder(name)
    except MissingModel as error:
        raise MissingModel(
            f"READER_MODEL={name} is neither a folder nor a model that can be downloaded "
            f"({type(error.__cause__ or error).__name__}). Give the path of the folder of a "
            f"question-answering model such as {EXAMPLE}, or leave READER_MODEL empty."
        ) from error
    if not _architecture(folder).endswith(_TRAINED_TO_READ):
        raise MissingModel(
            f"READER_MODEL={name} is no question-answering model: {folder} holds none that finds "
            f"the words of an answer. Choose one that does, such as {EXAMPLE}."
        )
    return folder


def _architecture(folder: Path) -> str:
    path = folder / "config.json"
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"{path} cannot be read ({error}). Copy or download the model again."
        ) from error
    architectures = read.get("architectures") if isinstance(read, dict) else None
    return str(architectures[0]) if architectures else ""


def load_reader(name: str, folder: Path, device: Device) -> LoadedReader:
    """The model in `folder`, after it has read a text. Raises MissingModel, or ConfigurationError
    if there is no such device."""
    import_quietly()
    chosen = choose_device(device)
    try:
        model, tokenizer, missing = _load(folder)
        model.to(chosen)
    except Exception as error:  # the loaders of weights and tokenizers share no class
        raise MissingModel(f"READER_MODEL={name} in {folder} cannot be loaded: {error}") from error
    if missing:
        raise MissingModel(
            f"READER_MODEL={name}: the weights in {folder} lack {', '.join(sorted(missing))}. "
            "Copy or download the model again."
        )
    if not tokenizer.is_fast or tokenizer.cls_token_id is None:
        raise MissingModel(
            f"READER_MODEL={name}: its tokenizer does not say where its tokens stand, or has no "
            f"[CLS] token for texts that do not answer. Choose another, such as {EXAMPLE}."
        )
    reader = LoadedReader(name, model, tokenizer, chosen, _longest(model, tokenizer))
    _try_out(reader)
    return reader


def _load(folder: Path) -> tuple[Any, Any, Sequence[str]]:
    """The model, its tokenizer, and the names of weights that the folder does not hold."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    # half precision is slow on a CPU, and would make spans depend on the device
    model, loaded = AutoModelForQuestionAnswering.from_pretrained(
        folder, local_files_only=True, dtype=torch.float32, output_loading_info=True
    )
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return model.eval(), tokenizer, list(loaded["missing_keys"])


def _longest(model: Any, tokenizer: Any) -> int:
    positions = getattr(model.config, "max_position_embeddings", None) or 0
    known = positions if positions > 0 else LONGEST  # XLNet, which has no bound, says -1
    return int(min(LONGEST, known, tokenizer.model_max_length))


def _try_out(reader: LoadedReader) -> None:
    try:
        reader.logits(reader.cut(_PROBE[0], [_PROBE[1]])[:1])
    except ReaderUnavailable as error:
        raise MissingModel(f"READER_MODEL cannot be used: {error}") from error
