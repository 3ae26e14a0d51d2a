"""Files of the bundled samples, damaged as a disk, a transfer or a hand damages them."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random

from atlas_search.building.workers import ReadingLimits
from atlas_search.readers.files import files_reader
from tests.hostile.builds import build_with
from tests.places import ROOT
from tests.source_builds import documents, remarks

LIMITS = ReadingLimits(workers=2, seconds=120, memory=1000)
CHANCE = Random(14)

DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "bits": lambda data: _changed(data, len(data) // 200 + 1),
    "begun": lambda data: data[: len(data) // 2],
    "headless": lambda data: data[len(data) // 3 :],
    "empty": lambda _: b"",
    "zeros": lambda data: b"\x00" * len(data),
    "noise": lambda data: CHANCE.randbytes(min(len(data), 20_000)),
    "twice": lambda data: data + data,
    "holes": lambda data: b"".join(
        data[at : at + 400] + b"\x00" * 100 for at in range(0, len(data), 500)
    ),
    "shuffled": lambda data: b"".join(
        sorted(data[at : at + 512] for at in range(0, len(data), 512))
    ),
}


def _changed(data: bytes, times: int) -> bytes:
    changed = bytearray(data)
    for _ in range(times):
        changed[CHANCE.randrange(len(changed))] ^= 1 << CHANCE.randrange(8)
    return bytes(changed)


def samples() -> Iterator[Path]:
    """The smallest bundled sample of each format."""
    found: dict[str, Path] = {}
    for path in sorted(ROOT.glob("create/samples/*/*"), key=lambda path: path.stat().st_size):
        found.setdefault(path.suffix, path)
    yield from found.values()


def damaged() -> dict[str, bytes]:
    """Every sample in every damage, by a name that ends in its format's."""
    return {
        f"{damage}-{number}{path.suffix}": change(path.read_bytes())
        for damage, change in DAMAGES.items()
        for number, path in enumerate(samples())
    }


def test_damaged_files_cost_only_themselves(tmp_path: Path) -> None:
    files = damaged()
    assert len(files) >= 60
    folder = tmp_path / "sources" / "town"
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "good.txt").write_text("Sheep give wool.")
    report = build_with(files_reader(), tmp_path / "sources", tmp_path / "c", LIMITS)
    counts, said = documents(report), remarks(report)
    assert counts["town/good.txt"] == 1
    unread = [name for name in files if not counts[f"town/{name}"]]
    assert [name for name in unread if not said[f"town/{name}"]] == []
    told = ("Traceback", str(tmp_path))
    assert [name for name, remark in said.items() if any(each in remark for each in told)] == []
