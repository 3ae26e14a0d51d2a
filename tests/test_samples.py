"""The bundled samples: every format is there, and what is generated is what is committed."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from atlas_search.readers import Draft, Reader
from atlas_search.readers.docx import DocxReader
from atlas_search.readers.epub import EpubReader
from atlas_search.readers.html import HtmlReader
from atlas_search.readers.pdf import PdfReader
from atlas_search.readers.tables import CsvReader, JsonlReader
from atlas_search.readers.xml.read import XmlReader
from tests.places import ROOT
from tests.samples.make_samples import made

SAMPLES = ROOT / "create" / "samples"
GENERATED = dict(made())
READERS: dict[str, Reader] = {
    ".csv": CsvReader(),
    ".docx": DocxReader(),
    ".epub": EpubReader(),
    ".html": HtmlReader(),
    ".jsonl": JsonlReader(),
    ".pdf": PdfReader(),
    ".xml": XmlReader(),
}
TEXTS = {".md", ".txt"}
FILES = sorted(path for path in SAMPLES.glob("*/*") if path.is_file())


def name(path: Path) -> str:
    return path.relative_to(SAMPLES).as_posix()


def drafts(suffix: str) -> Iterator[tuple[Path, Draft]]:
    for path in FILES:
        if path.suffix == suffix:
            for read in READERS[suffix].read(path, ""):
                assert isinstance(read, Draft), (path, read)
                yield path, read


def document_ids() -> Iterator[str]:
    """The id of each document: its corpus, and its record id or file name."""
    for path in FILES:
        corpus = path.parent.name
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as table:
                yield from (f"{corpus}.{row['id']}" for row in csv.DictReader(table))
        elif path.suffix == ".jsonl":
            lines = path.read_text(encoding="utf-8").splitlines()
            yield from (f"{corpus}.{json.loads(line)['id']}" for line in lines)
        else:
            yield f"{corpus}.{path.stem}"


@pytest.mark.parametrize("target", GENERATED, ids=Path.as_posix)
def test_a_generated_sample_is_what_its_text_gives(target: Path) -> None:
    # a plain `==` of such bytes would print them
    same = (SAMPLES / target).read_bytes() == GENERATED[target]
    assert same, f"{target}: run `python -m tests.samples.make_samples`"


def test_every_pdf_word_and_epub_sample_is_generated() -> None:
    binary = {name(path) for path in FILES if path.suffix in (".pdf", ".docx", ".epub")}
    assert binary == {target.as_posix() for target in GENERATED}


def test_every_format_is_among_the_samples() -> None:
    assert {path.suffix for path in FILES} == TEXTS | READERS.keys()


def test_the_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 600_000


def test_no_two_documents_have_the_same_id() -> None:
    ids = list(document_ids())
    assert len(ids) == len(set(ids)) == 84


def test_every_gold_document_of_the_labels_is_a_sample() -> None:
    lines = (SAMPLES / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {id_ for line in lines for id_ in json.loads(line)["gold_document_ids"]}
    assert gold - set(document_ids()) == set()


def test_every_text_sample_names_its_source() -> None:
    for path in FILES:
        if path.suffix in TEXTS:
            front = yaml.safe_load(path.read_text(encoding="utf-8").split("---")[1])
            assert front["source"], path
            assert front["url"].startswith("https://"), path
            assert front["title"], path
            assert front["tags"], path
            assert "court" in front or "body" in front, path


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".html"])
def test_a_sample_with_fields_names_its_source_in_them(suffix: str) -> None:
    for path, draft in drafts(suffix):
        assert draft.title, path
        assert {"title", "date", "author", "tags", "url", "source"} <= draft.metadata.keys(), path
        assert str(draft.metadata["url"]).startswith("https://"), path


@pytest.mark.parametrize("suffix", [".docx", ".epub", ".pdf", ".xml"])
def test_a_sample_in_any_other_format_names_its_source_in_fields_or_in_its_text(
    suffix: str,
) -> None:
    for path, draft in drafts(suffix):
        assert draft.title, path
        assert "https://" in f"{draft.metadata}{draft.text}", path
        assert "source" in f"{draft.metadata}{draft.text}".lower(), path


def test_a_pdf_sample_has_its_pages_and_the_sections_of_its_outline() -> None:
    ((_, draft), *_) = drafts(".pdf")
    assert len(draft.pages) == 3
    assert draft.text[draft.pages[2] :].startswith("The Supreme Court\n\nSection 23")
    assert [segment.section for segment in draft.segments][:2] == [
        "Background",
        "Passage of the bill",
    ]
