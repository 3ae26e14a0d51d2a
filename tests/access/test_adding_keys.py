"""`atlas keys add` says what would make a key useless."""

from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.server.access.keys import read_keys
from tests.access.conftest import COLLECTION
from tests.access.two_corpora import OPEN


@pytest.fixture
def keys(
    parish: Atlas,
    keys_file: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    """Runs `atlas keys` for the collection: exit code, and both streams."""
    settings = parish.services.settings
    monkeypatch.setenv("API_KEYS_FILE", str(keys_file))
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(settings.chroma_persist_directory))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", COLLECTION)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["keys", *arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return run


def test_a_corpus_that_is_not_there_is_noted(keys) -> None:
    code, key, said = keys("add", "Anna", "--corpora", f"{OPEN},nosuch")
    assert code == 0
    assert key.startswith("atlas_")
    assert f"Note: {COLLECTION} has no corpus nosuch as of now; it has" in said
    assert OPEN in said
    assert "Note" not in keys("add", "Ben", "--corpora", OPEN)[2]


def test_without_a_collection_to_read_nothing_is_noted(
    keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "not_yet")
    code, _, said = keys("add", "Anna", "--corpora", "nosuch")
    assert code == 0
    assert "Note" not in said


def test_a_key_that_would_be_over_already_is_not_made(keys, keys_file: Path) -> None:
    code, _, said = keys("add", "Anna", "--expires", "2020-01-01")
    assert code == 1
    assert "give one after today" in said
    assert not keys_file.exists()


def test_the_list_shows_ids_and_names_whole(keys, keys_file: Path) -> None:
    name = "Anna of the reading room at the far end of the second floor"
    keys("add", name, "--corpora", OPEN, "--expires", "2999-01-01", "--cost-per-day", "2")
    (key,) = read_keys(keys_file)
    listed = keys("list")[1]
    assert name in listed
    assert key.id in listed
    assert "2999-01-01" in listed
