"""From a file to documents: front matter, odd texts, renamed fields, and the file's fingerprint."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.prepare import VERSION, Preparation, prepare
from atlas_search.building.sources import by_folder
from atlas_search.core.domain import Document
from atlas_search.language.text import ANALYSER_VERSION
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import Range
from atlas_search.stores.staged import StagedDocument
from tests.hash_embedder import HashEmbedder
from tests.samples.make_epub import epub_parts
from tests.source_builds import build_from, reader_of, remarks, sources_of
from tests.source_builds import documents as documents_of
from tests.source_files import MAKERS, book, good_files, lines_of, with_part, write_files
from tests.tiny import build_tiny, write_sources

NOTE = "---\nheadline: On sheep\nWrittenBy: A. Shepherd\nwhen: 1901\ndate: 1950\n---\nWool."
NUMBERS = "---\ntitle: 1984\ndate: 1957\nseats: 120\ntags: [2020]\nopen: true\n---\nA text."
ODD = "Null \x00 byte, emoji 👩‍⚖️, surrogate-free 𝔘nicode, RTL שלום, combining e\u0301. " * 20
FRONTS = ("date: 1957-02-30", "just words", "a: [", "n: " + "9" * 400)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedStore]:
    """A collection of texts that are odd in one way each."""
    root = tmp_path_factory.mktemp("odd")
    files = {
        "town/numbers.txt": NUMBERS,
        "town/odd.txt": ODD,
        "town/braces.txt": "{ curly } beginnings are fine.",
        "town/pages.txt": "\fPage two.\fPage three, about the quagga.",
        **{f"town/front{n}.txt": f"---\n{front}\n---\nA text." for n, front in enumerate(FRONTS)},
    }
    source = write_sources(root / "source", files)
    (source / "town" / "latin.txt").write_bytes("Café".encode("latin-1"))
    report = build_tiny(source, root / "c", HashEmbedder())
    remarks = {file.source: file.remarks[0] for file in report.files if file.remarks}
    assert remarks.pop("town/latin.txt").startswith("not UTF-8 at byte 3; it looks like cp1252")
    assert remarks.keys() == {f"town/front{n}.txt" for n in range(3)}
    assert {remark.partition(":")[0] for remark in remarks.values()} == {
        "its front matter is not valid YAML"
    }
    assert report.manifest.documents == len(files) - 3
    opened = EmbeddedStore(root / "c")
    yield opened
    opened.close()


def test_years_numbers_and_truth_values_in_front_matter_can_be_found(store: EmbeddedStore) -> None:
    document = store.document("town.numbers")
    assert (document.title, document.metadata["date"]) == ("1984", "1957")
    for field, condition, count in (
        ("date", Range(first_day="1957-01-01", last_day="1957-12-31"), 1),
        ("seats", Range(low=100, high=120), 1),
        ("seats", Range(low=121), 0),
        ("tags", ("2020",), 1),
        ("open", ("true",), 1),
        ("title", Range(low=0), 0),
    ):
        assert len(store.scope({field: condition}).documents) == count, (field, condition)


def test_characters_that_no_store_has_seen_survive(store: EmbeddedStore) -> None:
    text = store.document("town.odd").text
    passages = store.document_passages("town.odd")
    assert text == ODD.strip()
    assert [passage.text for passage in passages] == [text[p.start : p.end] for p in passages]


def test_pages_are_counted_from_the_first_even_if_it_is_empty(store: EmbeddedStore) -> None:
    pages = {passage.text: passage.page for passage in store.document_passages("town.pages")}
    assert pages == {"Page two.": 2, "Page three, about the quagga.": 3}


# metadata fields under other names: `--rename`


def documents(kind: str, root: Path, **rename: str) -> list[Document]:
    reader = reader_of(kind)
    preparation = Preparation(
        *(kind, reader, chunking(splitter="whole"), lambda _: [], ""), rename=rename
    )
    files = by_folder([root], reader.suffixes, "").files
    prepared = (each for file in files for each in prepare(preparation, file))
    return [each.document for each in prepared if isinstance(each, StagedDocument)]


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fields_of_every_type_can_be_renamed(kind: str, tmp_path: Path) -> None:
    write_files(tmp_path, good_files(kind))
    before = [document.metadata for document in documents(kind, tmp_path)]
    old = next(name for each in before for name in each if name not in {"title", "content_type"})
    after = [document.metadata for document in documents(kind, tmp_path, **{old: "new"})]
    assert [each.get("new") for each in after] == [each.get(old) for each in before]
    assert any("new" in each for each in after)
    assert not any(old in each for each in after)


@pytest.mark.parametrize(
    ("rename", "title", "metadata"),
    [
        ({}, "Wool.", {"date": "1950", "when": 1901}),
        ({"written_by": "author"}, "Wool.", {"author": "A. Shepherd"}),  # written in any way
        ({"when": "date"}, "Wool.", {"date": "1901", "when": None}),
        ({"when": "date", "date": "when"}, "Wool.", {"date": "1901", "when": 1950}),
        ({"headline": "title"}, "On sheep", {}),
    ],
)
def test_a_renamed_field_takes_the_place_of_another(
    tmp_path: Path, rename: dict[str, str], title: str, metadata: dict[str, object]
) -> None:
    write_files(tmp_path, {"farm/sheep.txt": NOTE.encode()})
    (note,) = documents("txt", tmp_path, **rename)
    assert note.title == title
    assert {name: note.metadata.get(name) for name in metadata} == metadata


def test_a_fingerprint_is_that_of_all_settings_and_of_the_bytes(tmp_path: Path) -> None:
    """It may change only with VERSION: every source is read again then."""
    write_files(tmp_path, {"farm/sheep.txt": NOTE.encode()})
    reader, cut = reader_of("txt"), chunking()
    (file,) = by_folder([tmp_path], reader.suffixes, "").files
    for rename in ({}, {"when": "date"}):
        made = Preparation("txt", reader, cut, lambda _: [], "", rename=rename)
        settings = [VERSION, ANALYSER_VERSION, reader.options, asdict(cut), "", file.stem, rename]
        settings.append(asdict(file.rule) | {"language": "en"})
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode())
        digest.update(hashlib.sha256(NOTE.encode()).digest())
        assert made.fingerprint(file) == digest.digest()


def test_titles_sections_and_speakers_leave_no_direction_open(tmp_path: Path) -> None:
    said = {name: f"On \u2067{name} \u202epeehs" for name in ("title", "section", "speaker")}
    line = json.dumps({"id": "d", "text": "Sheep give wool.", **said})
    source = write_sources(tmp_path / "source", {"farm/a.jsonl": line})
    build_tiny(source, tmp_path / "c", HashEmbedder(), kind="jsonl")
    with closing(EmbeddedStore(tmp_path / "c")) as store:
        (passage,) = store.document_passages("farm.d")
    for name, label in said.items():
        assert getattr(passage, name) == f"{label}\u202c\u2069"


# a unit, an attribute or a remark is never the text

PROSE = (
    "the harbour master demanded a new lighthouse at this bay since three vessels ran aground on "
    "its rocks during one winter and no pilot would any longer bring merchants past them after dark"
)
TOKENS = "<p>pixel</p>" + "".join(f'<token form="{word}"/>' for word in PROSE.split())
LEMMAS = "".join(f'<t lemma="{word}" n="a{n}">{word}</t> ' for n, word in enumerate(PROSE.split()))


def test_a_file_whose_words_stand_elsewhere_is_refused(tmp_path: Path) -> None:
    chapters = {"One": "<p>pixel</p>", "Two": f"<p>{PROSE}</p>"}
    parts = epub_parts("b", "2000-01-01T00:00:00Z", [("title", "Book")], chapters)
    package = "OEBPS/content.opf"
    spine = re.sub(r"(?s)(<itemref[^>]*>).*(?=</spine>)", r"\1", parts[package])
    letter = good_files("docx")["farm/will.docx"]
    body = ZipFile(BytesIO(letter)).read("word/document.xml").decode()
    short = with_part(
        letter, "word/document.xml", re.sub("<w:t>.*</w:t>", "<w:t>pixel</w:t>", body)
    )
    files = {
        "unit.xml": f"<corpus>{TOKENS}</corpus>".encode(),
        "page.html": f"<html><body>{TOKENS}</body></html>".encode(),
        "rows.jsonl": lines_of(*({"text": "pixel", "note": word} for word in PROSE.split())),
        "book.epub": book(parts | {package: spine}),
        "letter.docx": with_part(short, "word/numbering.xml", f"<a><b>{PROSE}</b></a>"),
        "lemmas.xml": f"<corpus>{LEMMAS}</corpus>".encode(),
    }
    write_files(tmp_path / "town", files)
    report = build_from("files", tmp_path / "c", sources_of("files", tmp_path))
    told = remarks(report)
    places = {
        name: re.findall("stand in `(.*?)`, which holds 3. .* only [12] ", told[f"town/{name}"])
        for name in files
    }
    assert places == {
        "unit.xml": ["token/@form"],
        "page.html": ["token/@form"],
        "rows.jsonl": ["note"],
        "book.epub": ["OEBPS/chapter-2.xhtml"],
        "letter.docx": ["word/numbering.xml"],
        "lemmas.xml": [],
    }
    assert [name for name, count in documents_of(report).items() if count] == ["town/lemmas.xml"]


def test_a_passage_of_a_scan_knows_how_surely_its_own_words_were_read(tmp_path: Path) -> None:
    lines = [("Ships came at the tide.", "0.9"), ("Tne wa11 fe1l.", "0.25"), ("Nobody saw it.", "")]
    blocks = "".join(
        "<TextBlock><TextLine>"
        + "".join(f'<String CONTENT="{word}" WC="{sure}"/>' for word in line.split())
        + "</TextLine></TextBlock>"
        for line, sure in lines
    )
    page = f"<alto><Layout><Page><PrintSpace>{blocks}</PrintSpace></Page></Layout></alto>"
    write_files(tmp_path / "town", {"scan.xml": page.encode()})
    sources, cut = sources_of("xml", tmp_path), chunking(splitter="paragraph")
    build_from("xml", tmp_path / "c", sources, cut)
    with closing(EmbeddedStore(tmp_path / "c")) as store:
        passages = store.document_passages("town.scan")
        document = store.document("town.scan")
    assert [p.text for p in passages] == [line for line, _ in lines]
    mean = round((5 * 0.9 + 3 * 0.25) / 8, 3)
    assert [p.metadata["ocr_confidence"] for p in passages] == [0.9, 0.25, mean]
    assert document.metadata["ocr_confidence"] == mean
