"""Label sets of other projects are read as they are, and errors name the line."""

import json
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.label_files import labels_text, load_labels, read_labels
from atlas_search.evaluation.label_fit import split_text, understood_text
from atlas_search.evaluation.label_set import ReadLabel
from atlas_search.evaluation.labels import NAMES, WEAK, GoldSpan, Label, columns_of
from atlas_search.server.feedback.routes import FeedbackExport, export_feedback
from atlas_search.server.feedback.store import AnswerRating, RatedAnswer, Vote
from tests.evaluation.label_sets import benchmark, lines
from tests.test_docs import items

QUESTION, OTHER, UNKNOWN = "Who repairs the bridge?", "Who grinds the corn?", "Who painted it?"
GOOD = {"question": QUESTION, "answers": ["x"]}
SETS = tomllib.loads((Path(__file__).parent / "label_sets.toml").read_text("utf-8"))["set"]


def shown(one: ReadLabel) -> dict[str, Any]:
    """All that a label says; an id that nobody gave is left out."""
    label = one.label
    fields = {
        "question": label.question,
        "id": label.id if label.id in ("7", "s1", "s2") else "",
        "split": label.split,
        "category": label.category,
        "answers": list(label.answers),
        "grades": dict(sorted(label.relevance.items())),
        "passages": sorted(label.gold_passage_ids),
        "spans": [[span.document_id, span.start, span.end] for span in label.gold_spans],
        "kind": label.kind,
        "corpora": list(label.corpus_filter),
        "filters": dict(label.filters),
        "decision": label.expected_decision,
        "quotes": list(one.quotes),
    }
    return {name: value for name, value in fields.items() if value} | {
        "answerable": label.answerable
    }


@pytest.mark.parametrize("case", SETS, ids=[case["name"] for case in SETS])
def test_a_label_set_is_read_as_it_is(tmp_path: Path, case: Mapping[str, str]) -> None:
    path = tmp_path / "labels"
    path.write_text(case["text"], "utf-8", newline="")
    result = read_labels(path)
    read = json.loads(json.dumps([shown(one) for one in result.read]))
    assert read == [json.loads(line) for line in case["read"].splitlines()]
    assert understood_text(result) == case["told"].removesuffix("\n")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_with_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    header = ("Question", "Gold Answer", "Gold-Documents", "Split", "Should Answer")
    row = (QUESTION, '"the parish\nparish"', '"a.md\nb.md"', "Validation", "Yes")
    content = "\r\n".join(
        delimiter.join(cells) for cells in (header, row, (UNKNOWN, "", "", "test", "no"))
    )
    (tmp_path / "labels.txt").write_text(f"\ufeff{content}\r\n\r\n", "utf-8", newline="")
    first, second = load_labels(tmp_path / "labels.txt")
    assert (first.answers, first.gold_document_ids) == (("the parish", "parish"), {"a.md", "b.md"})
    assert (first.split, first.should_answer, second.answerable) == ("dev", True, False)


# benchmarks


def test_a_benchmark_with_one_file_of_judgements(tmp_path: Path) -> None:
    queries = [
        {"_id": "q1", "text": QUESTION, "answers": ["x"], "metadata": {"is_impossible": False}},
        {"_id": "q2", "text": UNKNOWN, "metadata": {"is_impossible": True}},
        {"_id": "q3", "text": OTHER},
        {"_id": "q4", "text": "Judged irrelevant?"},
    ]
    folder = benchmark(tmp_path / "set", queries, qrels__tsv="q1\ta#1\t2\nq1\tb\t1\nq4\tb\t0\n")
    result = read_labels(folder)
    assert {label.id: dict(label.relevance) for label in result.labels} == {
        "q1": {"a#1": 2, "b": 1},
        "q2": {},
    }
    assert [label.answerable for label in result.labels] == [True, False]
    assert result.warnings == ("left out, as nothing is judged relevant for them: 2 queries",)
    assert read_labels(folder / "queries.jsonl").labels == result.labels


def test_a_benchmark_with_a_file_of_judgements_for_each_split(tmp_path: Path) -> None:
    queries = [{"_id": "q1", "text": QUESTION}, {"_id": "q2", "text": OTHER}]
    head = "query-id\tcorpus-id\tscore\n"
    folder = benchmark(tmp_path / "set", queries, dev=f"{head}q2\tb\t1\n", test=f"{head}q1\ta\t1\n")
    assert [(label.id, label.split) for label in load_labels(folder)] == [
        ("q2", "dev"),
        ("q1", "test"),
    ]


