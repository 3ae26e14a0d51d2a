"""Gold documents are recognised by whatever a collection's documents are called."""

from collections.abc import Iterator
from datetime import date
from functools import partial
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.cli.evaluate_options import read_questions
from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.carry_out import RunRequest
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
from atlas_search.readers.tables import beir_reader
from tests.evaluation.label_sets import benchmark, lines
from tests.hash_embedder import HashEmbedder
from tests.tiny import write_sources

BRIDGE = "The parish keeps the\ngranite bridge in repair.\n\nThe miller pays a toll. The end.\n"
SOURCES = {
    "meadow/the_bridge.md": f"---\ntitle: On the Bridge\n---\n{BRIDGE}",
    "meadow/1931/mill.txt": "The miller grinds the corn. The end.\n",
    "town/mill.txt": "Another mill, in the town.\n",
}
RECORDS = [
    {"_id": "Tower#0", "title": "Tower", "text": "The tower was built of oak."},
    {"_id": "Tower#1", "title": "Tower", "text": "It burned in the winter."},
]


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenCollection]:
    """Documents from files of two corpora, and from the records of a benchmark."""
    folder = tmp_path_factory.mktemp("village")
    store, model = folder / "stores" / "village", HashEmbedder()
    Atlas.build(write_sources(folder / "sources", SOURCES), store, embedder=model)
    (folder / "set").mkdir()
    lines(folder / "set" / "corpus.jsonl", *RECORDS)
    Atlas.build(
        folder / "set", store, kind="beir", reader=beir_reader(), corpus="tower", embedder=model
    )
    with Atlas.open(store, embedder=model) as atlas:
        yield OpenCollection(atlas)


def fit(folder: Path, village: OpenCollection, *rows: object, unknown: bool = False) -> Fitted:
    read = read_labels(lines(folder / "labels.jsonl", *rows))
    return fit_labels(read, village, allow_unknown_gold=unknown)


def asked(**fields: object) -> dict[str, object]:
    return {"question": "Who repairs the bridge?"} | fields


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
    fitted = fit(tmp_path, village, asked(gold_docs=[name]))
    assert (fitted.labels[0].gold_document_ids, fitted.ways) == ({document}, {way: 1})


def test_a_record_has_the_id_that_its_source_gave_it() -> None:
    record = NamedDocument("set.x-1", "set", "", "corpus.jsonl", "röck ä/1")
    assert DocumentNames([record]).match("röck ä/1") == ("set.x-1", "record id")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"gold_docs": "mill.txt"}, r"passages 'mill\.txt'.*a name of 2 documents"),
        ({"gold_docs": "Tower"}, "passages 'Tower'.*a name of 2 documents"),
        ({"gold_docs": "nothing"}, "lacks the gold documents or passages 'nothing'"),
        (
            {"gold_docs": [f"x{number}" for number in range(9)]},
            r"'x0', 'x1', 'x2', 'x3', 'x4' and 4 more\. .*--allow-unknown-gold",
        ),
        ({"gold_chunk_ids": "town.mill:99"}, "town.mill:99"),
        ({"answer": "x", "corpus": "sea"}, r"does not have: sea\. It has meadow, tower, town\."),
    ],
)
def test_gold_that_the_collection_lacks_is_an_error(
    tmp_path: Path, village: OpenCollection, fields: dict[str, object], problem: str
) -> None:
    with pytest.raises(AtlasError, match=f"(?s){problem}"):
        fit(tmp_path, village, asked(**fields))


def test_unknown_gold_can_be_allowed(tmp_path: Path, village: OpenCollection) -> None:
    row = asked(gold_docs=["x", "the_bridge"], gold_chunk_ids=["x:c0"])
    fitted = fit(tmp_path, village, row, unknown=True)
    assert fitted.labels[0].gold_document_ids == {"x", "meadow.the_bridge"}
    assert fitted.unknown == ("x", "x:c0")
    assert "Warning: not in the collection: 2 gold ids (x, x:c0)." in fitted_text(fitted)


def test_passages_grades_and_places_go_with_their_document(
    tmp_path: Path, village: OpenCollection
) -> None:
    (passage,) = village.atlas.passages("town.mill")
    row = asked(
        gold_chunk_ids=[passage.id],
        grades={"the_bridge.md": 1, "On the Bridge": 3},
        gold_spans=[{"doc": "the_bridge", "start": 0, "end": 10}],
    )
    (label,) = fit(tmp_path, village, row).labels
    assert label.gold_passage_ids == {passage.id}
    assert label.relevance["meadow.the_bridge"] == 3
    assert label.gold_spans == (GoldSpan("meadow.the_bridge", 0, 10),)


