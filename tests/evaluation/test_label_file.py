"""The file of labels that people write: whole at every moment, and nobody's words are lost."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from atlas_search.core.errors import Conflict, NotFound, SourceError
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.people import LabelFile, label_line

LABEL = Label(
    "q1",
    "test",
    "height",
    "How tall is the lighthouse?",
    ("Nine metres.", "9 m"),
    frozenset({"coast.light", "coast.keeper"}),
    gold_passage_ids=frozenset({"coast.light:0-20"}),
    gold_spans=(GoldSpan("coast.light", 3, 9),),
    grades={"coast.keeper": 1, "coast.light": 3, "coast.light:0-20": 3, "coast.mole:0-9": 0},
    filters={"year": {"from": "1900", "to": None}},
)


@pytest.fixture
def file(tmp_path: Path) -> LabelFile:
    return LabelFile(tmp_path / "new" / "labels.jsonl")


def test_what_is_saved_is_what_an_evaluation_reads(file: LabelFile) -> None:
    assert file.saved() == []
    saved = file.save(LABEL)
    assert file.find("q1") == saved
    assert saved.label == LABEL
    # whoever evaluates need not know what was looked at and is not relevant
    relevant = {id_: grade for id_, grade in LABEL.grades.items() if grade}
    assert load_labels(file.path) == [replace(LABEL, grades=relevant)]
    assert list(file.path.parent.iterdir()) == [file.path]


def test_the_same_label_is_always_the_same_line() -> None:
    turned = replace(LABEL, gold_document_ids=frozenset({"coast.keeper", "coast.light"}))
    assert label_line(turned) == label_line(LABEL)
    assert "should_answer" not in label_line(LABEL)


def test_a_label_that_somebody_changed_meanwhile_is_not_written_over(file: LabelFile) -> None:
    first = file.save(LABEL)
    other = file.save(replace(LABEL, category="other"), first.revision)
    with pytest.raises(Conflict, match="changed in the file meanwhile"):
        file.save(replace(LABEL, category="mine"), first.revision)
    with pytest.raises(Conflict, match="changed"):
        file.save(replace(LABEL, category="mine"))
    with pytest.raises(Conflict, match="changed"):
        file.remove("q1", first.revision)
    assert [saved.label.category for saved in file.saved()] == ["other"]
    file.remove("q1", other.revision)
    with pytest.raises(Conflict, match="removed"):
        file.save(LABEL, other.revision)
    with pytest.raises(NotFound, match="no label 'q1'"):
        file.remove("q1", other.revision)


def test_a_label_that_is_sent_twice_is_saved_once(file: LabelFile) -> None:
    assert file.save(LABEL) == file.save(LABEL)
    assert len(file.saved()) == 1


def test_other_lines_stay_as_they_are(file: LabelFile) -> None:
    file.path.parent.mkdir()
    own = '{"question": "Wo\u2028steht er?",  "split": "dev", "category": "", "id": "b"}'
    file.path.write_text(f"\ufeff{own}\r\n\n", encoding="utf-8")
    saved = file.save(LABEL)
    file.save(replace(LABEL, category="changed"), saved.revision)
    assert file.path.read_text(encoding="utf-8").split("\n")[0] == own
    assert [one.label.id for one in file.saved()] == ["b", "q1"]


def test_a_linked_file_stays_a_link_and_keeps_who_may_read_it(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.touch(0o640)
    link.symlink_to(real)
    LabelFile(link).save(LABEL)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [saved.label for saved in LabelFile(real).saved()] == [LABEL]


@pytest.mark.parametrize("line", ['{"query": "of another form"}', "{", "[]", "\x00"])
def test_a_file_of_another_form_is_told_and_left_alone(file: LabelFile, line: str) -> None:
    file.path.parent.mkdir()
    text = f"{label_line(LABEL)}\n{line}\n"
    file.path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="line 2 is no label"):
        file.save(replace(LABEL, id="q2"))
    assert file.path.read_text(encoding="utf-8") == text


def test_bytes_that_are_no_text_and_ids_that_are_there_twice_are_told(file: LabelFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(SourceError, match="cannot be read"):
        file.saved()
    file.path.write_text(f"{label_line(LABEL)}\n" * 2, encoding="utf-8")
    with pytest.raises(SourceError, match="two labels have the id q1"):
        file.saved()


def test_many_threads_and_processes_that_save_lose_nothing(file: LabelFile) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: save_some(file.path, "thread", number, 1), range(20)))
    processes = [
        get_context("spawn").Process(target=save_some, args=(file.path, "process", number, 5))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(file.saved()) == 20 + 15
    lines = file.path.read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["question"] == LABEL.question for line in lines)


def save_some(path: Path, who: str, number: int, count: int) -> None:
    for each in range(count):
        LabelFile(path).save(replace(LABEL, id=f"{who}-{number}-{each}"))
