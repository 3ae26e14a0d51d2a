"""What is told of a label set, and which of its questions are asked."""

import re
from pathlib import Path

import pytest

from atlas_search.evaluation.label_files import read_labels
from atlas_search.evaluation.label_fit import split_text, understood_text
from atlas_search.evaluation.labels import NAMES, WEAK, columns_of
from tests.labels.forms import OTHER, QUESTION, UNKNOWN, lines, text
from tests.places import ROOT


def test_it_is_told_what_became_of_every_column(tmp_path: Path) -> None:
    path = text(
        tmp_path / "labels.csv",
        "Nr;prompt;Expected Answer;docs;doc_id;category;Set;evidence\n"
        f"1;{QUESTION};the parish;x;a;who;Validation;The parish.\n"
        f"2;{UNKNOWN};;;;none;test;\n"
        f"3;{OTHER};the miller;;b;who;test;\n",
    )
    assert understood_text(read_labels(path)).splitlines() == [
        "labels.csv, a table separated by semicolons: 3 questions, 2 to be answered and 1 to be "
        "declined; 2 with references, 2 with gold documents, 1 with quotes.",
        "Read: prompt = question, Expected Answer = answers, doc_id = gold documents, category, "
        "Set = split, evidence = quotes. Not used: Nr, docs.",
        "Splits: dev 1, test 2. Categories: none 1, who 2.",
    ]


def test_what_is_odd_is_told(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "labels.jsonl",
        {"question": QUESTION, "answers": ["x"], "answerable": True},
        {"question": "", "answers": ["y"]},
        {"question": f" {QUESTION.upper()} ", "answers": ["x"]},
        {"question": QUESTION, "answers": ["x"], "corpus": "meadow"},
        {"question": UNKNOWN, "answers": ["z"], "doc_id": "a", "answerable": False},
    )
    assert understood_text(read_labels(path)).splitlines()[3:] == [
        "Warning: skipped, without a question: 1 (line 2).",
        "Warning: asked more than once: 1 (line 3).",
        "Warning: a reference answer, though it should be declined: 1 (line 5).",
        "Warning: gold documents, though it should be declined: 1 (line 5).",
    ]


def test_bare_questions_count_as_answerable(tmp_path: Path) -> None:
    found = read_labels(text(tmp_path / "questions.csv", f"question\n{QUESTION}\n{OTHER}\n"))
    assert all(label.answerable for label in found.labels)
    assert found.understood.warnings == (
        "no column says what the answers are: every question counts as one to be answered",
    )


def test_a_question_asked_twice_has_two_ids(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", *[{"question": QUESTION, "answer": "x"}] * 2)
    first, second = (label.id for label in read_labels(path).labels)
    assert second == f"{first}-2"
    # the same in every set, so that runs can be compared
    (alone,) = read_labels(lines(tmp_path / "b.jsonl", {"query": f"{QUESTION} "})).labels
    assert alone.id == first


@pytest.mark.parametrize(
    ("splits", "asked", "chosen", "told"),
    [
        (("dev", "test", "test"), None, "test", "Asked: the 2 of the split test."),
        (("dev", "train", "train"), None, "", "Asked: all 3."),
        (("dev", "test", "test"), "all", "", "Asked: all 3."),
        (("dev", "test", "test"), "dev", "dev", "Asked: the 1 of the split dev."),
    ],
)
def test_the_split_is_test_where_there_is_one(
    tmp_path: Path, splits: tuple[str, ...], asked: str | None, chosen: str, told: str
) -> None:
    rows = [{"question": f"q{n}?", "answer": "x", "split": s} for n, s in enumerate(splits)]
    found = read_labels(lines(tmp_path / "labels.jsonl", *rows))
    assert found.choose_split(asked) == chosen
    assert split_text(found.of_split(chosen), chosen) == told


def test_every_name_of_the_page_is_understood() -> None:
    (page,) = (p for p in (ROOT / "docs").glob("*.md") if "| label | names |" in p.read_text())
    table = page.read_text().split("| label | names |")[1].split("\n\n")[0]
    shown = {
        name
        for row in table.splitlines()[2:]
        for quoted in re.findall(r"`([a-z_]+(?:\(s\))?)`", row.split("|")[2])
        for name in {quoted.replace("(s)", ""), quoted.replace("(s)", "s")}
    }
    values = {"document_id", "start", "end", "refuse", "no_answer", "val", "dev"}
    assert {name for name in shown if not columns_of([name]).meanings} <= values
    assert len(shown) > 50


def test_no_name_has_two_meanings() -> None:
    for meaning, names in NAMES.items():
        for name in names.split():
            assert columns_of([name.upper().replace("_", "-")]).meanings == {
                name.upper().replace("_", "-"): meaning
            }
    for meaning, names in WEAK.items():
        for name in names.split():
            assert columns_of([name]).meanings == {name: meaning}
            strong = NAMES[meaning].split()[0]
            assert columns_of([name, strong]).unused == (name,)
