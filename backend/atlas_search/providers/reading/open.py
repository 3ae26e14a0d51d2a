"""Opening the reader models that targets name."""

from collections.abc import Callable, Mapping

from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers.reading import ReaderModel
from atlas_search.providers.reading.question_answering import QuestionAnsweringModel

ReaderFactory = Callable[[Settings], ReaderModel]
"""Finds a model, cheaply. Raises ConfigurationError that names what to mend."""

READER_MODELS: Registry[ReaderFactory] = Registry("atlas_search.reader_models", "reader model", {})
"""Those of other packages, by the name in READER_MODEL. Any other name there is that of a
question-answering model, or its folder."""


def find_readers(targets: Mapping[str, Target], settings: Settings) -> dict[str, ReaderModel]:
    """The readers that targets name, by READER_MODEL; none is loaded yet.

    Raises MissingModel or ConfigurationError.
    """
    names = {target.reader_model for target in targets.values()} - {""}
    return {name: _find(name, settings) for name in sorted(names)}


def _find(name: str, settings: Settings) -> ReaderModel:
    if name in READER_MODELS.names():
        return READER_MODELS.load(name, f"READER_MODEL={name}")(settings)
    return QuestionAnsweringModel(name, device=settings.embedding_device)
