"""A file that crashes, hangs or floods its reader costs only itself; and however a build ends, the
processes that read for it end too."""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.workers import MOST_REMARKS, Unfit, pack
from atlas_search.core.errors import SourceError
from tests.hash_embedder import HashEmbedder
from tests.places import ROOT
from tests.server.hostile.builds import LIMITS, build_with, write_deeds
from tests.server.hostile.readers import DEEDS, HostileReader, LocalReader
from tests.servers import wait_for
from tests.source_builds import documents, remarks, stored
from tests.tiny import contents

pytestmark = pytest.mark.thorough

RAISE = "; it was left out. If nothing is wrong with it, raise"
TOO_SLOW = f"reading it took more than 1 seconds{RAISE} FILE_SECONDS"
REASONS = {
    "crash": "reading it crashed (SIGSEGV), maybe for want of memory; it was left out",
    "abort": "reading it crashed (SIGABRT), maybe for want of memory; it was left out",
    "fill": f"reading it took more than 400 MB of memory{RAISE} FILE_MEMORY_MB",
    "compute": TOO_SLOW,
    "wait": TOO_SLOW,
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
    assert {name: messages for name, messages in remarks(report).items() if messages} == expected
    # the document that each had given before is left out with it
    counts = documents(report)
    assert {name for name, count in counts.items() if count} == {"town/a.txt", "town/z.txt"}
    assert {passage.text[:2] for passage in stored(tmp_path / "c")} == {"a ", "z "}
    assert report.refused == [file for file in report.files if file.source in expected]


def test_a_library_that_catches_want_of_memory_blames_the_file(tmp_path: Path) -> None:
    root = write_deeds(tmp_path / "sources", "swallow", "recurse")
    messages = remarks(build_with(HostileReader(), root, tmp_path / "c"))
    assert messages["town/swallow.txt"] == "cannot be read: ValueError: the file is damaged"
    assert messages["town/recurse.txt"].startswith("cannot be read: RecursionError")


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


@pytest.mark.parametrize("workers", [0, 4])
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
    elsewhere = tmp_path / "elsewhere"
    build_with(HostileReader(str(elsewhere)), root, tmp_path / "d")
    assert str(os.getpid()) not in elsewhere.read_text().split()


def test_a_reader_whose_class_is_not_found_elsewhere_reads_in_the_build_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Notebook(HostileReader):
        """As one that is written in a notebook: its class can be named, but only here."""

    monkeypatch.setattr("tests.server.hostile.readers.Notebook", Notebook, raising=False)
    Notebook.__module__, Notebook.__qualname__ = "tests.server.hostile.readers", "Notebook"
    root, log = write_deeds(tmp_path / "sources"), tmp_path / "log"
    reader = Notebook(str(log))
    assert type(pickle.loads(pack(reader))) is Notebook
    build_with(reader, root, tmp_path / "c")
    assert set(log.read_text().split()) == {str(os.getpid())}


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


def test_a_process_starts_without_what_only_the_build_needs() -> None:
    code = (
        "import sys\n"
        "import atlas_search.building.workers\n"
        "assert not {'numpy', 'pydantic', 'atlas_search.core.settings'} & set(sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@contextmanager
def stuck_build(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A build of which one process computes and another one waits, and the ids of the two."""
    root = write_deeds(tmp_path / "sources", "compute", "wait")
    (root / "town" / "a.txt").unlink()
    log = tmp_path / "log"
    build = subprocess.Popen(
        [sys.executable, "-m", "tests.server.hostile.builds", root, tmp_path / "c", log],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )

    def both() -> list[int] | None:
        ids = {int(line) for line in log.read_text().split()} if log.exists() else set()
        return sorted(ids) if len(ids) == 2 else None

    try:
        yield build, wait_for(both, 60, "two processes that read")
    finally:
        build.kill()
        build.wait()


def gone(process: int) -> bool | None:
    """True once there is no such process; one that nobody has waited for is none."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z" or None
    except FileNotFoundError:
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux has /proc")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_processes_of_a_build_that_is_ended_end(tmp_path: Path, end: signal.Signals) -> None:
    with stuck_build(tmp_path) as (build, processes):
        build.send_signal(end)
        build.wait(60)
        for process in processes:
            wait_for(lambda process=process: gone(process), 30, "its end")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux has /proc")
def test_an_interrupt_from_the_terminal_ends_the_build_and_no_file_is_blamed(
    tmp_path: Path,
) -> None:
    with stuck_build(tmp_path) as (build, processes):
        os.killpg(build.pid, signal.SIGINT)  # as Ctrl-C does: to all at once
        assert build.wait(60) == -signal.SIGINT
        for process in processes:
            wait_for(lambda process=process: gone(process), 30, "its end")
    # nothing was staged of what was not read
    assert build_with(HostileReader(), tmp_path / "sources", tmp_path / "c").read == 3


def test_a_script_need_not_guard_its_build(tmp_path: Path) -> None:
    """With the processes of `multiprocessing` the script would begin again in each of them."""
    root = write_deeds(tmp_path / "sources")
    script = tmp_path / "script.py"
    script.write_text(
        "from pathlib import Path\n"
        "from tests.server.hostile.builds import build_with\n"
        "from tests.server.hostile.readers import HostileReader\n"
        "class Own(HostileReader):\n"
        "    pass\n"
        f"for reader in (HostileReader(), Own()):\n"
        f"    folder = Path({str(tmp_path)!r}) / type(reader).__name__\n"
        f"    report = build_with(reader, Path({str(root)!r}), folder)\n"
        "    print(report.manifest.documents)\n"
    )
    printed = subprocess.run(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    assert printed.stdout.split() == ["2", "2"]


def test_python_files_beside_the_sources_are_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The working folder may be that of the sources, and theirs are not the modules to import."""
    root = write_deeds(tmp_path / "sources")
    for name in ("pickle", "multiprocessing", "numpy", "atlas_search"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert build_with(HostileReader(), root, tmp_path / "c").manifest.documents == 2


def test_where_no_process_starts_the_build_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_deeds(tmp_path / "sources")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(SourceError, match=r"does not start: it ended with 1\. With READ_WORKERS=0"):
        build_with(HostileReader(), root, tmp_path / "c")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere"))
    with pytest.raises(SourceError, match="does not start: No such file"):
        build_with(HostileReader(), root, tmp_path / "c")
