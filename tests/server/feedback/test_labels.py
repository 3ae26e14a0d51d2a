"""Ratings of readers become labels that the evaluation reads."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from atlas_search import Atlas
from atlas_search.evaluation.label_files import load_labels, read_labels
from atlas_search.evaluation.label_fit import OpenCollection, fit_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import summarise
from atlas_search.server.feedback.routes import export_feedback, labels_of
from atlas_search.server.feedback.store import AnswerRating, RatedAnswer, RatedPlace, Vote, rated
from tests.conftest import TODAY
from tests.server.two_corpora import QUESTION

PLACES = tuple(
    RatedPlace(passage_id=f"{document} p{number}", document_id=document)
    for document in ("a", "b", "c")
    for number in (1, 2)
)
UP, DOWN = Vote(thumb="up"), Vote(thumb="down")


def answered(**changed: object) -> RatedAnswer:
    """An answer that cites `a` and `b`, from passages of `a`, `b` and `c`."""
    fields = {
        "qa_id": "q1",
        "owner": "",
        "session_id": "s1",
        "created": "2026-01-01T00:00:00+00:00",
        "trace_id": "",
        "span_id": "",
        "target": "t",
        "composite_target": "t_parish",
        "provider": "extractive",
        "model": "",
        "collection": "parish",
        "collection_version": "1",
        "corpora": ("meadow",),
        "narrowed": False,
        "mode": "answer",
        "decision": "ANSWER",
        "reason": "answered",
        "follow_up": False,
        "question": "Who keeps the bridge?",
        "standalone": "",
        "answer": "The parish keeps it. [a p1] The miller pays. [b p1]",
        "passages": PLACES,
        "citations": (PLACES[0], PLACES[2]),
    }
    return RatedAnswer.model_validate(fields | changed)


def declined(**changed: object) -> RatedAnswer:
    none = {"decision": "ABSTAIN", "reason": "no_evidence", "answer": "", "citations": ()}
    return answered(**none | changed)


def only(*votes: tuple[RatedAnswer, Vote]) -> Label | dict[str, Any]:
    """The label that the votes make, or why they make none."""
    export = labels_of(
        [AnswerRating(answer, f"v{n}", vote) for n, (answer, vote) in enumerate(votes)]
    )
    if export.labels:
        assert not export.left_out
        (label,) = export.labels
        return label
    return dict(export.left_out)


def gold_of(label: Label | dict[str, Any]) -> tuple[Sequence[str], tuple[str, ...], bool]:
    assert isinstance(label, Label)
    return sorted(label.gold_document_ids), label.answers, label.answerable


TEXT = ("The parish keeps it. The miller pays.",)
LABELS = {
    "thumbs up: what is cited": ([(answered(), UP)], (["a", "b"], TEXT, True)),
    "a citation that does not support is no source": (
        [(answered(), Vote(thumb="up", citations={1: "does_not_support"}))],
        (["b"], TEXT, True),
    ),
    "a relevant passage is a source too": (
        [(answered(), Vote(thumb="up", passages={"c p1": "relevant", "b p1": "irrelevant"}))],
        (["a", "c"], TEXT, True),
    ),
    "a document with one relevant passage is one": (
        [(answered(), Vote(passages={"c p1": "relevant", "c p2": "irrelevant"}))],
        (["c"], (), True),
    ),
    "thumbs down with a source: a wrong answer": (
        [(answered(), Vote(thumb="down", passages={"c p1": "relevant"}))],
        (["c"], (), True),
    ),
    "wrongly declined": ([(declined(), DOWN)], ([], (), True)),
    "wrongly declined, and where it stands": (
        [(declined(), Vote(thumb="down", passages={"c p2": "relevant"}))],
        (["c"], (), True),
    ),
    "rightly declined": (
        [(declined(), Vote(thumb="up", passages={"c p2": "relevant"}))],
        ([], (), False),
    ),
    "two readers": (
        [
            (answered(), Vote(citations={1: "supports", 2: "does_not_support"})),
            (answered(), Vote(thumb="up")),
        ],
        (["a"], TEXT, True),
    ),
    "two answers to one question": (
        [
            (declined(question="WHO keeps  the bridge?"), DOWN),
            (answered(answer="The parish. [a p1]"), UP),
        ],
        (["a", "b"], ("The parish.",), True),
    ),
    "a follow-up is asked as it was rewritten": (
        [(answered(question="Who keeps it?", standalone="Who keeps the bridge?"), UP)],
        (["a", "b"], TEXT, True),
    ),
}
LEFT_OUT = {
    "thumbs down alone": ([(answered(), DOWN)], "inconclusive"),
    "marks alone": ([(answered(), Vote(scores={"clarity": 5}))], "inconclusive"),
    "rightly declined where little was searched": (
        [(declined(narrowed=True), UP)],
        "inconclusive",
    ),
    "one answer, up and down": ([(answered(), UP), (answered(), DOWN)], "contradictory"),
    "rightly declined, and answered": ([(answered(), UP), (declined(), UP)], "contradictory"),
    "rightly and wrongly declined": ([(declined(), UP), (declined(), DOWN)], "contradictory"),
    "an unread follow-up": ([(answered(follow_up=True), UP)], "follow_up"),
    "without texts": ([(answered(question="", answer=""), UP)], "no_text"),
}


@pytest.mark.parametrize(("votes", "expected"), LABELS.values(), ids=LABELS)
def test_a_rating_becomes_a_label(votes: list, expected: tuple) -> None:
    assert gold_of(only(*votes)) == expected


@pytest.mark.parametrize(("votes", "reason"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_says_too_little_is_left_out_and_counted(votes: list, reason: str) -> None:
    assert only(*votes) == {reason: 1}


def test_a_question_keeps_its_id_and_split() -> None:
    first, again = only((answered(), UP)), only((declined(), DOWN))
    assert isinstance(first, Label)
    assert isinstance(again, Label)
    assert (first.id, first.split) == (again.id, again.split)
    questions = [answered(question=f"Who keeps bridge {n}?") for n in range(40)]
    splits = [
        label.split for label in labels_of(AnswerRating(q, "v", UP) for q in questions).labels
    ]
    assert 10 < splits.count(Split.DEV) < 30


def test_the_export_is_read_by_the_evaluation(parish: Atlas, tmp_path: Path) -> None:
    absent = "Who painted the ceiling of the chapel in 1512?"
    wrongly = declined(question="Who pays a toll for every cart?")
    answer = rated(parish.ask(QUESTION, qa_id="q1"), "", content=True)
    ratings = [
        AnswerRating(answer, "anna", UP),
        AnswerRating(declined(question=absent), "anna", UP),
        AnswerRating(wrongly, "anna", DOWN),
        AnswerRating(answered(question="Other?"), "anna", DOWN),
    ]
    exported = export_feedback(ratings, "jsonl")
    path = tmp_path / "labels.jsonl"
    path.write_text(exported.text, encoding="utf-8")
    labels = load_labels(path)
    assert {label.question: label.answerable for label in labels} == {
        QUESTION: True,
        absent: False,
        wrongly.question: True,
    }
    assert exported.labels.left_out == {"inconclusive": 1}
    assert sorted(labels, key=lambda label: label.id) == list(exported.labels.labels)
    assert fit_labels(read_labels(path), OpenCollection(parish)).labels == labels
    outcomes = evaluate(parish, labels, "certain", TODAY)
    summary = summarise(outcomes)
    means = {name: summary[name].mean for name in ("recall", "exact_match", "answered")}
    assert set(means.values()) == {1.0}


def test_spreadsheets_compute_nothing_of_a_table() -> None:
    vote = Vote(thumb="up", comment='=HYPERLINK("http://x")', tags=["+1", "ok"])
    ratings = [AnswerRating(answered(question="=1+1"), "-anna", vote, "2026-01-01T00:00:00+00:00")]
    (label,) = csv.DictReader(io.StringIO(export_feedback(ratings, "csv").text))
    assert (label["question"], label["gold_document_ids"]) == ("'=1+1", "a\nb")
    (row,) = csv.DictReader(io.StringIO(export_feedback(ratings, "ratings").text))
    assert row["comment"] == '\'=HYPERLINK("http://x")'
    assert (row["tags"], row["user_id"]) == ("'+1\nok", "'-anna")
    assert not [cell for cell in (*label.values(), *row.values()) if cell[:1] in tuple("=+-@")]