@pytest.mark.parametrize(("grade", "line"), [("high\nq\tb\t1x", 2), ("0.9\nq\tb\t1", 1)])
def test_a_judgement_that_cannot_be_read_is_named_by_its_line(
    tmp_path: Path, grade: str, line: int
) -> None:
    folder = benchmark(tmp_path / "set", [{"_id": "q", "text": "a?"}], test=f"q\ta\t{grade}\n")
    problem = re.escape(f"{folder / 'qrels' / 'test.tsv'}:{line}: the relevance")
    with pytest.raises(SourceError, match=problem):
        read_labels(folder)


VERDICTS = [
    {"_id": id_, "text": f"Oak {id_}.", "answers": [verdict], "metadata": {"contract": contract}}
    for id_, verdict, contract in (
        ("floats", "Entailment", "a"),
        ("sinks", "NotMentioned", "a"),
        ("burns", "Contradiction", "b"),
    )
]


def test_questions_are_asked_of_the_documents_that_have_their_own_value(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "set", VERDICTS, qrels__tsv="floats\ta\t1\nburns\tb\t1\n")
    result = read_labels(folder, filter_by="contract")
    assert {label.id: (label.answerable, dict(label.filters)) for label in result.labels} == {
        "floats": (True, {"contract": "a"}),
        "sinks": (False, {"contract": "a"}),
        "burns": (True, {"contract": "b"}),
    }
    assert result.columns.meanings["metadata.contract"] == "filters"
    rows = [{"question": "Who?", "filters": {"year": 1931}, "place": ["x", "y"]}]
    (one,) = read_labels(lines(tmp_path / "a.jsonl", *rows), filter_by="place").labels
    assert one.filters == {"year": 1931, "place": ("x", "y")}


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


# what cannot be read


def error(path: Path, content: str | bytes | None = None) -> str:
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(SourceError) as raised:
        read_labels(path)
    return str(raised.value)


SPAN = {"doc_id": "a", "start": 0, "end": 4}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"answers": ["x"]}, "it has no question, but answers"),
        (["a", "b"], "an object with named fields, not \"['a', 'b']\""),
        (
            {"should_answer": True, "expected_decision": "ABSTAIN"},
            "contradict each other: `should_answer` says answer, `expected_decision` says decline",
        ),
        (
            {"answerable": True, "is_impossible": True},
            "`answerable` says answer, `is_impossible` says decline",
        ),
        (
            {"query": "b?"},
            "`question` and `query` both say the question, and differ: 'a?' and 'b?'",
        ),
        (
            {"reference": "x", "ground_truth": "y"},
            "`reference` and `ground_truth` both say the answers, and differ",
        ),
        ({"expected_decision": "maybe"}, "'maybe' is none of ANSWER, ABSTAIN"),
        ({"answerable": "perhaps"}, "`answerable`: true or false is wanted"),
        ({"grades": {"a": "high"}}, "the grade of a is 'high'"),
        ({"grades": {"a": 0.9}}, "the grade of a is 0.9, and not a whole number"),
        ({"grades": {"a": math.inf}}, "the grade of a is 'Infinity', and not a"),
        ({"grades": {"a": True}}, "the grade of a is True, and not a whole"),
        ({"doc_id": {"a": "1.5"}}, "the grade of a is '1.5', and not a whole"),
        ({"doc_id": "a", "relevance": 0.9}, "a grade is a whole number, not 0.9"),
        ({"doc_id": "a", "relevance": [1]}, "a whole number, not [1]"),
        (
            {"gold_spans": SPAN, "grades": {"a": 0}},
            "`gold_spans` and `grades` contradict each other: a place is in a, whose grade",
        ),
        ({"grades": 2}, "one grade, and there are 0 gold documents"),
        ({"gold_spans": [{"start": 0, "end": 4}]}, "a place has no document_id"),
        ({"gold_spans": ["a:0-4"]}, "a place is wanted as"),
        ({"gold_spans": SPAN | {"start": 4}}, "no character"),
        ({"gold_spans": {"doc_id": "a", "start": 4}}, "needs `end`"),
        ({"filters": "year"}, "`filters`: "),
        ({"split": ["dev", "test"]}, "`split`: a text is wanted, not a list"),
        ({"question": ["a?"]}, "`question`: a text is wanted"),
    ],
)
def test_a_bad_row_among_good_ones_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    if isinstance(row, dict) and row.keys() != {"answers"}:
        row = {"question": "a?"} | row
    path = lines(tmp_path / "labels.jsonl", GOOD, row, {"question": OTHER, "answers": []})
    assert error(path).startswith(f"{path}:2: not a label: ")
    assert problem in error(path)
    message = error(tmp_path / "labels.json", json.dumps([GOOD, row]))
    assert message.startswith(f"{tmp_path / 'labels.json'}, record 2: not a label: ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{\n"question": \n', ":3: not a label: Expecting value"),
        ('[\n{"question": "a?"},\n{"question": }\n]', ":3: not a label: Expecting value"),
        ('{"question": "a?"}\n\n{"question": "b?"\n', ":3: not a label: Expecting"),
        ('{"question": "a\\ud800"}', ":1: not a label: it holds half a character"),
        ("[" * 100_000, ":1: not a label: it is nested too deeply"),
        ("question,answer\na?,x\nb?,x,y\n", ":3: not a label: 3 values, but"),
        ('question,answer\n"a\n?",x\n"b?"z,x\n', ":4: not a label: not a row of a table"),
        ('question,answer\n"a?,x\n', ":2: not a label: not a row of a table"),
        ("question,answer,answer\na?,x,y\n", ":1: several columns are named `answer`"),
        (" \n", " is empty: it holds no label."),
        ("question,answer\ncafé?,x\n".encode("cp1252"), ": not UTF-8 at byte 19. Convert it to"),
    ],
)
def test_a_broken_file_is_named_by_its_line(
    tmp_path: Path, content: str | bytes, problem: str
) -> None:
    assert error(tmp_path / "labels", content).startswith(f"{tmp_path / 'labels'}{problem}")


