"""`atlas ask` and `atlas search` of a collection that is not the server's own choice."""

import json
from pathlib import Path

import pytest

from atlas_search.cli.main import main
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections
from tests.servers import served as serving


@pytest.fixture
def atlas(
    served: ServedCollections, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Runs the command against a server of `farm` and `sea`: exit code, and both streams."""
    with serving(create_app(served)) as address:
        monkeypatch.setenv("ATLAS_PORT", address.rpartition(":")[2])

        def run(*arguments: str | Path) -> tuple[object, str, str]:
            with pytest.raises(SystemExit) as ended:
                main([str(argument) for argument in arguments])
            said = capsys.readouterr()
            return ended.value.code, said.out, said.err

        yield run


def test_the_collection_that_is_named_is_searched(atlas) -> None:
    assert "Fish give oil" not in atlas("search", "What gives oil?")[1]
    code, said, _ = atlas("search", "What gives oil?", "--collection", "sea")
    assert code == 0
    assert "Fish give oil" in said


def test_it_answers_and_gives_a_bundle_of_it(atlas, tmp_path: Path) -> None:
    bundle = tmp_path / "run.json"
    code, said, error = atlas(
        *("ask", "What gives oil?", "--collection", "sea", "--json", "--bundle", bundle)
    )
    assert code == 0, error
    assert list(json.loads(said)["retrieval"]["per_corpus"]) == ["sea"]
    assert bundle.stat().st_size


def test_a_collection_that_is_not_served_is_told(atlas) -> None:
    code, _, error = atlas("ask", "What gives timber?", "--collection", "wood")
    assert code == 1
    assert "wood" in error
