"""What cannot be read as labels is an error that says where it is, and what would be read."""

import math
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.label_files import load_labels, read_labels
from tests.labels.forms import OTHER, QUESTION, benchmark, document, lines, text

GOOD = {"question": QUESTION, "answers": ["x"]}


def error(path: Path) -> str:
    with pytest.raises(SourceError) as raised:
        read_labels(path)
    return str(raised.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answers": ["x"]}, "it has no question, but answers"),
        (["a", "b"], "an object with named fields, not \"['a', 'b']\""),
        (
            {"question": "a?", "should_answer": True, "expected_decision": "ABSTAIN"},
            "contradict each other: `should_answer` says answer, `expected_decision` says decline",
        ),
        (
            {"question": "a?", "answerable": True, "is_impossible": True},
            "`answerable` says answer, `is_impossible` says decline",
        ),
        (
            {"question": "a?", "query": "b?"},
            "`question` and `query` both say the question, and differ: 'a?' and 'b?'",
        ),
        (
            {"question": "a?", "reference": "x", "ground_truth": "y"},
            "`reference` and `ground_truth` both say the answers, and differ",
        ),
        ({"question": "a?", "expected_decision": "maybe"}, "'maybe' is none of ANSWER, ABSTAIN"),
        ({"question": "a?", "answerable": "perhaps"}, "`answerable`: true or false is wanted"),
        ({"question": "a?", "grades": {"a": "high"}}, "the grade of a is 'high'"),
        ({"question": "a?", "grades": {"a": 0.9}}, "the grade of a is 0.9, and not a whole number"),
        ({"question": "a?", "grades": {"a": math.inf}}, "the grade of a is 'Infinity', and not a"),
        ({"question": "a?", "grades": {"a": True}}, "the grade of a is True, and not a whole"),
        ({"question": "a?", "doc_id": {"a": "1.5"}}, "the grade of a is '1.5', and not a whole"),
        ({"question": "a?", "doc_id": "a", "relevance": 0.9}, "a grade is a whole number, not 0.9"),
        ({"question": "a?", "doc_id": "a", "relevance": "inf"}, "a whole number, not 'inf'"),
        ({"question": "a?", "doc_id": "a", "relevance": [1]}, "a whole number, not [1]"),
        (
            {
                "question": "a?",
                "gold_spans": {"doc_id": "a", "start": 0, "end": 4},
                "grades": {"a": 0},
            },
            "`gold_spans` and `grades` contradict each other: a place is in a, whose grade",
        ),
        ({"question": "a?", "grades": 2}, "one grade, and there are 0 gold documents"),
        ({"question": "a?", "gold_spans": [{"start": 0, "end": 4}]}, "a place has no document_id"),
        ({"question": "a?", "gold_spans": ["a:0-4"]}, "a place is wanted as"),
        ({"question": "a?", "gold_spans": {"doc_id": "a", "start": 4, "end": 4}}, "no character"),
        ({"question": "a?", "gold_spans": {"doc_id": "a", "start": 4}}, "needs `end`"),
        ({"question": "a?", "filters": "year"}, "`filters`: "),
        ({"question": "a?", "split": ["dev", "test"]}, "`split`: a text is wanted, not a list"),
        ({"question": ["a?"]}, "`question`: a text is wanted"),
    ],
)
def test_a_bad_row_among_good_ones(tmp_path: Path, row: object, said: str) -> None:
    path = lines(tmp_path / "labels.jsonl", GOOD, row, {"question": OTHER, "answers": []})
    message = error(path)
    assert message.startswith(f"{path}:2: not a label: ")
    assert said in message
    message = error(document(tmp_path / "labels.json", [GOOD, row]))
    assert message.startswith(f"{tmp_path / 'labels.json'}, record 2: not a label: ")


