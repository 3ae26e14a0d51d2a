"""`atlas feedback` reads the file of the server, which need not run."""

import json
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.evaluation.label_files import load_labels
from tests.access.two_corpora import QUESTION
from tests.feedback.conftest import ASKED, server_of

COLLECTION = "parish"


def command(*arguments: str) -> None:
    """Run one, which succeeds."""
    with pytest.raises(SystemExit) as ended:
        main(["feedback", *arguments])
    assert not ended.value.code


@pytest.fixture
def configured(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATLAS_STATE_DIRECTORY", str(state))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", COLLECTION)


@pytest.fixture
def voted(parish: Atlas, state: Path, configured: None) -> None:
    client = server_of(parish, state)
    client.post("/api/ask", json=ASKED)
    said = {"thumb": "up", "tags": ["[red]a"], "comment": "Good.\u202e", "scores": {"clarity": 4}}
    assert client.post("/api/feedback", json={"qa_id": "q1", **said}).status_code == 200


def test_labels_are_exported(voted: None, tmp_path: Path, capsys) -> None:
    command("export", str(tmp_path / "labels.jsonl"))
    (label,) = load_labels(tmp_path / "labels.jsonl")
    assert label.question == QUESTION
    assert capsys.readouterr().err == "1 ratings of parish: 1 labels; left out: none.\n"


def test_ratings_are_exported_and_listed(voted: None, tmp_path: Path, capsys) -> None:
    file = tmp_path / "ratings.csv"
    command("export", str(file), "--format", "ratings")
    assert QUESTION in file.read_text(encoding="utf-8")
    command("list")
    listed = capsys.readouterr().out
    assert "[red]a" in listed
    assert "\u202e" not in listed
    command("list", "--json")
    (one,) = json.loads(capsys.readouterr().out)["feedback"]
    assert (one["question"], one["thumb"], one["sent"]) == (QUESTION, "up", False)


def test_without_a_rating_there_is_nothing_and_no_file_is_made(
    configured: None, state: Path, tmp_path: Path, capsys
) -> None:
    command("list")
    assert "0 of 0" in capsys.readouterr().out
    command("export", str(tmp_path / "labels.jsonl"))
    assert (tmp_path / "labels.jsonl").read_text() == ""
    assert not state.exists()


def test_a_format_that_is_none_is_refused(configured: None, tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["feedback", "export", str(tmp_path / "x"), "--format", "xml"])
    assert "jsonl, csv, ratings" in capsys.readouterr().err
