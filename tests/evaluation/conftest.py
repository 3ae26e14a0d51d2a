"""A collection that is built in a moment, who is asked of it, commands, and a judge."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.cli.main import main
from atlas_search.evaluation.carry_out import ProcessSubject
from atlas_search.evaluation.judge import Panel
from tests.evaluation.farm import Command, build_farm, opened_farm, write_labels
from tests.evaluation.judging import GOOD, Script, judge_of
from tests.hash_embedder import HashEmbedder
from tests.openai_server import OpenAIServer, openai_server


@pytest.fixture(scope="package")
def farm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a collection, which no test changes."""
    return build_farm(tmp_path_factory.mktemp("farm") / "stores")


@pytest.fixture
def subject(farm: Path) -> Iterator[ProcessSubject]:
    with opened_farm(farm) as opened:
        yield opened


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """The labels of the farm, as a file."""
    return write_labels(tmp_path / "labels.jsonl")


@pytest.fixture
def evaluation(
    farm: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """`atlas eval` over the farm, with hashes for vectors and runs in `evaluations`."""
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(farm.parent))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", farm.name)
    monkeypatch.setenv("ATLAS_EVALUATION_DIRECTORY", str(tmp_path / "evaluations"))
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda _: HashEmbedder())
    monkeypatch.setattr("atlas_search.cli.evaluate_judge.open_embedder", lambda _: HashEmbedder())

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["eval", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """The server of a language model."""
    with openai_server() as running:
        yield running


@pytest.fixture
def script(server: OpenAIServer) -> Script:
    """The words of a judge: at first all is well."""
    return Script(server, **GOOD)


@pytest.fixture
def panel(server: OpenAIServer, tmp_path: Path) -> Iterator[Panel]:
    with judge_of(server, tmp_path) as opened:
        yield opened
