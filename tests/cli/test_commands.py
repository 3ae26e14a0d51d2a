"""Commands as they are typed, beside those whose output tests/faces holds."""

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from atlas_search.atlas import Atlas
from atlas_search.cli.main import Commands, main
from atlas_search.core.registry import LIBRARIES
from atlas_search.evaluation.calibrate import FEW, everyday
from atlas_search.services import Services
from tests.conftest import SAMPLES
from tests.faces.golden_files import GOLDEN
from tests.servers import app_of, served

QUESTION = "Can a local authority sue a newspaper for libel?"
HEAVY = {
    *("numpy", "chromadb", "torch", "onnxruntime", "flask", "tantivy", "rapidfuzz"),
    *(module for modules in LIBRARIES.values() for module in modules),
}

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


@pytest.fixture(scope="module")
def _server(services: Services) -> Iterator[str]:
    app = app_of(Atlas(services))
    with served(app) as address:
        yield address
    app.extensions["runs"].close()


@pytest.fixture
def address(_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A server that commands find."""
    monkeypatch.setenv("ATLAS_PORT", _server.rpartition(":")[2])
    return _server


def test_an_answer_as_json_can_be_exported_and_its_run_repeated(
    atlas: Command, address: str, tmp_path: Path
) -> None:
    run, kept, bibliography = (tmp_path / name for name in ("run.json", "answer.json", "a.bib"))
    _, out, _ = atlas("ask", QUESTION, "--json", "--bundle", run)
    kept.write_text(out)
    assert atlas("replay", run)[0] == 0
    status, markdown, _ = atlas("export", kept)
    assert status == 0
    assert QUESTION in markdown
    assert f"{address}/?passage=legal_uk." in markdown
    assert atlas("export", kept, "--format", "bibtex", "--out", bibliography)[0] == 0
    assert "@misc{" in bibliography.read_text()


def test_a_run_that_would_go_otherwise_says_how(
    atlas: Command, address: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    atlas("ask", QUESTION, "--bundle", path)
    run = json.loads(path.read_text())
    first, second = run["ranked"][:2]
    run["ranked"][:2] = [second, first]
    path.write_text(json.dumps(run))
    status, out, _ = atlas("replay", path)
    assert status == 1
    assert first["passage_id"] in out


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("[]", ["--format", "word"], "csl-json"),
        ("{", [], "cannot be read as JSON"),
        ("[1]", [], "holds neither an answer nor a list"),
    ],
)
def test_a_format_or_file_that_cannot_be_is_named(
    atlas: Command, tmp_path: Path, text: str, options: list[str], problem: str
) -> None:
    path = tmp_path / "answer.json"
    path.write_text(text)
    status, _, error = atlas("export", path, *options)
    assert status == 1
    assert problem in error


def test_calibrating_without_writing_says_what_it_would_choose(
    atlas: Command, services: Services, tmp_path: Path
) -> None:
    # so many off-topic labels that the bundled 353 do not join them
    lines = (SAMPLES / "labels.jsonl").read_text().splitlines()
    one = next(one for line in lines if (one := json.loads(line)).get("kind") == "off_topic")
    more = [
        json.dumps(one | {"id": f"more{number}", "split": "dev", "question": question})
        for number, question in enumerate(everyday()[:FEW])
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("\n".join([*lines, *more]))
    status, out, _ = atlas("calibrate", "--labels", labels, "--dry-run", "--json")
    calibration = json.loads(out)
    assert status == 0
    assert 0 < calibration["threshold"] < 1
    assert calibration["lost"] <= 0.05
    assert services.store.manifest.calibration is None


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def in_both_forms(atlas: Command, *typed: object) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The result of a command as JSON, and as rows."""
    return json.loads(atlas(*typed, "--json")[1]), table(atlas(*typed, "--csv")[1])


def test_hits_are_the_same_in_every_form(atlas: Command, address: str) -> None:
    typed = ("kwic", "sue NEAR/5 libel", "--context", 3, "--sort", "left")
    result, rows = in_both_forms(atlas, *typed)
    *lines, summary = atlas(*typed)[1].splitlines()
    assert len({line.index(" sue ") for line in lines}) == 1
    assert summary.startswith(f"{result['hits']} hits in ")
    assert len(rows) == len(result["lines"]) == result["hits"] == len(lines)
    assert {row["hit"] for row in rows} == {"sue"}
    assert [line["passage_id"] for line in result["lines"]] == [row["passage_id"] for row in rows]


def test_counts_are_the_same_in_every_form(atlas: Command, address: str) -> None:
    result, rows = in_both_forms(atlas, "trends", "libel*", "--by", "decade")
    assert result["by"] == "decade"
    assert [row["value"] or None for row in rows] == [cell["value"] for cell in result["cells"]]
    assert {row["hits"] for row in rows if row["words"] == "0"} == {""}
    _, out, _ = atlas("counts", "libel*", "--by", "corpus", "--corpus", "legal_uk")
    assert "legal_uk" in out
    assert "legal_us" not in out


def test_words_near_words_lead_to_their_hits(atlas: Command, address: str) -> None:
    typed = ("collocates", "libel*", "--left", 0, "-n", 3, "--min-count", 2)
    result, rows = in_both_forms(atlas, *typed)
    assert [each["word"] for each in result["collocates"]] == [row["word"] for row in rows]
    assert len(rows) == 3
    assert rows[0]["query"].endswith(" NEAR/5,0 (libel*)")
    _, out, _ = atlas("kwic", rows[0]["query"], "-n", 1000, "--csv")
    assert len(table(out)) == int(rows[0]["near"])


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        (("kwic", '"sue'), 'atlas: query, character 1: the quotation mark " is not closed.\n'),
        (("counts", "libel*", "--by", "moon"), "atlas: by='moon': give all, year, decade, corpus"),
        (("counts", "libel*", "--json", "--csv"), ""),
        (("keywords",), "atlas: "),
    ],
)
def test_a_question_about_words_that_cannot_be_is_refused(
    atlas: Command, address: str, typed: tuple[str, ...], problem: str
) -> None:
    status, out, error = atlas(*typed)
    assert (status, out) == (1, "")
    assert error.startswith(problem)


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from atlas_search.cli.main import app\n"
        "try:\n    app(['--help'])\n"
        "except SystemExit:\n    pass\n"
        f"print(sorted({HEAVY} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "Balanced, explainable research search" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_number_of_passages_is_spelt_alike_everywhere() -> None:
    page = (GOLDEN / "help.txt").read_text(encoding="utf-8")
    assert re.findall(r"│ +(--k|-k) +(\S+)", page) == [("--k", "-k")] * 4  # ask, search, eval, grid


@pytest.mark.parametrize("name", Commands.entries)
def test_help_says_of_each_command_what_it_says_itself(name: str) -> None:
    own = Commands(name="atlas").load(name).help
    assert " ".join(own.split("\n\n")[0].split()) == Commands.entries[name].help
