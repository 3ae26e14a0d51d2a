"""One tiny reader for all tests here."""

from pathlib import Path

import pytest

from atlas_search.providers.reading import QuestionAnsweringModel
from tests.providers.reading.tiny_reader import trained


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that knows what things cost."""
    return trained(tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="session")
def reader(tiny: Path) -> QuestionAnsweringModel:
    return QuestionAnsweringModel(str(tiny), device="cpu")
