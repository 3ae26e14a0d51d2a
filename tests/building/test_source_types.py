"""Promises that hold for every source type: each kind of file through the real build."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildReport
from atlas_search.cli.create import COMMANDS
from atlas_search.core.metadata import MetadataValue
from atlas_search.language.text import content_words, words
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import (
    SUFFIXES,
    build_from,
    documents,
    passages_of,
    remarks,
    sources_of,
    stored,
    write_good,
)
from tests.source_files import good_files, write_files


@dataclass(frozen=True)
class Expected:
    """A document: its title, page, section and speaker of its passages, some of its metadata."""

    title: str
    places: tuple[tuple[int, str, str], ...] = ((1, "", ""),)
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


SPEECHES = {
    "town.s-1": Expected(
        "On ships", ((7, "Harbour dues", "Ann"),), {"date": "1887-05-03", "speaker": "Ann"}
    ),
    "town.s-2": Expected("On walls", ((9, "Sea wall", "Bob"),), {"date": "1887"}),
}

EXPECTED: dict[str, dict[str, Expected]] = {
    "txt": {
        "farm.wool": Expected("Sheep give wool.", ((1, "", ""), (2, "", ""))),
        "town.ledger": Expected(
            "The ledger",
            ((1, "Arrivals", ""), (1, "Departures", "")),
            {"date": "1887-05-03", "tags": ("ships", "dues"), "berths": 40},
        ),
    },
    "pdf": {
        "farm.survey": Expected("A survey of the pastures."),
        "town.charter": Expected(
            "The town charter",
            ((1, "The charter", ""), (2, "Penalties", "")),
            {"author": "A. Clerk", "created": "2000-01-01"},
        ),
    },
    "html": {
        "farm.fair": Expected("The fair", ((1, "The fair", ""),)),
        "town.notice": Expected(
            "A notice",
            ((1, "A notice", ""), (1, "A notice > Tolls", "")),
            {"author": "A. Clerk", "date": "1887-05-03", "language": "en"},
        ),
    },
    "xml": {
        "farm.hansard": Expected(
            "4 May 1887",
            ((1, "WOOL BILL", "Mr. Cole"),),
            {"date": "1887-05-04", "house": "House of Commons"},
        ),
        "town.debate": Expected(
            "Debate on the harbour",
            ((1, "Harbour dues", "Ann"), (2, "Harbour dues", "Bob")),
            {"date": "1887-05-03", "speakers": ("Ann", "Bob")},
        ),
    },
    "csv": {"farm.lambs.row-1": Expected("Lambs are born in spring."), **SPEECHES},
    "jsonl": {
        "farm.diary.row-1": Expected("It rained on the hay."),
        "town.s-1": Expected(
            "On ships",
            ((7, "Harbour dues", "Ann"),),
            {"page": 7, "berths": 40, "tags": ("ships", "dues")},
        ),
        "town.s-2": SPEECHES["town.s-2"],
    },
    "docx": {
        "farm.will": Expected("I leave my sheep to my daughter."),
        "town.minutes": Expected(
            "Minutes of the council",
            ((1, "Harbour", ""), (2, "Sea wall", "")),
            {"author": "A. Clerk"},
        ),
    },
    "epub": {
        "farm.almanac": Expected("Almanac", ((1, "Spring", ""),)),
        "town.history": Expected(
            "A history of the town",
            ((1, "The harbour", ""), (2, "The sea wall", "")),
            {"author": ("A. Clerk",), "date": "1887"},
        ),
    },
    "pptx": {
        "farm.show": Expected("Lambs are shown at the fair."),
        "town.talk": Expected(
            "A talk on the town",
            ((1, "Harbour", ""), (2, "Sea wall", "")),
            {"author": "A. Clerk"},
        ),
    },
    "xlsx": {
        "farm.flocks": Expected("Farm | Sheep | Wool", metadata={"author": "A. Clerk"}),
        **SPEECHES,
    },
    "odt": {
        "farm.lease": Expected("The pasture is let for a year."),
        "town.report": Expected(
            "A report on the town",
            ((1, "Harbour", ""), (1, "Wall", "")),
            {"author": "A. Clerk"},
        ),
    },
    "rtf": {
        "farm.seed": Expected("Oats are sown in March."),
        "town.bylaws": Expected(
            "The by-laws",
            ((1, "Harbour", ""), (2, "Sea wall", "")),
            {"author": "A. Clerk"},
        ),
    },
    "mail": {
        "farm.note": Expected("The shearing", metadata={"author": ("Eve",)}),
        "town.1-town": Expected("On ships", metadata={"author": ("Anna",), "date": "1999-05-03"}),
        "town.2-town": Expected("On walls", metadata={"date": "1999-05-04"}),
    },
    "marc": {
        "farm.1": Expected("Wool and its uses."),
        "town.s1": Expected("Ships"),
        "town.w2": Expected("Walls", metadata={"date": "1887", "author": ("Clerk, A.",)}),
    },
    "bib": {
        "farm.papers.record-1": Expected("On wool"),
        "town.ships": Expected("On ships", metadata={"date": "1887"}),
        "town.walls": Expected("On walls", metadata={"author": ("Clerk, A.",)}),
    },
    "zotero": {
        "farm.wool": Expected("Wool is warm."),
        "town.SHIP1111": Expected("On ships", metadata={"date": "1887"}),
        "town.files.wall": Expected("On walls", metadata={"abstract": "Old."}),
    },
    "oai": {
        "farm.oai-farm-1": Expected("Wool", metadata={"tags": ("sheep",)}),
        "town.oai-town-1": Expected("On ships", metadata={"date": "1887"}),
        "town.oai-town-2": Expected("On walls", metadata={"author": ("Clerk, A.",)}),
    },
    "iiif": {
        "farm.wool": Expected("Wool", metadata={"shelf_mark": "MC 7"}),
        "town.ships": Expected("On ships", ((1, "", ""), (2, "", ""))),
    },
    "beir": {
        "farm.1": Expected("Hay", metadata={"record_id": "1"}),
        "town.d-1": Expected("Ships", metadata={"record_id": "d 1", "n": 1}),
        "town.d-2": Expected("The wall fell.", metadata={"record_id": "d/2"}),
    },
    "chroma": {
        "town.l-1": Expected("Letters", metadata={"year": 1887, "tags": ("a", "b")}),
        "town.l-2": Expected("Letters", metadata={"year": 1887, "open": "true"}),
    },
}

KINDS = sorted(COMMANDS)
pytestmark = pytest.mark.usefixtures("read_here")
assert set(KINDS) == {*EXPECTED, "files"}


def write_changed(kind: str, root: Path) -> None:
    """Write the one file again that says how many ships there are."""
    if kind == "chroma":
        write_good(kind, root, "Eleven")
    else:
        name, content = next(iter(good_files(kind, "Eleven").items()))
        write_files(root, {name: content})


@dataclass(frozen=True)
class Built:
    """A collection of the good files of one type, built once; sections part its passages."""

    kind: str
    root: Path
    folder: Path
    report: BuildReport
    store: EmbeddedStore


STRUCTURAL = chunking("structural")


@pytest.fixture(scope="module", params=KINDS)
def built(
    read_here: None, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Built]:
    kind = request.param
    root = tmp_path_factory.mktemp(kind)
    write_good(kind, root / "sources")
    report = build_from(kind, root / "c", sources_of(kind, root / "sources"), STRUCTURAL)
    store = EmbeddedStore(root / "c")
    yield Built(kind, root / "sources", root / "c", report, store)
    store.close()


def expected_of(kind: str) -> dict[str, Expected]:
    if kind != "files":
        return EXPECTED[kind]
    # the speeches of the table and those of the JSON file claim the same ids
    every = {id_: each for suffix in SUFFIXES for id_, each in EXPECTED[suffix].items()}
    return {id_: each for id_, each in every.items() if id_ not in SPEECHES}


def test_titles_metadata_pages_sections_and_speakers_are_read(built: Built) -> None:
    for id_, expected in expected_of(built.kind).items():
        document, passages = built.store.document(id_), built.store.document_passages(id_)
        assert document.title == expected.title
        assert expected.metadata.items() <= document.metadata.items()
        assert tuple((p.page, p.section, p.speaker) for p in passages) == expected.places
    assert sum(documents(built.report).values()) == built.report.manifest.documents


def test_every_passage_is_its_span_and_has_an_id_of_its_own(built: Built) -> None:
    passages = passages_of(built.store)
    for passage in passages:
        text = built.store.document(passage.document_id).text
        assert passage.text == text[passage.start : passage.end]
        assert built.store.passage(passage.id) == passage
    assert len({passage.id for passage in passages}) == len(passages)


def test_every_passage_is_found_by_its_vector_and_by_its_words(built: Built) -> None:
    for passage in passages_of(built.store):
        vector = HashEmbedder().embed_query(passage.embedded)
        hits = built.store.nearest(passage.corpus, vector, 1, None)
        assert built.store.passages(hits.rows.tolist())[0].text == passage.text
        assert hits.scores[0] == pytest.approx(1.0, abs=1e-3)
        terms = [word.term for word in content_words(words(passage.text))]
        assert passage.row in built.store.matching(passage.corpus, terms, 3, None).rows


def test_a_second_build_reads_nothing_and_changes_nothing(built: Built) -> None:
    again = build_from(built.kind, built.folder, sources_of(built.kind, built.root), STRUCTURAL)
    assert (again.unchanged, again.read, again.embedded) == (True, 0, 0)
    assert again.manifest == built.report.manifest
    assert again.files == built.report.files


def test_the_same_files_elsewhere_give_the_same_passages_and_only_changes_are_read_again(
    built: Built, tmp_path: Path
) -> None:
    root, folder = tmp_path / "another [place] 100%", tmp_path / "c"
    shutil.copytree(built.root, root)
    build_from(built.kind, folder, sources_of(built.kind, root), STRUCTURAL)
    before = stored(folder)
    assert before == passages_of(built.store)
    write_changed(built.kind, root)
    report = build_from(built.kind, folder, sources_of(built.kind, root), STRUCTURAL)
    (changed,) = {p.text for p in stored(folder)} - {p.text for p in before}
    assert "Eleven ships" in changed
    assert (report.changes.changed, report.changes.added, report.changes.removed) == (1, 0, 0)
    assert (report.read, report.embedded) == (1, 0 if built.kind == "chroma" else 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chroma"])
def test_a_file_that_vanishes_after_it_was_listed_is_reported(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good(kind, root)
    sources = sources_of(kind, root)
    (root / sources.files[0].name).unlink()
    report = build_from(kind, tmp_path / "c", sources)
    assert "No such file" in remarks(report)[sources.files[0].name]
    assert documents(report)[sources.files[0].name] == 0
    assert report.manifest.documents == sum(documents(report).values()) > 0
