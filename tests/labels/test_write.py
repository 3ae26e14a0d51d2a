"""A label set that is written is read back the same."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from atlas_search.evaluation.label_files import labels_text, load_labels, write_labels
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.server.feedback.routes import export_feedback
from atlas_search.server.feedback.store import AnswerRating, RatedAnswer, Vote
from tests.labels.forms import QUESTION, text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
NAMES = st.text("ab.#1-_ü", min_size=1, max_size=6)
VALUES = st.one_of(TEXTS, st.booleans(), st.floats(allow_nan=False, allow_infinity=False))
RANGES = st.fixed_dictionaries({"from": st.none() | TEXTS, "to": st.none() | TEXTS})


@st.composite
def labels(draw: st.DrawFn, id_: str) -> Label:
    gold = draw(st.frozensets(NAMES, max_size=3))
    decision = draw(st.sampled_from([None, "ANSWER", "ABSTAIN", "BLOCK"]))
    stated = st.none() | st.booleans() if decision is None else st.just(decision == "ANSWER")
    return Label(
        id=id_,
        split=draw(st.sampled_from(["", "dev", "test", "train"])),
        category=draw(NAMES),
        question=draw(TEXTS),
        answers=tuple(draw(st.lists(TEXTS, max_size=3, unique=True))),
        gold_document_ids=gold,
        kind=draw(st.sampled_from(["", "off_topic"])),
        should_answer=draw(stated),
        gold_passage_ids=draw(st.frozensets(NAMES, max_size=2)),
        gold_spans=tuple(
            GoldSpan(name, start, start + size)
            for name, start, size in draw(
                st.lists(st.tuples(NAMES, st.integers(0, 9), st.integers(1, 9)), max_size=2)
            )
        ),
        grades=draw(st.dictionaries(st.sampled_from(sorted(gold)), st.integers(1, 3)))
        if gold
        else {},
        corpus_filter=tuple(draw(st.lists(NAMES.filter("all".__ne__), max_size=2, unique=True))),
        filters=draw(
            st.dictionaries(
                NAMES, st.one_of(VALUES, st.lists(VALUES, max_size=2).map(tuple), RANGES)
            )
        ),
        expected_decision=decision,
    )


SETS = st.integers(1, 4).flatmap(lambda n: st.tuples(*(labels(f"q{i}") for i in range(n))))


@given(SETS)
def test_labels_are_read_back_as_they_were_written(
    tmp_path_factory, found: tuple[Label, ...]
) -> None:
    path = tmp_path_factory.mktemp("written") / "labels.jsonl"
    write_labels(found, path)
    assert tuple(load_labels(path)) == found


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


def rating(question: str, answer: str) -> AnswerRating:
    said = RatedAnswer.model_validate(ANSWER | {"question": question, "answer": answer})
    return AnswerRating(said, "anna", Vote(thumb="up"))


@given(TEXTS.map(str.strip), TEXTS)
def test_both_exports_of_feedback_say_the_same(
    tmp_path_factory, question: str, answer: str
) -> None:
    folder = tmp_path_factory.mktemp("exported")
    exported = [export_feedback([rating(question, answer)], kind) for kind in ("jsonl", "csv")]
    lines, table = (load_labels(text(folder / one.name, one.text)) for one in exported)
    assert lines == list(exported[0].labels.labels)
    assert table == lines


def test_a_cell_that_a_spreadsheet_could_compute_is_read_as_it_was(tmp_path: Path) -> None:
    exported = export_feedback([rating("=1+1 is what?", "'-2 | [3]\nor not")], "csv")
    assert "'=1+1" in exported.text
    (label,) = load_labels(text(tmp_path / "labels.csv", exported.text))
    assert (label.question, label.answers) == ("=1+1 is what?", ("'-2 | [3] or not",))