@pytest.mark.parametrize(
    ("content", "columns"),
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
def test_a_file_without_labels_says_what_would_be_read(
    tmp_path: Path, content: str, columns: str
) -> None:
    message = error(tmp_path / "labels", content)
    assert message.startswith(f"{tmp_path / 'labels'}: no labels are understood: ")
    assert columns in message
    assert "question, query, prompt, user_input" in message


def test_what_is_no_label_set_is_told(tmp_path: Path) -> None:
    assert error(tmp_path / "none.csv") == f"There is no label set at {tmp_path / 'none.csv'}."
    assert "a folder without queries.jsonl" in error(tmp_path)
    ratings = "qa_id,question,answer,decision\nq1,a?,x,ANSWER\n"
    assert "`atlas feedback export` makes labels of ratings" in error(tmp_path / "r.csv", ratings)
    path = lines(tmp_path / "ids.jsonl", {"id": 1, **GOOD}, {"id": "1", "question": OTHER})
    assert error(path).endswith(f":2: not a label: its id '1' is that of {path}:1 too")


# splits, ids and names


@pytest.mark.parametrize(
    ("splits", "split", "chosen", "told"),
    [
        (("dev", "test", "test"), None, "test", "Asked: the 2 of the split test."),
        (("dev", "train", "train"), None, "", "Asked: all 3."),
        (("dev", "test", "test"), "all", "", "Asked: all 3."),
        (("dev", "test", "test"), "dev", "dev", "Asked: the 1 of the split dev."),
    ],
)
def test_the_split_is_test_where_there_is_one(
    tmp_path: Path, splits: tuple[str, ...], split: str | None, chosen: str, told: str
) -> None:
    rows = [{"question": f"q{n}?", "answer": "x", "split": s} for n, s in enumerate(splits)]
    result = read_labels(lines(tmp_path / "labels.jsonl", *rows))
    assert result.choose_split(split) == chosen
    assert split_text(result.of_split(chosen), chosen) == told


def test_a_split_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {**GOOD, "split": "train"}, {**GOOD, "split": "val"})
    assert [label.split for label in load_labels(path, "dev")] == ["dev"]
    with pytest.raises(SourceError, match=r"a\.jsonl has no split `test`; it has dev, train\."):
        load_labels(path, "test")
    path = lines(tmp_path / "b.jsonl", GOOD)
    with pytest.raises(SourceError, match="its labels have no split: leave --split out"):
        load_labels(path, "test")


