"""Cross-encoders of sentence-transformers, which read two texts together: found and loaded.

Messages name the `setting` that names the model.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from atlas_search.core.errors import MissingModel
from atlas_search.providers.embedding import Device
from atlas_search.providers.embedding.folder import find_folder
from atlas_search.providers.embedding.loading import choose_device, import_quietly

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_TRAINED_ON_PAIRS = ("ForSequenceClassification", "ForCausalLM")


def find_cross_encoder(name: str, setting: str, *, instead: str, example: str) -> Path:
    """Where the cross-encoder called `name` lies. Raises MissingModel, for another model too.

    The message says what to do `instead` of naming another, and gives an `example`.
    """
    try:
        folder = find_folder(name)
    except MissingModel as error:
        raise MissingModel(
            f"{setting}={name} is neither a folder nor a model that can be downloaded "
            f"({type(error.__cause__ or error).__name__}). Give the path of a cross-encoder's "
            f"folder, or {instead}."
        ) from error
    # sentence-transformers would load any model, with random weights for its last layer
    if not _scores_pairs(folder):
        raise MissingModel(
            f"{setting}={name} is no cross-encoder: its folder {folder} holds no model that scores "
            f"a question with a text. Choose one that does, such as {example}."
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
    """Whether the model was trained to score pairs."""
    if (folder / "modules.json").is_file():
        trained = _object(folder / "config_sentence_transformers.json").get("model_type")
        return bool(trained == "CrossEncoder")
    architectures = _object(folder / "config.json").get("architectures") or [""]
    return str(architectures[0]).endswith(_TRAINED_ON_PAIRS)


def _object(path: Path) -> Mapping[str, Any]:
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"{path} cannot be read ({error}). Copy or download the model again."
        ) from error
    return read if isinstance(read, dict) else {}
