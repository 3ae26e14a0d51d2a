"""Chroma collections as LangChain, LlamaIndex and Unstructured write them: pages and titles."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.domain import Document, Passage
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import build_from, chroma_sources, passages_of

pytestmark = pytest.mark.usefixtures("read_here")

Record = tuple[str, dict[str, Any]]

PYPDF = {"source": "/in/harbour act.pdf", "producer": "pdfTeX", "total_pages": 9, "corpus": "law"}
LLAMA = {"file_path": "/in/tolls.pdf", "file_name": "tolls.pdf", "corpus": "law"}
ELEMENTS = {"filename": "pilots.pdf", "file_directory": "/in", "corpus": "law"}


def build(tmp_path: Path, *records: Record) -> tuple[list[Document], list[Passage]]:
    """Documents and passages of a store that holds records in this order, with random ids."""
    import chromadb

    texts = [text for text, _ in records]
    client = chromadb.PersistentClient(str(tmp_path / "old"))
    client.create_collection("langchain", embedding_function=None).add(
        ids=[f"{(at * 7 + 3) % 10}-{at}" for at in range(len(records))],
        documents=texts,
        metadatas=[metadata for _, metadata in records],
        embeddings=HashEmbedder().embed(texts),
    )
    client.close()
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    assert report.embedded == 0
    with closing(EmbeddedStore(tmp_path / "c")) as store:
        passages = passages_of(store)
        ids = dict.fromkeys(passage.document_id for passage in passages)
        return [store.document(id_) for id_ in ids], passages


def cited(passages: Sequence[Passage]) -> list[tuple[str, str, str]]:
    return [(each.text, each.marker, each.printed_page) for each in passages]


def test_pages_of_langchain_count_from_0_and_their_labels_are_what_is_printed(
    tmp_path: Path,
) -> None:
    documents, passages = build(
        tmp_path,
        ("Every ship pays.", PYPDF | {"page": 4, "page_label": "1"}),
        ("The master reports.", PYPDF | {"page": 2, "page_label": "iii"}),
        ("Nobody anchors here.", PYPDF | {"page": 4, "page_label": "1"}),
    )
    assert cited(passages) == [
        ("The master reports.", "[law.harbour-act p3]", "iii"),
        ("Every ship pays.", "[law.harbour-act p5]", "1"),
        ("Nobody anchors here.", "[law.harbour-act p5]", "1"),
    ]
    (document,) = documents
    assert (document.title, len(document.pages)) == ("harbour act", 5)
    assert document.metadata["total_pages"] == 9
    assert not {"page", "page_label"} & document.metadata.keys()


@pytest.mark.parametrize(
    ("fields", "page"),
    [
        ({"page": 0}, 1),
        ({"page": 4, "total_pages": 9}, 5),  # PyMuPDF, PDFPlumber
        ({"page": 4}, 4),  # Document AI, Document Intelligence
        ({"page": 9, "total_pages": 9}, 9),  # the last cannot be the tenth
        ({"page": "4"}, 4),
        ({"page_number": 4}, 4),  # Unstructured
        ({"page_number": 4, "total_pages": 9}, 4),
        ({"page_label": "4"}, 4),  # LlamaIndex
        ({"page": "n/a"}, 1),
        ({"page": 10**9}, 1),
        ({"page": -1}, 1),
        ({"page": 2.5}, 1),
    ],
    ids=str,
)
def test_a_page_counts_as_its_library_counts(
    tmp_path: Path, fields: dict[str, Any], page: int
) -> None:
    _, (passage,) = build(tmp_path, ("Every ship pays.", {"corpus": "law", **fields}))
    assert passage.page == page


def test_a_page_0_says_that_all_of_its_file_count_from_0(tmp_path: Path) -> None:
    old = {"source": "old.pdf", "corpus": "law"}
    other = old | {"source": "other.pdf"}
    _, passages = build(
        tmp_path,
        ("One.", old | {"page": 0}),
        ("Two.", old | {"page": 1}),
        ("Three.", other | {"page": 1}),
    )
    assert [(each.text, each.page) for each in passages] == [
        ("One.", 1),
        ("Two.", 2),
        ("Three.", 1),
    ]


def test_labels_alone_are_pages_of_which_each_new_one_is_the_next(tmp_path: Path) -> None:
    node = {"_node_type": "TextNode"}
    labels = ["ii", "ii", "1", "2"]
    documents, passages = build(
        tmp_path,
        *(
            (f"Toll {at}.", LLAMA | node | {"page_label": label, "_node_content": str(at)})
            for at, label in enumerate(labels)
        ),
    )
    assert [(each.page, each.printed_page) for each in passages] == [
        (1, "ii"),
        (1, "ii"),
        (2, "1"),
        (3, "2"),
    ]
    assert [each.title for each in documents] == ["tolls"]
    assert not any(name.startswith("_node") for name in documents[0].metadata)


def test_elements_of_a_page_are_one_document(tmp_path: Path) -> None:
    documents, passages = build(
        tmp_path,
        ("Pilots", ELEMENTS | {"page_number": 1, "category": "Title", "element_id": "a1"}),
        ("A pilot comes.", ELEMENTS | {"page_number": 2, "category": "Text", "element_id": "b2"}),
    )
    assert [each.marker for each in passages] == ["[law.pilots p1]", "[law.pilots p2]"]
    assert [each.text for each in documents] == ["Pilots\n\nA pilot comes."]


def test_what_records_share_by_their_start_index_stands_in_the_document_once(
    tmp_path: Path,
) -> None:
    note = {"source": "note.txt", "corpus": "law"}
    text = "Every ship pays a toll at the gate.\n\nNobody anchors here."
    spans = [(37, 57), (0, 18), (11, 35), (11, 35)]
    documents, passages = build(
        tmp_path,
        *((text[start:end], note | {"start_index": start}) for start, end in spans),
    )
    assert [each.text for each in documents] == [text]
    assert sorted((each.start, each.end) for each in passages) == sorted(spans)


def test_a_start_index_that_does_not_fit_is_no_overlap(tmp_path: Path) -> None:
    note = {"source": "note.txt", "corpus": "law"}
    documents, _ = build(
        tmp_path,
        ("Every ship pays.", note | {"start_index": 0}),
        ("Nobody anchors.", note | {"start_index": 5}),
    )
    assert [each.text for each in documents] == ["Every ship pays.\n\nNobody anchors."]


def test_records_that_differ_in_more_than_their_place_stay_apart(tmp_path: Path) -> None:
    day = {"source": "hansard.pdf", "page": 1, "corpus": "law"}
    documents, passages = build(
        tmp_path,
        ("Order.", day | {"date": "1954-05-17", "speaker": "The Speaker"}),
        ("I rise.", day | {"date": "1954-05-18", "speaker": "Ms Roe"}),
        ("So do I.", day | {"date": "1954-05-18", "speaker": "Mr Hay"}),
        ("Elsewhere.", day | {"corpus": "town", "date": "1954-05-18"}),
        ("No place.", {"source": "hansard.pdf", "corpus": "law"}),
    )
    assert sorted(len(each.text) for each in documents) == [6, 9, 10, 17]
    assert {each.text: each.speaker for each in passages} == {
        "Order.": "The Speaker",
        "I rise.": "Ms Roe",
        "So do I.": "Mr Hay",
        "Elsewhere.": "",
        "No place.": "",
    }
    assert len({each.document_id for each in passages}) == 4


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"title": "The Harbour Act", "source": "a.pdf"}, "The Harbour Act"),
        ({"title": "a.pdf", "source": "C:\\in\\Tolls 1901.pdf"}, "Tolls 1901"),
        ({"file_name": "tolls.docx"}, "tolls"),
        ({"source": "https://example.org/a.html"}, "Every ship pays."),
        ({"source": "gazette"}, "Every ship pays."),
    ],
    ids=str,
)
def test_a_title_is_the_stated_one_or_the_name_of_the_file(
    tmp_path: Path, fields: dict[str, Any], title: str
) -> None:
    (document,), _ = build(tmp_path, ("Every ship pays.", {"corpus": "law", **fields}))
    assert document.title == title
