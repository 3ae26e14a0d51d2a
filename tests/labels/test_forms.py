"""Label sets of other projects are read as they are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.evaluation.label_files import load_labels, read_labels
from atlas_search.evaluation.label_set import LabelSet
from atlas_search.evaluation.labels import GoldSpan, Label
from tests.conftest import SAMPLES
from tests.labels.forms import OTHER, QUESTION, UNKNOWN, benchmark, document, lines, text


def by_question(path: Path) -> dict[str, Label]:
    return {label.question: label for label in load_labels(path)}


def read(path: Path) -> LabelSet:
    return read_labels(path)


def test_references_and_ids_of_documents_in_lines(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "labelset.jsonl",
        {"question": QUESTION, "answers": ["the parish", "parish"], "gold_doc_ids": ["a__b", "c"]},
        {"question": OTHER, "answers": ["the miller"], "gold_doc_ids": ["a__b"]},
    )
    first, second = load_labels(path)
    assert first == Label(
        id=first.id,
        split="",
        category="answerable",
        question=QUESTION,
        answers=("the parish", "parish"),
        gold_document_ids=frozenset({"a__b", "c"}),
    )
    assert first.id != second.id
    assert second.gold_document_ids == {"a__b"}


def test_null_is_the_reference_of_a_question_without_an_answer(tmp_path: Path) -> None:
    asked = {"category": "factual", "ground_truth_context": "The parish repairs it."}
    path = lines(
        tmp_path / "eval_dataset.jsonl",
        {"question": QUESTION, "ground_truth_answer": "The parish.", **asked},
        {
            "question": UNKNOWN,
            "ground_truth_answer": None,
            "ground_truth_context": "",
            "category": "no_answer",
        },
    )
    found = read(path)
    first, second = found.labels
    assert (first.answerable, first.answers, first.category) == (True, ("The parish.",), "factual")
    assert (second.answerable, second.answers, second.category) == (False, (), "no_answer")
    assert [one.quotes for one in found.read] == [("The parish repairs it.",), ()]


@pytest.mark.parametrize("name", ["answer", "ground_truth"])
def test_contexts_beside_references_alone_are_quotes(tmp_path: Path, name: str) -> None:
    row = {"question": QUESTION, name: "The parish.", "contexts": ["The parish repairs it."]}
    (one,) = read(lines(tmp_path / "set.jsonl", row)).read
    assert (one.label.answers, one.quotes) == (("The parish.",), ("The parish repairs it.",))


def test_answers_and_contexts_of_a_system_beside_references_are_not_read(tmp_path: Path) -> None:
    asked = {"question": [QUESTION, OTHER], "answer": ["The king.", "Nobody."]}
    known = {"contexts": [["A king reigned."], ["x"]], "ground_truth": ["The parish.", "Miller."]}
    found = read(document(tmp_path / "dataset.json", asked | known))
    assert [label.answers for label in found.labels] == [("The parish.",), ("Miller.",)]
    assert not any(one.quotes for one in found.read)
    assert found.understood.columns.unused == ("answer", "contexts")
    assert found.understood.form == "lists by column in JSON"


def test_a_test_set_of_ragas_written_by_pandas(tmp_path: Path) -> None:
    path = text(
        tmp_path / "testset.csv",
        "user_input,reference_contexts,reference,synthesizer_name\n"
        f"""{QUESTION},"['The parish, it is said; repairs it.', 'B']",The parish.,single_hop\n""",
    )
    (one,) = read(path).read
    assert one.quotes == ("The parish, it is said; repairs it.", "B")
    assert (one.label.answers, one.label.category) == (("The parish.",), "single_hop")


def test_squad_of_the_second_version(tmp_path: Path) -> None:
    paragraph = {
        "context": "The parish repairs the bridge.",
        "qas": [
            {
                "id": "s1",
                "question": QUESTION,
                "answers": [
                    {"text": "The parish", "answer_start": 0},
                    {"text": "The parish", "answer_start": 0},
                ],
                "is_impossible": False,
            },
            {
                "id": "s2",
                "question": UNKNOWN,
                "answers": [],
                "plausible_answers": [{"text": "The parish", "answer_start": 0}],
                "is_impossible": True,
            },
        ],
    }
    squad = {"version": "v2.0", "data": [{"title": "Old_bridge", "paragraphs": [paragraph]}]}
    found = read(document(tmp_path / "dev.json", squad))
    first, second = found.read
    assert found.understood.form == "SQuAD"
    assert first.label == Label(
        id="s1",
        split="",
        category="answerable",
        question=QUESTION,
        answers=("The parish",),
        gold_document_ids=frozenset({"Old bridge"}),
        should_answer=True,
    )
    assert first.quotes == ("The parish repairs the bridge.",)
    assert not second.label.answerable
    assert (second.label.gold_document_ids, second.quotes) == (frozenset(), ())


def test_squad_in_rows(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "rows.jsonl",
        {
            "id": "s1",
            "title": "Old_bridge",
            "context": "The parish repairs the bridge.",
            "question": QUESTION,
            "answers": {"text": ["The parish"], "answer_start": [0]},
        },
        {
            "id": "s2",
            "title": "Old_bridge",
            "context": "The parish repairs the bridge.",
            "question": UNKNOWN,
            "answers": {"text": [], "answer_start": []},
        },
    )
    found = by_question(path)
    assert found[QUESTION].answers == ("The parish",)
    assert not found[UNKNOWN].answerable


def test_a_set_with_its_types_in_metadata(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "set.jsonl",
        {
            "question": QUESTION,
            "ground_truth": "The parish.",
            "relevant_ids": ["bridge.md"],
            "is_negative": False,
            "metadata": {"type": "factual", "note": "plain", "corpus": "meadow"},
        },
        {
            "question": UNKNOWN,
            "ground_truth": "I do not know.",
            "relevant_ids": [],
            "is_negative": True,
            "metadata": {"type": "negative"},
        },
    )
    found = read(path)
    first, second = found.labels
    assert (first.category, first.should_answer, first.corpus_filter) == ("factual", True, ())
    assert (second.category, second.answerable) == ("negative", False)
    assert found.understood.columns.unused == ("metadata.note", "metadata.corpus")
    (warning,) = found.understood.warnings
    assert warning == "a reference answer, though it should be declined: 1 (line 2)"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_table_with_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    header = ("Question", "Gold Answer", "Gold-Documents", "Split", "Should Answer")
    row = (QUESTION, '"the parish\nparish"', '"a.md\nb.md"', "Validation", "Yes")
    unknown = (UNKNOWN, "", "", "test", "no")
    content = "\r\n".join(delimiter.join(cells) for cells in (header, row, unknown))
    # by what is in it, not by what it is called
    found = by_question(text(tmp_path / "labels.txt", f"\ufeff{content}\r\n\r\n"))
    assert found[QUESTION].answers == ("the parish", "parish")
    assert found[QUESTION].gold_document_ids == {"a.md", "b.md"}
    assert (found[QUESTION].split, found[QUESTION].should_answer) == ("dev", True)
    assert not found[UNKNOWN].answerable


def test_cells_with_several_values(tmp_path: Path) -> None:
    path = text(
        tmp_path / "labels.csv",
        "question,answers,gold_docs,corpora\n"
        'a?,"[""x; y"", ""z""]",a;b,"meadow, mill"\n'
        "b?,x | y,a|b,all\n"
        "c?,x; y,a,\n",
    )
    found = by_question(path)
    assert [found[q].answers for q in ("a?", "b?", "c?")] == [("x; y", "z"), ("x", "y"), ("x; y",)]
    assert [sorted(found[q].gold_document_ids) for q in ("a?", "b?")] == [["a", "b"], ["a", "b"]]
    assert [found[q].corpus_filter for q in ("a?", "b?", "c?")] == [("meadow", "mill"), (), ()]


def _wrapped(rows: list[object]) -> object:
    return {"version": 3, "notes": ["x"], "questions": rows, "authors": [{"name": "Alma"}]}


@pytest.mark.parametrize(
    ("wrap", "form"),
    [
        (lambda rows: rows, "a list in JSON"),
        (lambda rows: {"cases": rows}, "the list `cases` in JSON"),
        (_wrapped, "the list `questions` in JSON"),
        (lambda rows: rows[0], "lines of JSON"),
    ],
    ids=["list", "object", "object-of-several", "one"],
)
def test_json_documents(tmp_path: Path, wrap: Callable[[list], object], form: str) -> None:
    found = read(document(tmp_path / "labels.jsonl", wrap([{"query": QUESTION, "answer": "x"}])))
    assert [label.question for label in found.labels] == [QUESTION]
    assert found.understood.form == form


def test_a_text_is_a_question_only_where_nothing_else_is(tmp_path: Path) -> None:
    (own,) = load_labels(lines(tmp_path / "a.jsonl", {"text": QUESTION, "answer": "x"}))
    beside = {"text": "A passage.", "question": QUESTION, "answer": "x"}
    (other,) = load_labels(lines(tmp_path / "b.jsonl", beside))
    assert own.question == other.question == QUESTION


def test_everything_that_a_label_can_say(tmp_path: Path) -> None:
    row = {
        "QID": 7,
        "Question": QUESTION,
        "Ground Truths": ["the parish", 1931],
        "gold-docs": {"bridge": 2, "mill": 1, "tower": 0},
        "gold_chunk_ids": "bridge:0-9",
        "gold_spans": [{"doc": "bridge", "start_char": 3, "end_char": 9, "text": "x"}],
        "question_type": "factual",
        "kind": "off_topic",
        "corpus": "meadow",
        "metadata_filters": {"year": {"from": 1930, "to": None}, "author": ["a", "b"]},
        "split": "TEST",
        "decision": "answer",
    }
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", row))
    assert label == Label(
        id="7",
        split="test",
        category="factual",
        question=QUESTION,
        answers=("the parish", "1931"),
        gold_document_ids=frozenset({"bridge", "mill"}),
        kind="off_topic",
        gold_passage_ids=frozenset({"bridge:0-9"}),
        gold_spans=(GoldSpan("bridge", 3, 9),),
        grades={"bridge": 2, "mill": 1},
        corpus_filter=("meadow",),
        filters={"year": {"from": 1930, "to": None}, "author": ("a", "b")},
        expected_decision="ANSWER",
    )
    assert label.relevance == {"bridge": 2, "mill": 1}


@pytest.mark.parametrize(
    ("said", "decision"),
    [("ANSWER", "ANSWER"), ("refuse", "ABSTAIN"), ("no_answer", "ABSTAIN"), ("Blocked", "BLOCK")],
)
def test_decisions_have_several_names(tmp_path: Path, said: str, decision: str) -> None:
    row = {"question": QUESTION, "expected_decision": said}
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", row))
    assert label.expected_decision == decision
    assert label.answerable == (decision == "ANSWER")


@pytest.mark.parametrize("name", ["is_impossible", "unanswerable", "should_abstain"])
@pytest.mark.parametrize("value", [True, "yes", 1])
def test_names_that_say_the_opposite(tmp_path: Path, name: str, value: object) -> None:
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", {"question": QUESTION, name: value}))
    assert label.should_answer is False


def test_one_grade_is_that_of_the_one_document(tmp_path: Path) -> None:
    path = text(tmp_path / "labels.csv", f"query,doc_id,relevance\n{QUESTION},a,2\n{OTHER},b,0\n")
    found = by_question(path)
    assert found[QUESTION].relevance == {"a": 2}
    assert not found[OTHER].answerable


@pytest.mark.parametrize("grade", [2, 2.0, "2", "2.0"])
def test_a_grade_is_a_whole_number_however_it_is_written(tmp_path: Path, grade: object) -> None:
    rows = ({"question": QUESTION, "doc_id": "a", "relevance": grade}, {"query": OTHER})
    rows[1]["grades"] = {"a": grade}
    found = load_labels(lines(tmp_path / "labels.jsonl", *rows))
    assert [dict(label.relevance) for label in found] == [{"a": 2}] * 2


def test_what_has_the_grade_0_is_not_gold(tmp_path: Path) -> None:
    row = {
        "question": QUESTION,
        "gold_document_ids": ["a", "b"],
        "gold_passage_ids": ["a:0", "b:9"],
    }
    told = {"grades": {"a": 0, "b": 2, "a:0": -1, "b:9": 1}}
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", row | told))
    assert (label.relevance, label.gold_passage_ids) == ({"b": 2}, {"b:9"})
    assert label.grades == {"b": 2, "b:9": 1}
    row = {"question": QUESTION, "gold_document_ids": ["a"], "grades": {"a": 0}}
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", row))
    assert (label.relevance, label.answerable) == ({}, False)


def test_a_place_without_a_document_stands_in_the_only_one(tmp_path: Path) -> None:
    row = {"question": QUESTION, "doc_id": "a", "span": {"start": 0, "end": 4}}
    row["gold_span"] = row.pop("span")
    (label,) = load_labels(lines(tmp_path / "labels.jsonl", row))
    assert label.gold_spans == (GoldSpan("a", 0, 4),)


def test_a_benchmark_with_one_file_of_judgements(tmp_path: Path) -> None:
    queries = [
        {"_id": "q1", "text": QUESTION, "answers": ["x"], "metadata": {"is_impossible": False}},
        {"_id": "q2", "text": UNKNOWN, "metadata": {"is_impossible": True}},
        {"_id": "q3", "text": OTHER},
        {"_id": "q4", "text": "Judged irrelevant?"},
    ]
    folder = benchmark(tmp_path / "set", queries, qrels__tsv="q1\ta#1\t2\nq1\tb\t1\nq4\tb\t0\n")
    found = read(folder)
    assert {label.id: dict(label.relevance) for label in found.labels} == {
        "q1": {"a#1": 2, "b": 1},
        "q2": {},
    }
    assert [label.answerable for label in found.labels] == [True, False]
    assert found.understood.warnings == (
        "left out, as nothing is judged relevant for them: 2 queries",
    )
    assert read(folder / "queries.jsonl").labels == found.labels


def test_a_benchmark_with_a_file_of_judgements_for_each_split(tmp_path: Path) -> None:
    queries = [{"_id": "q1", "text": QUESTION}, {"_id": "q2", "text": OTHER}]
    head = "query-id\tcorpus-id\tscore\n"
    folder = benchmark(tmp_path / "set", queries, dev=f"{head}q2\tb\t1\n", test=f"{head}q1\ta\t1\n")
    assert [(label.id, label.split) for label in load_labels(folder)] == [
        ("q2", "dev"),
        ("q1", "test"),
    ]


def test_the_bundled_set_is_read_as_it_is_written() -> None:
    found = read(SAMPLES / "labels.jsonl")
    written = (SAMPLES / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(found.labels) == len(written)
    assert found.understood.columns.unused == found.understood.warnings == ()
    unanswerable = [label for label in found.labels if label.category == "unanswerable"]
    assert [label for label in found.labels if not label.answerable] == unanswerable
    assert {label.should_answer for label in found.labels} == {None}


VERDICTS = [
    {"_id": "s1", "text": "Oak floats.", "answers": ["Entailment"], "metadata": {"contract": "a"}},
    {"_id": "s2", "text": "Oak sinks.", "answers": ["NotMentioned"], "metadata": {"contract": "a"}},
    {
        "_id": "s3",
        "text": "Oak burns.",
        "answers": ["Contradiction"],
        "metadata": {"contract": "b"},
    },
]
JUDGED = "s1\ta\t1\ns3\tb\t1\n"


def test_verdicts_on_statements_say_what_is_to_be_declined_and_are_no_references(
    tmp_path: Path,
) -> None:
    found = read(benchmark(tmp_path / "set", VERDICTS, qrels__tsv=JUDGED))
    assert [(label.id, label.answerable) for label in found.labels] == [
        ("s1", True),
        ("s2", False),
        ("s3", True),
    ]
    assert not any(label.answers for label in found.labels)
    assert found.labels[1].category == "unanswerable"
    (remark,) = found.understood.warnings
    assert remark.startswith("the references are verdicts on statements")


def test_verdicts_in_a_table(tmp_path: Path) -> None:
    rows = "Oak floats.,SUPPORTS,a\nOak sinks.,NOT ENOUGH INFO,\nOak burns.,,\n"
    found = by_question(text(tmp_path / "claims.csv", f"question,answer,doc_id\n{rows}"))
    assert [label.answerable for label in found.values()] == [True, False, False]
    assert not any(label.answers for label in found.values())


def test_one_answer_that_is_no_verdict_makes_all_of_them_texts(tmp_path: Path) -> None:
    rows = [{"question": "Which side?", "answer": "neutral"}, {"question": "Who?", "answer": "x"}]
    assert [label.answers for label in read(lines(tmp_path / "a.jsonl", *rows)).labels] == [
        ("neutral",),
        ("x",),
    ]


def test_questions_are_asked_of_the_documents_that_have_their_own_value(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "set", VERDICTS, qrels__tsv=JUDGED)
    found = read_labels(folder, filter_by="contract")
    assert [label.filters for label in found.labels] == [
        {"contract": "a"},
        {"contract": "a"},
        {"contract": "b"},
    ]
    assert found.understood.columns.meanings["metadata.contract"] == "filters"
    assert "metadata.contract" not in found.understood.columns.unused
    rows = [{"question": "Who?", "filters": {"year": 1931}, "place": ["x", "y"]}]
    (one,) = read_labels(lines(tmp_path / "a.jsonl", *rows), filter_by="place").labels
    assert one.filters == {"year": 1931, "place": ("x", "y")}