def test_two_names_of_the_same_may_agree(tmp_path: Path) -> None:
    row = {"question": QUESTION, "query": QUESTION, "answer": "x", "answers": ["y", "x"]}
    (label,) = load_labels(
        lines(tmp_path / "labels.jsonl", row, {**row, "question": "", "query": ""})
    )
    assert (label.question, label.answers) == (QUESTION, ("y", "x"))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{\n"question": \n', ":3: not a label: Expecting value"),
        ('[\n{"question": "a?"},\n{"question": }\n]', ":3: not a label: Expecting value"),
        ('{"question": "a?"}\n{"question": "b?"\n', ":2: not a label: Expecting"),
        ('{"question": "a\\ud800"}', ":1: not a label: it holds half a character"),
        ("[" * 100_000, ":1: not a label: it is nested too deeply"),
        ("question,answer\na?,x\nb?,x,y\n", ":3: not a label: 3 values, but"),
        ('question,answer\n"a\n?",x\n"b?"z,x\n', ":4: not a label: not a row of a table"),
        ('question,answer\n"a?,x\n', ":2: not a label: not a row of a table"),
        ("question,answer,answer\na?,x,y\n", ":1: several columns are named `answer`"),
    ],
)
def test_broken_files_name_the_line(tmp_path: Path, content: str, said: str) -> None:
    path = text(tmp_path / "labels", content)
    assert error(path).startswith(f"{path}{said}")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("Dear reader,\nthis is a letter.\n", "its columns would be: Dear reader"),
        ("id,answer\n1,x\n", "its columns would be: id, answer"),
        ('{"id": 1, "answer": "x"}\n{"id": 2}\n', "its fields are id, answer"),
        ('{"question": ""}\n{"question": " "}\n', "no row has a question"),
        ('{"a": [{"b": 1}], "c": [{"d": 1}]}', "an object with `a`, `c`"),
        ("{}", "an object with nothing"),
        ("[]", "its fields are none"),
    ],
)
def test_files_without_labels_say_what_would_be_read(
    tmp_path: Path, content: str, found: str
) -> None:
    path = text(tmp_path / "labels", content)
    message = error(path)
    assert message.startswith(f"{path}: no labels are understood: ")
    assert found in message
    assert "question, query, prompt, user_input" in message


def test_empty_and_missing_and_binary_files(tmp_path: Path) -> None:
    assert error(text(tmp_path / "empty.csv", " \n")).endswith("is empty: it holds no label.")
    assert error(tmp_path / "none.csv") == f"There is no label set at {tmp_path / 'none.csv'}."
    (tmp_path / "labels.csv").write_bytes("question,answer\ncafé?,x\n".encode("cp1252"))
    assert "not UTF-8 at byte 19" in error(tmp_path / "labels.csv")
    assert "a folder without queries.jsonl" in error(tmp_path)


def test_answers_and_ratings_that_were_exported_are_no_labels(tmp_path: Path) -> None:
    path = text(tmp_path / "ratings.csv", "qa_id,question,answer,decision\nq1,a?,x,ANSWER\n")
    assert "`atlas feedback export` makes labels of ratings" in error(path)


def test_an_id_is_that_of_one_label(tmp_path: Path) -> None:
    path = lines(tmp_path / "labels.jsonl", {"id": 1, **GOOD}, {"id": "1", "question": OTHER})
    assert error(path).endswith(f":2: not a label: its id '1' is that of {path}:1 too")


def test_a_split_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {**GOOD, "split": "train"}, {**GOOD, "split": "val"})
    with pytest.raises(SourceError, match=r"a\.jsonl has no split `test`; it has dev, train\."):
        load_labels(path, "test")
    path = lines(tmp_path / "b.jsonl", GOOD)
    with pytest.raises(SourceError, match="its labels have no split: leave --split out"):
        load_labels(path, "test")


def test_a_judgement_of_a_benchmark_that_cannot_be_read(tmp_path: Path) -> None:
    queries = [{"_id": "q", "text": QUESTION}]
    folder = benchmark(tmp_path / "set", queries, test="q\ta\thigh\nq\tb\t1x\n")
    assert error(folder).startswith(f"{folder / 'qrels' / 'test.tsv'}:2: the relevance 1x is no")
    folder = benchmark(tmp_path / "other", queries, test="q\ta\t0.9\nq\tb\t1\n")
    assert error(folder).startswith(f"{folder / 'qrels' / 'test.tsv'}:1: the relevance 0.9 is no")


@pytest.mark.parametrize(
    ("place", "why"),
    [(None, "has no value of `place`"), ({"x": {"y": [1]}}, "`place` cannot be a filter")],
)
def test_a_question_without_the_field_that_all_are_filtered_by(
    tmp_path: Path, place: object, why: str
) -> None:
    rows = [{"question": QUESTION, "place": "x"}, {"question": OTHER, "place": place}]
    with pytest.raises(SourceError, match=f":2: not a label: .*{why}"):
        read_labels(lines(tmp_path / "a.jsonl", *rows), filter_by="place")


def test_a_file_in_another_encoding_is_to_be_converted(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("question,answer\nWer war der B\xfcrgermeister?,M\xfcller\n".encode("latin-1"))
    said = error(path)
    assert said == f"{path}: not UTF-8 at byte 29. Convert it to UTF-8."
