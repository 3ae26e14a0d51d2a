"""Gold documents are recognised by whatever a collection's documents are called."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search.cli.evaluate_options import choose_labels
from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.label_files import read_labels
from atlas_search.evaluation.label_fit import (
    DocumentNames,
    Fitted,
    NamedDocument,
    OpenCollection,
    Way,
    fit_labels,
    fitted_text,
    place_quotes,
    places_of,
)
from atlas_search.evaluation.label_set import ReadLabel
from atlas_search.evaluation.labels import GoldSpan, Label
from tests.labels.conftest import BRIDGE
from tests.labels.forms import OTHER, QUESTION, UNKNOWN, benchmark, lines


def fit(path: Path, village: OpenCollection, **options: bool) -> Fitted:
    return fit_labels(read_labels(path), village, **options)


def gold(names: object, folder: Path, village: OpenCollection) -> tuple[list[str], dict[Way, int]]:
    path = lines(folder / "labels.jsonl", {"question": QUESTION, "gold_docs": names})
    fitted = fit(path, village)
    return sorted(fitted.labels[0].gold_document_ids), dict(fitted.ways)


@pytest.mark.parametrize(
    ("name", "document", "way"),
    [
        ("meadow.the_bridge", "meadow.the_bridge", "id"),
        ("the_bridge", "meadow.the_bridge", "id without corpus"),
        ("Tower#1", "tower.Tower-1", "id without corpus"),
        ("the_bridge.md", "meadow.the_bridge", "file name"),
        ("data/raw/the_bridge.md", "meadow.the_bridge", "file name"),
        (r"data\1931\mill.txt", "meadow.1931.mill", "file name"),
        ("1931/mill", "meadow.1931.mill", "file name"),
        ("On  the bridge", "meadow.the_bridge", "title"),
    ],
)
def test_a_document_has_several_names(
    tmp_path: Path, village: OpenCollection, name: str, document: str, way: Way
) -> None:
    assert gold([name], tmp_path, village) == ([document], {way: 1})


def test_a_record_has_the_id_that_its_source_gave_it() -> None:
    record = NamedDocument("set.x-1", "set", "", "corpus.jsonl", "röck ä/1")
    assert DocumentNames([record]).match("röck ä/1") == ("set.x-1", "record id")


@pytest.mark.parametrize("name", ["mill.txt", "Tower", "nothing"])
def test_a_name_of_several_documents_or_none_is_an_error(
    tmp_path: Path, village: OpenCollection, name: str
) -> None:
    with pytest.raises(
        AtlasError, match=f"lacks the gold documents or passages '{name}'"
    ) as raised:
        gold([name], tmp_path, village)
    assert ("a name of 2 documents" in str(raised.value)) == (name != "nothing")


def test_quotes_of_a_benchmark_become_places(tmp_path: Path, village: OpenCollection) -> None:
    text = village.text_of("meadow.the_bridge")
    first, *_ = text.split(".")
    query = {"id": "q1", "text": QUESTION, "answers": [first], "quotes": [first]}
    lines(tmp_path / "queries.jsonl", query)
    (tmp_path / "qrels.tsv").write_text("q1\tthe_bridge\t1\n")
    (label,) = fit(tmp_path, village).labels
    (span,) = label.gold_spans
    assert span.document_id == "meadow.the_bridge"
    assert text[span.start : span.end] == first.strip()
    assert label.answers == (first,)


def test_the_error_lists_five(tmp_path: Path, village: OpenCollection) -> None:
    with pytest.raises(AtlasError, match=r"'x0', 'x1', 'x2', 'x3', 'x4' and 4 more\. ") as raised:
        gold([f"x{number}" for number in range(9)], tmp_path, village)
    assert "--allow-unknown-gold" in str(raised.value)


def test_unknown_gold_can_be_allowed(tmp_path: Path, village: OpenCollection) -> None:
    row = {"question": QUESTION, "gold_docs": ["x", "the_bridge"], "gold_chunk_ids": ["x:c0"]}
    fitted = fit(lines(tmp_path / "labels.jsonl", row), village, allow_unknown_gold=True)
    assert fitted.labels[0].gold_document_ids == {"x", "meadow.the_bridge"}
    assert fitted.unknown == ("x", "x:c0")
    assert "Warning: not in the collection: 2 gold ids (x, x:c0)." in fitted_text(fitted)


def test_passages_are_known_by_their_ids(tmp_path: Path, village: OpenCollection) -> None:
    (passage,) = village.atlas.passages("town.mill")
    row = {"question": QUESTION, "gold_chunk_ids": [passage.id]}
    assert fit(lines(tmp_path / "labels.jsonl", row), village).labels[0].gold_passage_ids
    with pytest.raises(AtlasError, match="99"):
        fit(lines(tmp_path / "labels.jsonl", row | {"gold_chunk_ids": "town.mill:99"}), village)


def test_grades_and_places_go_with_the_name(tmp_path: Path, village: OpenCollection) -> None:
    row = {
        "question": QUESTION,
        "grades": {"the_bridge.md": 1, "On the Bridge": 3},
        "gold_spans": [{"doc": "the_bridge", "start": 0, "end": 10}],
    }
    (label,) = fit(lines(tmp_path / "labels.jsonl", row), village).labels
    assert label.relevance == {"meadow.the_bridge": 3}
    assert label.gold_spans == (GoldSpan("meadow.the_bridge", 0, 10),)


def test_a_benchmark_fits_what_was_built_from_it(tmp_path: Path, village: OpenCollection) -> None:
    folder = benchmark(tmp_path / "set", [{"_id": "q", "text": "Oak?"}], test="q\tTower#0\t1\n")
    (label,) = fit(folder, village).labels
    assert label.relevance == {"tower.Tower-0": 1}


def test_ids_in_other_columns_are_gold_where_no_column_is(
    tmp_path: Path, village: OpenCollection
) -> None:
    path = lines(
        tmp_path / "labels.jsonl",
        {
            "question": QUESTION,
            "answer": "x",
            "where": {"found": ["[meadow.the_bridge p3]", "town.mill"]},
        },
        {"question": OTHER, "answer": "x", "gold_docs": "1931/mill.txt", "where": "town.mill"},
        {"question": UNKNOWN, "answer": None, "where": "town.mill"},
        {"question": "And?", "answer": "x", "where": "Bridge; the_bridge"},
    )
    fitted = fit(path, village)
    assert [sorted(label.gold_document_ids) for label in fitted.labels] == [
        ["meadow.the_bridge", "town.mill"],
        ["meadow.1931.mill"],
        [],
        [],
    ]
    assert "Named in a column that is not read: those of 1 labels." in fitted_text(fitted)


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "x", "contexts": ["town.mill"], "ground_truth": "y"},
        {"response": "See town.mill", "retrieved_contexts": ["town.mill"], "reference": "y"},
        {"retrieved_ids": ["town.mill"], "predicted_docs": "town.mill", "reference": "y"},
        {"Actual Output": "town.mill", "retrieval_context": ["town.mill"], "reference": "y"},
        {"metadata": {"retrieved_docs": ["town.mill"]}, "reference": "y"},
    ],
)
def test_what_a_system_said_and_found_names_no_gold(
    tmp_path: Path, village: OpenCollection, row: dict[str, object]
) -> None:
    path = lines(tmp_path / "labels.jsonl", {"question": QUESTION} | row)
    fitted = fit(path, village)
    assert (fitted.mentioned, fitted.labels[0].gold_document_ids) == (0, frozenset())


def test_quotes_become_places(tmp_path: Path, village: OpenCollection) -> None:
    bridge = {"gold_docs": "the_bridge"}
    path = lines(
        tmp_path / "labels.jsonl",
        {"id": "a", "question": "a?", "quote": "keeps the granite  bridge", **bridge},
        {"id": "b", "question": "b?", "quote": ["The end.", "The miller pays (a toll)."], **bridge},
        {
            "id": "c",
            "question": "c?",
            "quote": "The end.",
            "gold_docs": ["the_bridge", "town.mill"],
        },
        {"id": "d", "question": "d?", "quote": "The end."},
        {"id": "e", "question": "e?", "quote": "The end.", "answerable": False, **bridge},
        {
            "id": "f",
            "question": "f?",
            "quote": "The end.",
            "gold_docs": ["the_bridge", "1931/mill.txt"],
        },
    )
    fitted = fit(path, village)
    text = village.text_of("meadow.the_bridge")
    start = text.index("keeps")
    end = text.index("The end.")
    assert {label.id: label.gold_spans for label in fitted.labels} == {
        "a": (GoldSpan("meadow.the_bridge", start, start + len("keeps the\ngranite bridge")),),
        "b": (GoldSpan("meadow.the_bridge", end, end + 8),),
        "c": (GoldSpan("meadow.the_bridge", end, end + 8),),
        "d": (),
        "e": (),
        "f": (GoldSpan("meadow.1931.mill", 28, 36),),
    }
    assert fitted_text(fitted).splitlines()[1:] == [
        "Quotes found in gold documents: 4, 1 at several places (the first counts).",
        "Warning: in no gold document stand 1 quotes (b (The miller pays (a toll).)).",
        "Warning: 1 labels have quotes, and no known gold document.",
    ]


class Members:
    """Ids to be looked up: there may be millions."""

    def __contains__(self, id_: object) -> bool:
        return id_ == "bridge"

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("every label went through all ids")


def test_documents_are_looked_up_and_not_gone_through_for_each_label() -> None:
    label = Label("q", "", "", "?", ("x",), frozenset({"bridge", "elsewhere"}))
    placed = place_quotes([ReadLabel(label, "", ("granite",))], Members(), lambda id_: BRIDGE)
    assert [span.document_id for span in placed.labels[0].gold_spans] == ["bridge"]


def test_a_quote_is_found_as_it_stands() -> None:
    assert [BRIDGE[p.start : p.end] for p in places_of("in  repair.\nThe", "d", BRIDGE)] == [
        "in repair.\n\nThe"
    ]
    assert not list(places_of(" \n", "d", BRIDGE))
    assert not list(places_of(".*", "d", BRIDGE))


def test_a_corpus_that_is_not_there_is_an_error(tmp_path: Path, village: OpenCollection) -> None:
    path = lines(tmp_path / "labels.jsonl", {"question": QUESTION, "answer": "x", "corpus": "sea"})
    with pytest.raises(AtlasError, match=r"does not have: sea\. It has meadow, tower, town\."):
        fit(path, village)


def choose(
    path: Path, village: OpenCollection, split: str | None = None
) -> tuple[str, list[Label]]:
    return choose_labels(path, split, village, allow_unknown_gold=False)


def test_a_command_tells_what_it_asks(tmp_path: Path, village: OpenCollection, capsys) -> None:
    rows = [
        {"question": QUESTION, "doc_id": "the_bridge.md", "split": "test"},
        {"question": OTHER, "doc_id": "elsewhere", "split": "dev"},
    ]
    path = lines(tmp_path / "labels.jsonl", *rows)
    split, (label,) = choose(path, village)
    assert (split, label.gold_document_ids) == ("test", {"meadow.the_bridge"})
    said = capsys.readouterr()
    assert said.err.splitlines() == [
        "labels.jsonl, lines of JSON: 2 questions, 2 to be answered and 0 to be declined; 0 with "
        "references, 2 with gold documents.",
        "Read: question, doc_id = gold documents, split.",
        "Splits: dev 1, test 1. Categories: answerable 2.",
        "Asked: the 1 of the split test.",
        "Gold documents: 1 by file name.",
    ]
    assert not said.out
    with pytest.raises(AtlasError, match="elsewhere"):
        choose(path, village, "all")
    assert "Asked: all 2." in capsys.readouterr().err
