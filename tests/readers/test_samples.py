"""The bundled samples: every format is there, and what is generated is what is committed.

What is read of them is among the golden files of `tests/faces`.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from atlas_search.readers import Draft
from atlas_search.readers.files import files_reader
from tests.conftest import SAMPLES, sample_documents
from tests.samples.make_samples import made

GENERATED = dict(made())
TEXTS = {".md", ".txt"}
WITH_FIELDS = {".csv", ".jsonl", ".html"}
FILES = sorted(path for path in SAMPLES.glob("*/*") if path.is_file())


def drafts(path: Path) -> Iterator[Draft]:
    for read in files_reader().read(path, ""):
        assert isinstance(read, Draft), (path, read)
        yield read


@pytest.mark.parametrize("target", GENERATED, ids=Path.as_posix)
def test_a_generated_sample_is_what_its_text_gives(target: Path) -> None:
    # a plain `==` of such bytes would print them
    same = (SAMPLES / target).read_bytes() == GENERATED[target]
    assert same, f"{target}: run `python -m tests.samples.make_samples`"


def test_the_samples_are_small_and_have_every_format() -> None:
    generated = {SAMPLES / target for target in GENERATED}
    assert {path for path in FILES if path.suffix in (".pdf", ".docx", ".epub")} == generated
    others = {".pdf", ".docx", ".epub", ".xml"}
    assert {path.suffix for path in FILES} == TEXTS | WITH_FIELDS | others
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 600_000


def test_no_two_documents_have_the_same_id_and_all_gold_ones_are_there() -> None:
    ids = [document.id for document in sample_documents()]
    assert len(ids) == len(set(ids)) == 84
    lines = (SAMPLES / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    gold = {id_ for line in lines for id_ in json.loads(line)["gold_document_ids"]}
    assert gold - set(ids) == set()


def test_every_text_sample_names_its_source() -> None:
    for path in FILES:
        if path.suffix in TEXTS:
            front = yaml.safe_load(path.read_text(encoding="utf-8").split("---")[1])
            assert front["url"].startswith("https://"), path
            assert all(front[name] for name in ("source", "title", "tags")), path
            assert "court" in front or "body" in front, path


def test_every_other_sample_names_its_source_in_fields_or_in_its_text() -> None:
    fields = {"title", "date", "author", "tags", "url", "source"}
    for path in FILES:
        for draft in drafts(path) if path.suffix not in TEXTS else ():
            assert draft.title, path
            if path.suffix in WITH_FIELDS:
                assert fields <= draft.metadata.keys(), path
                assert str(draft.metadata["url"]).startswith("https://"), path
            else:
                everything = f"{draft.metadata}{draft.text}"
                assert "https://" in everything, path
                assert "source" in everything.lower(), path
