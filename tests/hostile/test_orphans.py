"""However a build ends, the processes that read for it end too."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from tests.hostile.builds import build_with, write_deeds
from tests.hostile.readers import HostileReader
from tests.places import ROOT
from tests.servers import wait_for


@contextmanager
def stuck_build(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A build of which one process computes and another one waits, and the ids of the two."""
    root = write_deeds(tmp_path / "sources", "compute", "wait")
    (root / "town" / "a.txt").unlink()
    log = tmp_path / "log"
    build = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile.stuck_build", root, tmp_path / "c", log],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )

    def both() -> list[int] | None:
        found = {int(line) for line in log.read_text().split()} if log.exists() else set()
        return sorted(found) if len(found) == 2 else None

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
        "from tests.hostile.builds import build_with\n"
        "from tests.hostile.readers import HostileReader\n"
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
