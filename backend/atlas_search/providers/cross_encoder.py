"""Cross-encoders of sentence-transformers, which read two texts together: found and loaded.

Messages name the `setting` that names the model.
"""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from atlas_search.core.errors import InvalidTarget, MissingModel, ModelUnavailable
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers.embedding import (
    NO_LIMIT,
    Device,
    architecture_of,
    find_folder,
    read_object,
)
from atlas_search.providers.onnx import choose_device, import_quietly

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder


_TRAINED_ON_PAIRS = ("ForSequenceClassification", "ForCausalLM")


def find_cross_encoder(name: str, setting: str, *, instead: str, example: str) -> Path:
    """Return the folder of the cross-encoder `name`. Raises MissingModel, for another model too.

    The message says what to do `instead` of naming another, and gives an `example`.
    """
    folder = find_folder(name, setting, f"Give the path of a cross-encoder's folder, or {instead}.")
    # sentence-transformers would load any model, with random weights for its last layer
    if not _scores_pairs(folder):
        raise MissingModel(
            f"{setting}={name} is not a cross-encoder: its folder {folder} holds no model that "
            f"scores a question with a text. Choose one that does, such as {example}."
        )
    return folder


def load_cross_encoder(name: str, folder: Path, device: Device, setting: str) -> "CrossEncoder":
    """The model in `folder`, which gives logits. Raises MissingModel if it cannot be loaded."""
    import_quietly()
    import torch
    from sentence_transformers import CrossEncoder

    chosen = choose_device(device)
    try:
        # half precision is slow on a CPU, and would make the order depend on the device
        model: CrossEncoder = CrossEncoder(
            str(folder),
            device=chosen,
            local_files_only=True,
            activation_fn=torch.nn.Identity(),
            model_kwargs={"dtype": torch.float32},
        )
        return model
    except Exception as error:  # the loaders of weights, tokenizers and modules share no class
        raise MissingModel(f"{setting}={name} in {folder} cannot be loaded: {error}") from error


def _scores_pairs(folder: Path) -> bool:
    """True for a model that was trained to score pairs."""
    if (folder / "modules.json").is_file():
        trained = read_object(folder / "config_sentence_transformers.json").get("model_type")
        return bool(trained == "CrossEncoder")
    return architecture_of(folder).endswith(_TRAINED_ON_PAIRS)


EXAMPLE = "cross-encoder/nli-deberta-v3-base"

_SETTING = "VERIFY_MODEL"
_ENTAILS = ("entail", "entails", "entailed", "entailment")
_PROBE = ("This is a text.", "This is a sentence.")


class Inference(NamedTuple):
    """The likelihoods that a premise entails and contradicts a hypothesis, each in [0, 1].

    A model of two labels does not tell a contradiction from silence: then it is 0.
    """

    entailment: float
    contradiction: float


class _Labels(NamedTuple):
    entailment: int
    contradiction: int | None


class EntailmentModel:
    """A cross-encoder with the labels entailment, neutral and contradiction, in any order.

    Entailment and any other label will do too. Loaded at once. Safe to use from several threads.
    Raises MissingModel.
    """

    def __init__(self, name: str, *, device: Device = "auto"):
        folder = find_cross_encoder(name, _SETTING, instead="set VERIFY=citations", example=EXAMPLE)
        self.name = name
        self._model = load_cross_encoder(name, folder, device, _SETTING)
        self._labels = _labels(name, self._model)
        self._lock = threading.Lock()  # the tokenizer must not be used by two threads at once
        try:
            self.infer([_PROBE])
        except ModelUnavailable as error:
            raise MissingModel(f"{_SETTING} cannot be used: {error}") from error

    def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Inference]:
        """Infer from pairs of a premise and a hypothesis, read in one batch.

        A pair that is longer than the model reads is cut, the longer text first. Raises
        ModelUnavailable.
        """
        try:
            with self._lock:
                output = self._model.predict(
                    list(pairs), batch_size=len(pairs), show_progress_bar=False
                )
            logits = np.asarray(output, dtype=np.float64).reshape(len(pairs), -1)
        except Exception as error:  # whatever torch and the tokenizer raise
            raise ModelUnavailable(f"{self.name} cannot read the answer: {error}") from error
        if not np.isfinite(logits).all():
            raise ModelUnavailable(
                f"{self.name} gives no number for some sentences. Choose another {_SETTING}."
            )
        return [self._inference(row) for row in _softmax(logits)]

    def fits(self, premise: str, hypothesis: str) -> bool:
        """Return True if the model reads both to their end."""
        limit = self._model.max_seq_length or NO_LIMIT
        with self._lock:
            encoded = self._model.tokenizer(premise, hypothesis, truncation=False, verbose=False)
        return len(encoded["input_ids"]) <= limit

    def _inference(self, shares: np.ndarray) -> Inference:
        opposed = self._labels.contradiction
        return Inference(
            float(shares[self._labels.entailment]),
            0.0 if opposed is None else float(shares[opposed]),
        )


def open_entailment(
    targets: Mapping[str, Target], settings: Settings
) -> dict[str, EntailmentModel]:
    """The models that targets verify with, by VERIFY_MODEL.

    Raises MissingModel, or InvalidTarget for a target that names none.
    """
    asking = {name: target for name, target in targets.items() if target.verify == "nli"}
    for name, target in asking.items():
        if not target.verify_model:
            raise InvalidTarget(
                f"{name}.txt: VERIFY=nli needs {_SETTING}, the name or folder of a cross-encoder "
                f"such as {EXAMPLE}."
            )
    models = sorted({target.verify_model for target in asking.values()})
    return {model: EntailmentModel(model, device=settings.embedding_device) for model in models}


def _labels(name: str, model: "CrossEncoder") -> _Labels:
    """Find the labels' places among the logits, by the names in the model's configuration."""
    named = {int(at): str(label) for at, label in getattr(model.config, "id2label", {}).items()}
    lowered = {at: label.casefold() for at, label in named.items()}
    entailing = [at for at, label in lowered.items() if label in _ENTAILS]
    opposed = [at for at, label in lowered.items() if label.startswith("contradict")]
    known = len(named) == model.num_labels in (2, 3) and len(entailing) == 1
    if not known or len(opposed) > 1 or (len(named) == 3 and not opposed):
        raise MissingModel(
            f"{_SETTING}={name} tells no entailment: its labels are "
            f"{', '.join(named[at] for at in sorted(named)) or 'unnamed'}; entailment, neutral and "
            f"contradiction are needed, or entailment and another. Choose one such as {EXAMPLE}."
        )
    return _Labels(entailing[0], opposed[0] if opposed else None)


def _softmax(logits: np.ndarray) -> np.ndarray:
    """The share of each label in each row."""
    spread = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: np.ndarray = spread / spread.sum(axis=1, keepdims=True)
    return shares