def test_a_benchmark_fits_what_was_built_from_it(tmp_path: Path, village: OpenCollection) -> None:
    queries = [
        {"_id": "q", "text": "Oak?"},
        {"_id": "r", "text": "Who repairs?", "quotes": ["The parish keeps the\ngranite bridge"]},
    ]
    folder = benchmark(tmp_path / "set", queries, qrels__tsv="q\tTower#0\t1\nr\tthe_bridge\t1\n")
    oak, repair = fit_labels(read_labels(folder), village).labels
    assert oak.relevance == {"tower.Tower-0": 1}
    (span,) = repair.gold_spans
    text = village.text_of(span.document_id)
    assert text[span.start : span.end] == "The parish keeps the\ngranite bridge"


def test_ids_in_other_columns_are_gold_where_no_column_is(
    tmp_path: Path, village: OpenCollection
) -> None:
    fitted = fit(
        tmp_path,
        village,
        asked(answer="x", where={"found": ["[meadow.the_bridge p3]", "town.mill"]}),
        {"question": "b?", "answer": "x", "gold_docs": "1931/mill.txt", "where": "town.mill"},
        {"question": "c?", "answer": None, "where": "town.mill"},
        {"question": "d?", "answer": "x", "where": "Bridge; the_bridge"},
    )
    assert [sorted(label.gold_document_ids) for label in fitted.labels] == [
        ["meadow.the_bridge", "town.mill"],
        ["meadow.1931.mill"],
        [],
        [],
    ]
    assert "Named in a column that is not read: those of 1 labels." in fitted_text(fitted)


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": "x", "contexts": ["town.mill"], "ground_truth": "y"},
        {"response": "See town.mill", "retrieved_contexts": ["town.mill"], "reference": "y"},
        {"retrieved_ids": ["town.mill"], "predicted_docs": "town.mill", "reference": "y"},
        {"Actual Output": "town.mill", "retrieval_context": ["town.mill"], "reference": "y"},
        {"metadata": {"retrieved_docs": ["town.mill"]}, "reference": "y"},
    ],
)
def test_what_a_system_said_and_found_names_no_gold(
    tmp_path: Path, village: OpenCollection, fields: dict[str, object]
) -> None:
    fitted = fit(tmp_path, village, asked(**fields))
    assert (fitted.mentioned, fitted.labels[0].gold_document_ids) == (0, frozenset())


def test_quotes_become_places(tmp_path: Path, village: OpenCollection) -> None:
    bridge = {"gold_docs": "the_bridge"}
    ending = {"quote": "The end."}
    rows: dict[str, dict[str, object]] = {
        "a": {"quote": "keeps the granite  bridge", **bridge},
        "b": {"quote": ["The end.", "The miller pays (a toll)."], **bridge},
        "c": {**ending, "gold_docs": ["the_bridge", "town.mill"]},
        "d": ending,
        "e": {**ending, "answerable": False, **bridge},
        "f": {**ending, "gold_docs": ["the_bridge", "1931/mill.txt"]},
    }
    fitted = fit(
        tmp_path, village, *({"id": id_, "question": f"{id_}?", **row} for id_, row in rows.items())
    )
    text = village.text_of("meadow.the_bridge")
    start, end = text.index("keeps"), text.index("The end.")
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


@pytest.mark.parametrize(
    ("quote", "places"),
    [("in  repair.\nThe", ["in repair.\n\nThe"]), (" \n", []), (".*", [])],
)
def test_a_quote_is_found_as_it_stands(quote: str, places: list[str]) -> None:
    assert [BRIDGE[p.start : p.end] for p in places_of(quote, "d", BRIDGE)] == places


def test_a_command_tells_what_it_asks(
    tmp_path: Path, village: OpenCollection, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(
        tmp_path / "labels.jsonl",
        asked(doc_id="the_bridge.md", split="test"),
        {"question": "Who grinds?", "doc_id": "elsewhere", "split": "dev"},
    )
    read = partial(
        read_questions,
        path,
        collection=village,
        wanted=RunRequest(today=date(2025, 6, 1)),
        allow_unknown_gold=False,
        filter_by="",
    )
    questions = read(None)
    (label,) = questions.labels
    assert (questions.split, label.gold_document_ids) == ("test", {"meadow.the_bridge"})
    report = capsys.readouterr()
    assert report.err.splitlines() == [
        "labels.jsonl, lines of JSON: 2 questions, 2 to be answered and 0 to be declined; 0 with "
        "references, 2 with gold documents.",
        "Read: question, doc_id = gold documents, split.",
        "Splits: dev 1, test 1. Categories: answerable 2.",
        "Asked: the 1 of the split test.",
        "Gold documents: 1 by file name.",
    ]
    assert not report.out
    with pytest.raises(AtlasError, match="elsewhere"):
        read("all")
    assert "Asked: all 2." in capsys.readouterr().err
