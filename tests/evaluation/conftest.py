"""A collection that is built in a moment, and who is asked of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.evaluation.carry_out import ProcessSubject
from atlas_search.evaluation.libraries.process import Libraries
from tests.conftest import require
from tests.evaluation.farm import build_farm, opened_farm
from tests.servers import JUDGES_PYTHON


@pytest.fixture(scope="module")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_farm(tmp_path_factory.mktemp("farm") / "stores")


@pytest.fixture
def subject(farm: Path) -> Iterator[ProcessSubject]:
    with opened_farm(farm) as opened:
        yield opened


@pytest.fixture(scope="session")
def judges_python() -> Path:
    """The Python of RAGAS and DeepEval."""
    require("judges", present=JUDGES_PYTHON.exists(), remedy="`make judges-venv` has not run")
    return JUDGES_PYTHON


@pytest.fixture(scope="session")
def libraries(judges_python: Path) -> Iterator[Libraries]:
    """RAGAS and DeepEval, started once: that takes some seconds."""
    opened = Libraries(judges_python)
    try:
        yield opened
    finally:
        opened.close()
