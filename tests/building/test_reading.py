"""A build after changes to its sources: only changes are read, cut, embedded and replaced."""

import errno
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.building import prepare, reading, source_file
from atlas_search.building.document_ids import Changes
from atlas_search.building.flow import BuildReport
from atlas_search.building.source_file import FileDigests, sha256_of
from atlas_search.building.sources import CorpusNote, Sources, by_folder, by_mapping
from atlas_search.core.domain import Document
from atlas_search.readers import Read
from atlas_search.readers.text import TxtReader
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import Range
from atlas_search.stores.manifest import Manifest
from tests import tiny
from tests.building.damage import change, problems
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    FARM,
    READERS,
    all_vectors,
    build_tiny,
    contents,
    document_ids,
    index,
    json_lines,
    keyword_hits,
    rows,
    write_sources,
)

NOTHING = Changes(added=0, changed=0, unchanged=3, removed=0)


def test_nothing_is_done_where_nothing_changed(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    version = Manifest.read(folder).version
    (source / "farm/cows.txt").touch()
    report = build_tiny(source, folder, hashes)
    assert (report.changes, report.unchanged, report.read) == (NOTHING, True, 0)
    assert (report.embedded, hashes.embedded) == (0, 0)
    assert Manifest.read(folder).version == version


def test_progress_counts_files_that_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_file, "_SETTLED_NS", -1)
    monkeypatch.setattr(reading, "LOOKED_AT", 2)
    steps: list[tuple[int, int]] = []

    def note(stage: str, done: int, total: int) -> None:
        if stage == "Reading files":
            steps.append((done, total))

    monkeypatch.setattr(tiny, "silent", note)
    source = write_sources(tmp_path / "s", {f"a/{n}.txt": f"Wool {n}." for n in range(5)})
    build_tiny(source, tmp_path / "c", HashEmbedder())
    assert (steps[0], steps[-1]) == ((0, 5), (5, 5))
    steps.clear()
    change(source, {"a/2.txt": "Wool and cloth."})
    report = build_tiny(source, tmp_path / "c", HashEmbedder())
    assert (report.read, report.changes) == (1, Changes(0, 1, 4, 0))
    # two that stay, one that stays beside one that is to be read, one more; then that one
    assert list(dict.fromkeys(steps)) == [(0, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize(
    ("edit", "expected", "embedded"),
    [
        ({"farm/goats.txt": "Goats climb."}, Changes(1, 0, 3, 0), 1),
        ({"farm/cows.txt": "Cows give much milk.\n"}, Changes(0, 1, 2, 0), 1),
        ({"farm/cows.txt": None}, Changes(0, 0, 2, 1), 0),
        ({"farm/cows.txt": None, "farm/kine.txt": "Cows give milk.\n"}, Changes(1, 0, 2, 1), 0),
        ({"farm/cows.txt": None, "town/cows.txt": "Cows give milk.\n"}, Changes(1, 0, 2, 1), 0),
        ({"farm/goats.txt": "Goats.", "farm/cows.txt": "Cows!"}, Changes(1, 1, 2, 0), 2),
        ({"farm/sheep.md": "Sheep give wool.\n"}, Changes(0, 1, 2, 0), 1),
        ({"farm/copy.txt": "Cows give milk.\n"}, Changes(1, 0, 3, 0), 0),
        ({"farm/blank.txt": " \n"}, Changes(0, 0, 3, 0), 0),
    ],
    ids="added changed removed renamed moved both metadata copied empty".split(),
)
def test_a_report_counts_exactly_what_changed(
    source: Path,
    folder: Path,
    hashes: HashEmbedder,
    edit: Mapping[str, str | None],
    expected: Changes,
    embedded: int,
) -> None:
    change(source, edit)
    report = build_tiny(source, folder, hashes)
    assert report.changes == expected
    assert (report.embedded, hashes.embedded) == (embedded, embedded)
    assert report.read == len([content for content in edit.values() if content is not None])
    again = build_tiny(source, folder, hashes)
    assert again.unchanged
    assert again.changes.unchanged == expected.added + expected.changed + expected.unchanged


def test_a_removed_file_is_gone_from_every_part(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    assert keyword_hits(folder, "cow") == ["farm.cows:0-15"]
    change(source, {"farm/cows.txt": None})
    build_tiny(source, folder, hashes)
    assert index(folder)["farm"][0] == ["farm.sheep:0-16"]
    assert document_ids(folder) == ["farm.sheep", "town.trade"]
    for table in ("documents", "passages", "texts", "metadata"):
        numbers = {row["document"] for row in rows(folder, f"SELECT document FROM {table}")}
        assert numbers == {0, 1}, table
    assert not rows(folder, "SELECT name FROM sources WHERE name = 'farm/cows.txt'")
    assert keyword_hits(folder, "cow") == keyword_hits(folder, "milk") == []
    assert keyword_hits(folder, "sheep") == ["farm.sheep:0-16"]


def test_front_matter_is_updated_without_embedding(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    change(source, {"farm/sheep.md": FARM["farm/sheep.md"].replace("1901", "1950\nbreed: Merino")})
    assert build_tiny(source, folder, hashes).embedded == 0
    store = EmbeddedStore(folder)
    assert len(store.scope({"breed": ("Merino",)}).documents) == 1
    old = Range(first_day="1901-01-01", last_day="1901-12-31")
    assert len(store.scope({"date": old}).documents) == 0
    assert store.document("farm.sheep").metadata["date"] == "1950"
    assert Manifest.read(folder).fields["breed"].counts == {"Merino": 1}
    store.close()


def test_an_edited_mapping_is_applied_without_embedding(
    tmp_path: Path, source: Path, hashes: HashEmbedder
) -> None:
    mapping = source / "corpora.toml"
    text = '[[corpus]]\nid = "{id}"\nlabel = "{label}"\ninclude = ["**"]\nmetadata = {metadata}\n'
    steps = []
    for id_, label, metadata in (
        ("all_texts", "All texts", '{ jurisdiction = "US" }'),
        ("all_texts", "Every text", '{ jurisdiction = "US" }'),
        ("all_texts", "Every text", '{ jurisdiction = "NZ" }'),
        ("texts", "Every text", '{ jurisdiction = "NZ" }'),
    ):
        mapping.write_text(text.format(id=id_, label=label, metadata=metadata))
        sources = by_mapping(source, mapping, READERS["txt"].suffixes, "")
        report = build_tiny(sources, tmp_path / "c", hashes)
        store = EmbeddedStore(tmp_path / "c")
        (corpus,) = store.corpora
        documents = len(store.scope({"jurisdiction": ("NZ",)}).documents)
        store.close()
        steps.append((corpus.id, corpus.label, documents, report.embedded, str(report.changes)))
    assert steps == [
        ("all_texts", "All texts", 0, 3, "3 added, 0 changed, 0 unchanged, 0 removed"),
        ("all_texts", "Every text", 0, 0, "0 added, 0 changed, 3 unchanged, 0 removed"),
        ("all_texts", "Every text", 3, 0, "0 added, 3 changed, 0 unchanged, 0 removed"),
        ("texts", "Every text", 3, 0, "0 added, 3 changed, 0 unchanged, 0 removed"),
    ]


def test_a_label_that_is_taken_back_is_gone(folder: Path, source: Path) -> None:
    plain = by_folder([source], READERS["txt"].suffixes, "")
    labels = []
    chosen: dict[str, CorpusNote]
    for chosen in ({"farm": CorpusNote(label="Our farm")}, {}):
        sources = Sources(plain.files, plain.left_out, chosen)
        labels.append(build_tiny(sources, folder, HashEmbedder()).manifest.corpora[0].label)
    assert labels == ["Our farm", "Farm"]


def test_a_moved_file_with_the_same_id_is_found_where_it_is_now(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    source = write_sources(tmp_path / "source", {"farm/cow report.txt": "Cows give milk."})
    build_tiny(source, tmp_path / "c", hashes)
    write_sources(source, {"farm/cow-report.txt": "Cows give milk."})
    report = build_tiny(source, tmp_path / "c", hashes)
    assert (report.changes, report.embedded) == (Changes(1, 0, 0, 1), 0)
    stored = rows(tmp_path / "c", "SELECT id, source FROM documents")
    assert stored == [{"id": "farm.cow-report", "source": "farm/cow-report.txt"}]
    assert build_tiny(source, tmp_path / "c", hashes).read == 0


def test_a_corpus_that_comes_back_is_embedded_only_if_no_version_has_it(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    whole, trade = contents(folder), {"town/trade.txt": FARM["town/trade.txt"]}
    change(source, {"town/trade.txt": None})
    report = build_tiny(source, folder, hashes)
    assert [corpus.id for corpus in report.manifest.corpora] == list(index(folder)) == ["farm"]
    change(source, trade)
    assert build_tiny(source, folder, hashes).embedded == 0
    assert contents(folder) == whole
    change(source, {"town/trade.txt": None})
    for force in (False, True):  # two versions stay on disk
        build_tiny(source, folder, hashes, force=force)
    change(source, trade)
    assert build_tiny(source, folder, hashes).embedded == 1


def test_a_file_without_a_document_is_read_once_and_reported_each_time(
    source: Path, folder: Path, hashes: HashEmbedder
) -> None:
    change(source, {"town/blank.txt": " "})
    first = build_tiny(source, folder, hashes)
    (blank,) = [file for file in first.files if file.source == "town/blank.txt"]
    assert blank.remarks == ("it holds no text",)
    again = build_tiny(source, folder, hashes)
    assert again.read == 0
    assert again.files == first.files


@pytest.mark.parametrize("force", [False, True])
def test_a_file_that_cannot_be_read_now_keeps_its_documents(
    source: Path, folder: Path, hashes: HashEmbedder, force: bool
) -> None:
    sources = by_folder([source], READERS["txt"].suffixes, "")
    (source / "farm" / "cows.txt").unlink()  # as if its disk went away after it was listed
    report = build_tiny(sources, folder, hashes, force=force)
    assert (report.changes, report.embedded) == (NOTHING, 0)
    (cows,) = [file for file in report.files if file.source == "farm/cows.txt"]
    assert (cows.documents, *cows.remarks) == (
        1,
        "cannot be read now (No such file or directory); what was read before is kept",
    )


def test_a_file_that_could_not_be_read_when_all_were_is_read_the_next_time(
    source: Path, folder: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: TxtReader, path: Path, encoding: str) -> Iterator[Read]:
        if path.name == "cows.txt":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read(self, path, encoding)

    read = TxtReader.read
    with monkeypatch.context() as patch:
        patch.setattr(TxtReader, "read", away)
        assert build_tiny(source, folder, hashes, force=True).changes == NOTHING
    report = build_tiny(source, folder, hashes)
    assert (report.read, report.changes) == (1, NOTHING)
    assert build_tiny(source, folder, hashes).unchanged


def test_a_file_that_is_edited_while_it_is_read_and_then_put_back_is_read_again(
    source: Path, folder: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edited(self: TxtReader, path: Path, encoding: str) -> Iterator[Read]:
        if path.name == "cows.txt":
            path.write_text("Cows eat hay.\n")
        return read(self, path, encoding)

    read, whole = TxtReader.read, contents(folder)
    change(source, {"farm/cows.txt": "Cows give cream.\n"})
    with monkeypatch.context() as patch:
        patch.setattr(TxtReader, "read", edited)
        build_tiny(source, folder, hashes)
    assert keyword_hits(folder, "hay") == ["farm.cows:0-13"]
    change(source, {"farm/cows.txt": "Cows give cream.\n"})
    report = build_tiny(source, folder, hashes)
    assert (report.read, report.changes) == (1, Changes(0, 1, 2, 0))
    assert keyword_hits(folder, "cream") == ["farm.cows:0-16"]
    assert build_tiny(source, folder, hashes).unchanged
    change(source, {"farm/cows.txt": FARM["farm/cows.txt"]})
    build_tiny(source, folder, hashes)
    assert contents(folder) == whole


def test_remarks_about_a_file_outlast_the_time_when_it_cannot_be_read(
    tmp_path: Path, hashes: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write_sources(
        tmp_path / "source",
        {"farm/a.jsonl": json_lines({"r1": "Cows give milk.", "r2": " "})}
        | {"farm/b.jsonl": json_lines({"r1": "Bees give honey."})},
    )
    remarks = []
    for text in ("Bees give wax.", "Bees fly.", "Bees sleep."):
        with monkeypatch.context() as patch:
            if text == "Bees fly.":
                patch.setattr(FileDigests, "of", all_but(source / "farm/a.jsonl"))
            change(source, {"farm/b.jsonl": json_lines({"r1": text})})
            report = build_tiny(source, tmp_path / "c", hashes, kind="jsonl")
        remarks.append(report.files[0].remarks)
    away = "cannot be read now (Input/output error); what was read before is kept"
    blank = "r2: line 2: it holds no text"
    assert remarks == [(blank,), (blank, away), (blank,)]


def all_but(away: Path) -> Callable[[FileDigests, Path | str], bytes]:
    """The digests of files while the disk of one is away."""

    def digest(_: FileDigests, file: Path | str) -> bytes:
        if Path(file) == away:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return sha256_of(file)

    return digest


# a table of which some records changed: the others are neither cut nor analysed again

Records = dict[str, str]
RECORDS = {f"r{n}": f"Ship {n} carries wool.\n\nIt is law {n}." for n in range(40)}


@pytest.fixture
def table(tmp_path: Path) -> Callable[[Records], Path]:
    """Writes the table, and gives the folder of it."""
    return lambda records: write_sources(
        tmp_path / "port", {"port/ships.jsonl": json_lines(records)}
    )


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of the documents that were cut into passages."""
    texts: list[str] = []
    original = prepare.passage_spans

    def spy(document: Document, *rest: Any) -> object:
        texts.append(document.text)
        return original(document, *rest)

    monkeypatch.setattr(prepare, "passage_spans", spy)
    return texts


def build_table(source: Path, folder: Path, **options: Any) -> BuildReport:
    return build_tiny(source, folder, HashEmbedder(), kind="jsonl", **options)


def require_like_new(source: Path, folder: Path, **options: Any) -> None:
    """Check that it equals a collection that is built at once from the same table."""
    at_once = folder.with_name("at-once")
    build_table(source, at_once, **options)
    assert not problems(folder)
    assert contents(folder) == contents(at_once)
    assert np.array_equal(all_vectors(folder), all_vectors(at_once))


def test_only_records_that_changed_are_cut_again(
    tmp_path: Path, table: Callable[[Records], Path], cut: list[str]
) -> None:
    build_table(table(RECORDS), tmp_path / "c")
    cut.clear()
    changed = {**RECORDS, "r7": "Ship 7 is lost.", "new": "A new ship.", "r3": RECORDS["r4"]}
    del changed["r11"]
    source = table(changed)
    report = build_table(source, tmp_path / "c")
    assert report.changes == Changes(added=1, changed=2, unchanged=37, removed=1)
    assert sorted(cut) == sorted([changed["r7"], changed["new"], changed["r3"]])
    assert report.files[0].documents == len(changed)
    require_like_new(source, tmp_path / "c")


def test_all_records_are_cut_again_in_another_way_or_with_force(
    tmp_path: Path, table: Callable[[Records], Path], cut: list[str]
) -> None:
    build_table(table(RECORDS), tmp_path / "c")
    cut.clear()
    source = table({**RECORDS, "new": "A new ship."})
    build_table(source, tmp_path / "c", size=50, overlap=0)
    assert len(cut) == 41
    require_like_new(source, tmp_path / "c", size=50, overlap=0)
    cut.clear()
    build_table(source, tmp_path / "c", size=50, overlap=0, force=True)
    assert len(cut) == 41


class Ended(Exception):
    """The build is ended from outside."""


class Ending(HashEmbedder):
    """Ends the build when the first text is to be embedded: all is staged then."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise Ended


@pytest.fixture
def begun(tmp_path: Path, table: Callable[[Records], Path]) -> Path:
    """A table whose changes were read by a build that did not come to its end."""
    build_table(table(RECORDS), tmp_path / "c")
    source = table({**RECORDS, "r7": "Ship 7 is lost."})
    with pytest.raises(Ended):
        build_tiny(source, tmp_path / "c", Ending(), kind="jsonl")
    return source


def test_an_ended_build_goes_on_with_what_it_had_read(
    tmp_path: Path, begun: Path, cut: list[str]
) -> None:
    cut.clear()
    report = build_table(begun, tmp_path / "c")
    assert (report.read, cut) == (0, [])
    assert report.changes == Changes(added=0, changed=1, unchanged=39, removed=0)
    require_like_new(begun, tmp_path / "c")


@pytest.mark.parametrize("force", [False, True], ids=["as before", "forced"])
def test_staged_records_are_read_again_if_the_live_version_has_them_no_longer(
    tmp_path: Path, begun: Path, force: bool
) -> None:
    folder = tmp_path / "c"
    staged = (folder / "staging.sqlite").read_bytes()
    other = write_sources(tmp_path / "other", {"port/ships.jsonl": '{"id": "r1", "text": "x"}\n'})
    build_table(other, folder)
    (folder / "staging.sqlite").write_bytes(staged)
    report = build_table(begun, folder, force=force)
    assert report.read == 1
    require_like_new(begun, folder)
