"""The folder of a run: what it takes from nobody, and what of it counts."""

import json
import re
from pathlib import Path

import pytest

from atlas_search.core.errors import AtlasError, SourceError
from atlas_search.evaluation.folder import LABELS, RUN, SCORES, RunFolder
from atlas_search.evaluation.run import RunSpec
from tests.evaluation.made_runs import LABELS as LIGHTS
from tests.evaluation.made_runs import kept, made_run, right, spec, unanswered


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", [LABELS, "replies.jsonl", "notes.txt", ".hidden"])
def test_a_folder_of_somebody_elses_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("my own\n")
    with pytest.raises(AtlasError, match=f"{re.escape(name)}.*another folder"):
        RunFolder(tmp_path).begin(spec(), LIGHTS)
    assert contents(tmp_path) == {name: b"my own\n"}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("my own")
    with pytest.raises(AtlasError, match="is a file"):
        RunFolder(tmp_path / "run").begin(spec(), LIGHTS)
    assert (tmp_path / "run").read_text() == "my own"


def test_a_run_begins_in_a_folder_that_is_empty_but_for_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for own in (".lock", "run.part"):
        (tmp_path / own).touch()
    monkeypatch.chdir(tmp_path)
    RunFolder(Path()).begin(spec(), LIGHTS)
    assert RunFolder(tmp_path).labels() == list(LIGHTS)
    assert RunFolder(tmp_path).spec() == spec()


@pytest.mark.parametrize("there", [True, False])
def test_a_beginning_that_broke_off_leaves_nothing_and_can_be_made_again(
    tmp_path: Path, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(tmp_path / "run")
    if there:
        run.path.mkdir()

    def broken(*_: object, **__: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(RunSpec, "model_dump_json", broken)
    with pytest.raises(KeyboardInterrupt):
        run.begin(spec(), LIGHTS)
    monkeypatch.undo()
    assert [path.name for path in tmp_path.rglob("*")] == ["run"] * there
    run.begin(spec(), LIGHTS)
    assert run.labels() == list(LIGHTS)


def test_figures_of_an_earlier_failure_are_not_those_of_the_reply(tmp_path: Path) -> None:
    run = RunFolder(kept(unanswered(made_run(), {"q1": "The server is busy."}), tmp_path))
    assert len(run.load().scored) == len(LIGHTS)
    run.add(right(LIGHTS[1]))  # asked again, and killed before it was judged
    assert [one.label.id for one in run.load().scored] == [
        label.id for label in LIGHTS if label.id != "q1"
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (RUN, b"\xff\xfe{}"),
        (RUN, b'{"id": "x"}'),
        (LABELS, b'{"id": "q0"}\n'),
        (SCORES, b'{"label_id": "q0", "figures": 3}\n'),
        ("replies.jsonl", b'{"seconds": "long"}\n'),
        (SCORES, b"[1, \n"),
    ],
)
def test_a_file_that_is_damaged_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    run = RunFolder(kept(made_run(), tmp_path))
    (run.path / name).write_bytes(content)
    with pytest.raises(SourceError, match=name):
        run.load()


def test_a_line_that_is_damaged_is_named_by_its_number(tmp_path: Path) -> None:
    run = RunFolder(kept(made_run(), tmp_path))
    lines = (run.path / SCORES).read_text().splitlines()
    lines[2] = json.dumps({"label_id": "q2"})
    (run.path / SCORES).write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(SourceError, match=r"scores\.jsonl:3: "):
        run.load()
