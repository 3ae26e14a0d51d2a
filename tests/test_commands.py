"""`atlas ask`, `export`, `replay`, `calibrate` and `doctor`, as they are typed."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas_search.atlas import Atlas
from atlas_search.cli.main import main
from atlas_search.evaluation.calibrate import FEW, everyday
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.conftest import SAMPLES
from tests.servers import served

QUESTION = "Can a local authority sue a newspaper for libel?"

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def atlas(
    services: Services, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs a command with the settings of the demo collection: status, output and errors."""
    settings = services.settings
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(settings.chroma_persist_directory))
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", settings.chroma_collection_name)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return run


@pytest.fixture
def address(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that `atlas ask` finds."""
    with served(create_app(lambda: Atlas(services))) as found:
        monkeypatch.setenv("ATLAS_PORT", found.rpartition(":")[2])
        yield found


@pytest.fixture
def answer(services: Services) -> dict[str, object]:
    return (
        create_app(lambda: Atlas(services))
        .test_client()
        .post("/api/ask", json={"question": QUESTION})
        .get_json()
    )


@pytest.fixture
def bundle(services: Services, tmp_path: Path) -> Path:
    """That of an answer, as the API gives it."""
    client = create_app(lambda: Atlas(services)).test_client()
    client.post("/api/ask", json={"question": QUESTION, "qa_id": "q1"})
    response = client.get("/api/ask/q1/export?format=bundle")
    assert response.headers["Content-Disposition"] == 'attachment; filename="atlas-run-q1.json"'
    path = tmp_path / "run.json"
    path.write_text(response.text)
    return path


def test_an_answer_is_printed_with_its_sources(atlas: Command, address: str) -> None:
    status, out, _ = atlas("ask", QUESTION)
    assert status == 0
    text, *sources = out.splitlines()
    assert "cannot sue for libel" in text
    assert any("https://www.bailii.org" in line for line in sources)


def test_a_comparison_is_printed_corpus_by_corpus(
    atlas: Command, address: str, services: Services
) -> None:
    _, out, _ = atlas("ask", "Which grounds make same-sex marriage lawful?", "--compare")
    beginnings = [line.split(": ")[0] for line in out.splitlines()]
    assert [b for b in beginnings if b in services.default_corpora] == list(
        services.default_corpora
    )


def test_what_ask_prints_as_json_can_be_exported(
    atlas: Command, address: str, tmp_path: Path
) -> None:
    run = tmp_path / "run.json"
    _, out, _ = atlas("ask", QUESTION, "--json", "--bundle", run)
    assert atlas("replay", run)[0] == 0
    kept = tmp_path / "answer.json"
    kept.write_text(out)
    status, markdown, _ = atlas("export", kept)
    assert status == 0
    assert QUESTION in markdown
    assert f"{address}/?passage=legal_uk." in markdown
    file = tmp_path / "answer.bib"
    assert atlas("export", kept, "--format", "bibtex", "--out", file)[0] == 0
    assert "@misc{" in file.read_text()


def test_a_format_or_file_that_cannot_be_is_named(
    atlas: Command, tmp_path: Path, answer: dict[str, object]
) -> None:
    kept = tmp_path / "answer.json"
    kept.write_text(json.dumps([answer]))
    assert "csl-json" in atlas("export", kept, "--format", "word")[2]
    kept.write_text("{")
    assert "cannot be read as JSON" in atlas("export", kept)[2]
    kept.write_text("[1]")
    assert "holds neither an answer nor a list" in atlas("export", kept)[2]


def test_a_run_over_the_same_collection_is_repeated(atlas: Command, bundle: Path) -> None:
    status, out, _ = atlas("replay", bundle)
    assert (status, out) == (0, out)
    assert "10" in out


def test_a_run_that_would_go_otherwise_says_how(atlas: Command, bundle: Path) -> None:
    run = json.loads(bundle.read_text())
    first, second = run["ranked"][:2]
    run["ranked"][:2] = [second, first]
    bundle.write_text(json.dumps(run))
    status, out, _ = atlas("replay", bundle)
    assert status == 1
    assert first["passage_id"] in out


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """The bundled labels with just so many off-topic ones that the bundled 353 do not join them."""
    lines = (SAMPLES / "labels.jsonl").read_text().splitlines()
    one = next(found for line in lines if (found := json.loads(line)).get("kind") == "off_topic")
    more = [
        json.dumps(one | {"id": f"more{number}", "split": "dev", "question": question})
        for number, question in enumerate(everyday()[:FEW])
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join([*lines, *more]))
    return path


def test_calibrating_without_writing_says_what_it_would_choose(
    atlas: Command, services: Services, labels: Path
) -> None:
    status, out, _ = atlas("calibrate", "--labels", labels, "--dry-run", "--json")
    found = json.loads(out)
    assert status == 0
    assert 0 < found["threshold"] < 1
    assert found["lost"] <= 0.05
    assert services.store.manifest.calibration is None


def test_the_doctor_ends_well_where_nothing_needed_is_missing(atlas: Command) -> None:
    status, out, _ = atlas("doctor")
    assert status == 0
    assert "note  model mistral: " in out
    assert "ok    collection: atlas_demo" in out


def test_the_doctor_ends_with_a_status_where_something_is(
    atlas: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_COLLECTION_NAME", "nowhere")
    status, out, _ = atlas("doctor")
    assert status == 1
    assert "fault collection: " in out


def test_words_are_shown_in_their_context(atlas: Command, address: str) -> None:
    status, out, _ = atlas("kwic", "sue NEAR/5 libel", "--context", 3, "--sort", "left")
    assert status == 0
    *lines, summary = out.splitlines()
    assert len({line.index(" sue ") for line in lines}) == 1
    assert summary.startswith(f"{len(lines)} hits in ")
    status, out, _ = atlas("kwic", "sue NEAR/5 libel", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (len(rows), {row["hit"] for row in rows}) == (len(lines), {"sue"})
    found = json.loads(atlas("kwic", "sue NEAR/5 libel", "--json")[1])
    assert found["hits"] == len(found["lines"]) == len(rows)
    assert [line["passage_id"] for line in found["lines"]] == [row["passage_id"] for row in rows]
    status, _, error = atlas("kwic", '"sue')
    assert (status, error) == (
        1,
        'atlas: query, character 1: the quotation mark " is not closed.\n',
    )


def test_words_are_counted_over_time_and_by_field(atlas: Command, address: str) -> None:
    status, out, _ = atlas("trends", "libel*", "--by", "decade", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["by"] == "decade"
    _, out, _ = atlas("trends", "libel*", "--by", "decade", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["value"] or None for row in rows] == [cell["value"] for cell in found["cells"]]
    assert {row["hits"] for row in rows if row["words"] == "0"} == {""}
    _, out, _ = atlas("counts", "libel*", "--by", "corpus", "--corpus", "legal_uk")
    assert "legal_uk" in out
    assert "legal_us" not in out
    _, _, error = atlas("counts", "libel*", "--by", "moon")
    assert error.startswith("atlas: by='moon': give all, year, decade, corpus, or one of")
    assert atlas("counts", "libel*", "--json", "--csv")[0] == 1


def test_words_near_words_and_words_of_a_corpus_are_listed(atlas: Command, address: str) -> None:
    status, out, _ = atlas("collocates", "libel*", "--min-count", 2, "--no-function-words")
    assert status == 0
    *_, summary = out.splitlines()
    assert re.fullmatch("[0-9,]+ hits; [0-9,]+ words looked through", summary)
    status, out, _ = atlas("collocates", "libel*", "--left", 0, "-n", 3, "--min-count", 2, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (status, len(rows)) == (0, 3)
    assert rows[0]["query"].endswith(" NEAR/5,0 (libel*)")
    listed = ("collocates", "libel*", "--left", 0, "-n", 3, "--min-count", 2, "--json")
    found = json.loads(atlas(*listed)[1])
    assert [each["word"] for each in found["collocates"]] == [row["word"] for row in rows]
    _, out, _ = atlas("kwic", rows[0]["query"], "-n", 1000, "--csv")
    assert len(list(csv.DictReader(io.StringIO(out)))) == int(rows[0]["near"])
    status, out, _ = atlas("keywords", "--corpus", "legal_uk", "--against", "legal_us", "--json")
    found = json.loads(out)
    assert (status, len(found["keywords"])) == (0, 20)
    assert all(key["log_ratio"] > 0 for key in found["keywords"])
    status, _, error = atlas("keywords")
    assert status == 1
    assert "nothing is left to compare with" in error
