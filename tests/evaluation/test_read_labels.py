"""Label sets as they are read from a file."""

import json
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label, Split

WRITTEN = {
    "id": "q1",
    "split": "dev",
    "category": "factual",
    "question": "How many days?",
    "answers": ["Seven days"],
    "gold_document_ids": ["us.carpenter"],
}


def written(folder: Path, *lines: object) -> Path:
    """A label set of these lines; what is not text is written as JSON."""
    path = folder / "labels.jsonl"
    texts = [x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines]
    path.write_text("\n".join(texts), encoding="utf-8")
    return path


def error(path: Path) -> str:
    with pytest.raises(SourceError) as raised:
        load_labels(path)
    return str(raised.value)


def test_a_label_is_read_as_written(tmp_path: Path) -> None:
    (label,) = load_labels(written(tmp_path, WRITTEN))
    assert label == Label(
        id="q1",
        split=Split.DEV,
        category="factual",
        question="How many days?",
        answers=("Seven days",),
        gold_document_ids=frozenset({"us.carpenter"}),
        kind="",
    )
    assert label.answerable


def test_a_label_without_gold_documents_is_unanswerable(tmp_path: Path) -> None:
    (label,) = load_labels(written(tmp_path, WRITTEN | {"answers": [], "gold_document_ids": []}))
    assert not label.answerable


def test_labels_can_be_limited_to_a_split(tmp_path: Path) -> None:
    path = written(tmp_path, WRITTEN, WRITTEN | {"id": "q2", "split": "test"})
    assert [label.id for label in load_labels(path)] == ["q1", "q2"]
    assert [label.id for label in load_labels(path, Split.TEST)] == ["q2"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Expecting property name"),
        ("[]", "Label"),
        ({"id": "q2"}, "question"),
        (WRITTEN | {"id": "q2", "should_answer": "perhaps"}, "`should_answer`: true or false"),
    ],
)
def test_an_error_names_the_file_and_the_line(tmp_path: Path, line: object, problem: str) -> None:
    path = written(tmp_path, WRITTEN, "", line)  # the blank second line counts
    message = error(path)
    assert message.startswith(f"{path}:3: not a label: ")
    assert problem in message


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    question = "How many\u2028days\x85exactly?"
    (label,) = load_labels(written(tmp_path, WRITTEN | {"question": question}))
    assert label.question == question


def test_a_missing_label_set_is_an_error_that_names_it(tmp_path: Path) -> None:
    assert error(tmp_path / "none.jsonl") == f"There is no label set at {tmp_path / 'none.jsonl'}."
