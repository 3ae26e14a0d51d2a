"""A file that crashes, hangs or floods its reader costs only itself."""

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.workers import MOST_REMARKS, Unfit, pack
from tests.hash_embedder import HashEmbedder
from tests.hostile.builds import LIMITS, build_with, write_deeds
from tests.hostile.readers import DEEDS, HostileReader, LocalReader
from tests.source_builds import documents, remarks, stored
from tests.tiny import contents

RAISE = "; it was left out. If nothing is wrong with it, raise"
SLOW = f"reading it took more than 1 seconds{RAISE} FILE_SECONDS"
REASONS = {
    "crash": "reading it crashed (SIGSEGV), maybe for want of memory; it was left out",
    "abort": "reading it crashed (SIGABRT), maybe for want of memory; it was left out",
    "fill": f"reading it took more than 400 MB of memory{RAISE} FILE_MEMORY_MB",
    "compute": SLOW,
    "wait": SLOW,
    "end": "the system ended the process that read it, as it does for want of memory; it is "
    "tried again next time",
    "leave": "reading it crashed (status 3); it was left out",
    "lose": "cannot be read: Input/output error",
    "flood": f"it gives more than 1,000,000 characters{RAISE} FILE_CHARACTERS",
}


def test_whatever_a_file_does_to_its_reader_is_a_remark_and_the_others_are_read(
    tmp_path: Path,
) -> None:
    root = write_deeds(tmp_path / "sources", *REASONS)
    report = build_with(HostileReader(), root, tmp_path / "c")
    expected = {f"town/{deed}.txt": reason for deed, reason in REASONS.items()}
    assert {name: said for name, said in remarks(report).items() if said} == expected
    # the document that each had given before is left out with it
    counts = documents(report)
    assert {name for name, count in counts.items() if count} == {"town/a.txt", "town/z.txt"}
    assert {passage.text[:2] for passage in stored(tmp_path / "c")} == {"a ", "z "}
    assert report.refused == [file for file in report.files if file.source in expected]


def test_a_library_that_catches_want_of_memory_blames_the_file(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "swallow", "recurse")
    said = remarks(build_with(HostileReader(), root, tmp_path / "c"))
    assert said["town/swallow.txt"] == "cannot be read: ValueError: the file is damaged"
    assert said["town/recurse.txt"].startswith("cannot be read: RecursionError")


