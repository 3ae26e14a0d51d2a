"""What is told where a name or an address is wrong."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search.cli.main import main
from atlas_search.core.errors import MissingStore
from atlas_search.stores.manifest import FILE_NAME, Manifest


@pytest.mark.parametrize("path", ["/api/nowhere", "/nowhere", "/static/nowhere.js"])
def test_an_address_that_is_none_is_told_in_our_words(client: FlaskClient, path: str) -> None:
    found = client.get(path)
    assert found.status_code == 404
    said = "There is no such address. The routes of the API are at /api/swagger."
    assert found.get_json()["detail"] == said


def test_a_collection_that_is_missing_is_told_with_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(MissingStore) as alone:
        Manifest.read(tmp_path / "c")
    assert "Collections there" not in str(alone.value)
    assert "`atlas create files SOURCE --collection c`" in str(alone.value)
    for name in ("sea", "farm"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE_NAME).write_text("{}")
    with pytest.raises(MissingStore, match=r"Collections there: farm, sea\. `atlas demo`"):
        Manifest.read(tmp_path / "c")


def test_sources_that_are_missing_are_told_like_every_other_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["create", "files", "nosuchfolder", "--collection", "c"])
    assert capsys.readouterr().err.lstrip().startswith("atlas: nosuchfolder does not exist.")