def test_a_question_has_the_same_id_in_every_set_and_asked_twice_two(tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", *[{"question": QUESTION, "answer": "x"}] * 2)
    first, second = (label.id for label in load_labels(path))
    assert second == f"{first}-2"
    (alone,) = load_labels(lines(tmp_path / "b.jsonl", {"query": f"{QUESTION} "}))
    assert alone.id == first


def test_every_name_of_the_page_is_understood() -> None:
    names = {
        name
        for _, listed in items("docs/evaluation.md", "Labels")
        for quoted in re.findall(r"`([a-z_]+(?:\(s\))?)`", listed)
        for name in {quoted.replace("(s)", ""), quoted.replace("(s)", "s")}
    }
    values = {"document_id", "start", "end", "refuse", "no_answer", "val", "dev"}
    values |= {"clarify", "answer_with_caveats"}
    assert {name for name in names if not columns_of([name]).meanings} <= values
    assert len(names) > 30


def test_no_name_has_two_meanings() -> None:
    for meaning, names in NAMES.items():
        for name in names.split():
            written = name.upper().replace("_", "-")
            assert columns_of([written]).meanings == {written: meaning}
    for meaning, names in WEAK.items():
        for name in names.split():
            assert columns_of([name]).meanings == {name: meaning}
            assert columns_of([name, NAMES[meaning].split()[0]]).unused == (name,)


# what is written


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
IDS = st.text("ab.#1-_ü", min_size=1, max_size=6)
VALUES = st.one_of(TEXTS, st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
RANGES = st.fixed_dictionaries({"from": st.none() | TEXTS, "to": st.none() | TEXTS})
SPANS = st.builds(
    lambda name, start, size: GoldSpan(name, start, start + size),
    IDS,
    st.integers(0, 9),
    st.integers(1, 9),
)


@st.composite
def labels(draw: st.DrawFn, id_: str) -> Label:
    gold = draw(st.frozensets(IDS, max_size=3))
    decision = draw(st.sampled_from([None, "ANSWER", "ABSTAIN", "BLOCK"]))
    stated = st.none() | st.booleans() if decision is None else st.just(decision == "ANSWER")
    grades = st.dictionaries(st.sampled_from(sorted(gold) or [""]), st.integers(1, 3))
    return Label(
        id=id_,
        split=draw(st.sampled_from(["", "dev", "test", "train"])),
        category=draw(IDS),
        question=draw(TEXTS),
        answers=tuple(draw(st.lists(TEXTS, max_size=3, unique=True))),
        gold_document_ids=gold,
        kind=draw(st.sampled_from(["", "off_topic"])),
        should_answer=draw(stated),
        gold_passage_ids=draw(st.frozensets(IDS, max_size=2)),
        gold_spans=tuple(draw(st.lists(SPANS, max_size=2))),
        grades=draw(grades) if gold else {},
        corpus_filter=tuple(draw(st.lists(IDS.filter("all".__ne__), max_size=2, unique=True))),
        filters=draw(
            st.dictionaries(IDS, st.one_of(VALUES, st.lists(VALUES, max_size=2).map(tuple), RANGES))
        ),
        expected_decision=decision,
    )


@pytest.mark.thorough
@given(st.integers(1, 4).flatmap(lambda n: st.tuples(*(labels(f"q{i}") for i in range(n)))))
def test_labels_are_read_back_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, written: tuple[Label, ...]
) -> None:
    path = tmp_path_factory.mktemp("written") / "labels.jsonl"
    path.write_text(labels_text(written), encoding="utf-8", newline="")
    assert tuple(load_labels(path)) == written


def test_equal_labels_are_written_alike() -> None:
    ids = [f"d{number}" for number in range(20)]
    one = Label("q", "", "c", QUESTION, (), frozenset(ids))
    other = Label("q", "", "c", QUESTION, (), frozenset(reversed(ids)))
    assert labels_text([one]) == labels_text([other])
    assert "grades" not in labels_text([one])


EMPTY = (
    *("owner", "session_id", "trace_id", "span_id", "target", "composite_target", "provider"),
    *("model", "collection", "collection_version", "reason", "standalone"),
)
ANSWER = dict.fromkeys(EMPTY, "") | {
    "qa_id": "q1",
    "created": "2026-01-01T00:00:00+00:00",
    "corpora": (),
    "narrowed": False,
    "mode": "answer",
    "decision": "ANSWER",
    "follow_up": False,
    "passages": (),
    "citations": (),
}


def feedback(
    folder: Path, kind: str, question: str, answer: str
) -> tuple[FeedbackExport, list[Label]]:
    """The export of one answer that was voted up, and the labels that are read of it."""
    rated = RatedAnswer.model_validate(ANSWER | {"question": question, "answer": answer})
    export = export_feedback([AnswerRating(rated, "anna", Vote(thumb="up"))], kind)
    (folder / export.name).write_text(export.text, "utf-8", newline="")
    return export, load_labels(folder / export.name)


@pytest.mark.thorough
@given(TEXTS.map(str.strip), TEXTS)
def test_both_exports_of_feedback_say_the_same(
    tmp_path_factory: pytest.TempPathFactory, question: str, answer: str
) -> None:
    folder = tmp_path_factory.mktemp("exported")
    (export, read), (_, table) = (
        feedback(folder, kind, question, answer) for kind in ("jsonl", "csv")
    )
    assert table == read == list(export.labels.labels)


def test_a_cell_that_a_spreadsheet_could_compute_is_read_as_it_was(tmp_path: Path) -> None:
    export, (label,) = feedback(tmp_path, "csv", "=1+1 is what?", "'-2 | [3]\nor not")
    assert "'=1+1" in export.text
    assert (label.question, label.answers) == ("=1+1 is what?", ("'-2 | [3] or not",))