def test_a_file_that_met_a_limit_is_read_again_when_the_limit_changes(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "flood", "end")
    build_with(HostileReader(), root, tmp_path / "c")
    # what the system ended may go well the next time
    assert build_with(HostileReader(), root, tmp_path / "c").read == 1
    more = replace(LIMITS, characters=2_000_000)
    again = build_with(HostileReader(), root, tmp_path / "c", more)
    assert again.read == 2
    assert remarks(again)["town/flood.txt"].startswith("it gives more than 2,000,000 characters")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_file_that_cannot_be_read_for_a_moment_keeps_its_documents_and_is_read_again(
    tmp_path: Path, workers: int, is_known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, folder = write_deeds(tmp_path / "sources"), tmp_path / "c"
    limits = replace(LIMITS, workers=workers)
    file = root / "town" / "m.txt"
    if is_known:
        file.write_text("m is what this file says.")
    build_with(HostileReader(), root, folder, limits)
    file.write_text("lose the disk")
    for _ in range(2):
        report = build_with(HostileReader(), root, folder, limits)
        assert report.read == 1
        assert remarks(report)["town/m.txt"] == "cannot be read: Input/output error" + (
            "; what was read before is kept" if is_known else ""
        )
        assert documents(report)["town/m.txt"] == is_known
    monkeypatch.setitem(DEEDS, "lose", lambda: iter(()))  # type: ignore[misc]
    report = build_with(HostileReader(), root, folder, replace(LIMITS, workers=0))
    assert (report.read, documents(report)["town/m.txt"]) == (1, 1)
    assert "lose the disk" in {passage.text for passage in stored(folder)}


def test_a_file_that_is_damaged_for_good_is_not_read_again(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "spoil")
    report = build_with(HostileReader(), root, tmp_path / "c")
    assert remarks(report)["town/spoil.txt"] == "cannot be read: the file is damaged"
    assert build_with(HostileReader(), root, tmp_path / "c").read == 0


def test_half_a_character_is_left_out_with_its_document(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "halve")
    report = build_with(HostileReader(), root, tmp_path / "c")
    half = "it holds half a character (a lone surrogate): mend it"
    assert remarks(report)["town/halve.txt"] == f"text: {half}"
    assert documents(report)["town/halve.txt"] == 2  # the first one, and that with mended metadata


@pytest.mark.parametrize("workers", [0, 1])
def test_a_file_with_too_many_faults_names_the_first_of_them(tmp_path: Path, workers: int) -> None:
    root = write_deeds(tmp_path / "sources", "complain")
    report = build_with(HostileReader(), root, tmp_path / "c", replace(LIMITS, workers=workers))
    (file,) = (file for file in report.files if file.source == "town/complain.txt")
    assert len(file.remarks) == MOST_REMARKS + 1
    assert file.remarks[-1] == "20,000 more remarks on it are not shown"
    assert file.documents == 1


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_the_store_is_the_same_however_many_processes_read(tmp_path: Path, workers: int) -> None:
    (tmp_path / "sources" / "town").mkdir(parents=True)
    for number in range(60):
        text = f"{'ship ' * (number * 37 % 500)}\n\nLetter {number}."
        (tmp_path / "sources" / "town" / f"{number}.txt").write_text(text)
    one, other = tmp_path / "one" / "c", tmp_path / "other" / "c"
    build_with(HostileReader(), tmp_path / "sources", one, replace(LIMITS, workers=2))
    build_with(HostileReader(), tmp_path / "sources", other, replace(LIMITS, workers=workers))
    assert contents(one) == contents(other)


def test_a_reader_that_cannot_be_sent_reads_in_the_build_itself(tmp_path: Path) -> None:
    root, log = write_deeds(tmp_path / "sources"), tmp_path / "log"
    with pytest.raises(Unfit, match="holds a connection"):
        pack(LocalReader())
    report = build_with(LocalReader(str(log)), root, tmp_path / "c")
    assert documents(report) == {"town/a.txt": 1, "town/z.txt": 1}
    assert set(log.read_text().split()) == {str(os.getpid())}


def test_a_reader_whose_class_is_not_found_elsewhere_reads_in_the_build_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Notebook(HostileReader):
        """As one that is written in a notebook: its class can be named, but only here."""

    monkeypatch.setattr("tests.hostile.readers.Notebook", Notebook, raising=False)
    Notebook.__module__, Notebook.__qualname__ = "tests.hostile.readers", "Notebook"
    root, log = write_deeds(tmp_path / "sources"), tmp_path / "log"
    reader = Notebook(str(log))
    assert type(pickle.loads(pack(reader))) is Notebook
    build_with(reader, root, tmp_path / "c")
    assert set(log.read_text().split()) == {str(os.getpid())}


def test_other_readers_read_in_other_processes(tmp_path: Path) -> None:
    root, log = write_deeds(tmp_path / "sources"), tmp_path / "log"
    build_with(HostileReader(str(log)), root, tmp_path / "c")
    assert str(os.getpid()) not in log.read_text().split()


def test_a_process_that_reads_loads_no_model_and_no_store(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "imported")
    limits = replace(LIMITS, characters=10_000_000)
    build_with(HostileReader(), root, tmp_path / "c", limits, chunking("whole"))
    modules = max((passage.text for passage in stored(tmp_path / "c")), key=len).split()
    assert "atlas_search.building.prepare" in modules
    assert not {"torch", "chromadb", "transformers", "flask"} & set(modules)


def test_passages_in_tokens_are_those_of_the_model_of_the_build(tmp_path: Path) -> None:
    class Marked(HashEmbedder):
        """Makes one token of every three characters."""

        def token_spans(self, text: str) -> list[tuple[int, int]]:
            return [(start, start + 3) for start in range(0, len(text) - 2, 3)]

    root = write_deeds(tmp_path / "sources")
    (root / "town" / "long.txt").write_text("Sheep give wool. " * 40)
    cut = chunking(size=16, overlap=0, unit="tokens")
    build_with(HostileReader(), root, tmp_path / "c", LIMITS, cut, Marked())
    here = replace(LIMITS, workers=0)
    build_with(HostileReader(), root, tmp_path / "other" / "c", here, cut, Marked())
    texts = [passage.text for passage in stored(tmp_path / "c")]
    assert len(texts) > 10
    assert texts == [passage.text for passage in stored(tmp_path / "other" / "c")]


def test_every_deed_is_tried() -> None:
    tried = {*REASONS, "spoil", "swallow", "recurse", "complain", "imported", "halve"}
    assert tried == set(DEEDS)


def test_a_process_starts_without_what_only_the_build_needs() -> None:
    code = (
        "import sys\n"
        "import atlas_search.building.workers\n"
        "assert not {'numpy', 'pydantic', 'atlas_search.core.settings'} & set(sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
