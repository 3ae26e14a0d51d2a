"""Reading subtitles (.srt): one document a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from atlas_search.readers import Draft, Read, Reader, Skipped


@dataclass(frozen=True)
class SrtReader:
    """Reads the lines that are spoken; with `times` also when."""

    times: bool = False
    suffixes: frozenset[str] = frozenset({".srt"})

    @property
    def options(self) -> Mapping[str, object]:
        return {"version": 1, "times": self.times}

    def read(self, path: Path, encoding: str) -> Iterator[Read]:
        content = path.read_text(encoding or "utf-8", errors="replace")
        blocks = [block.splitlines() for block in content.split("\n\n")]
        spoken = [
            "\n".join(block[1:] if self.times else block[2:])
            for block in blocks
            if len(block) > 2 and "-->" in block[1]
        ]
        if spoken:
            yield Draft("\n".join(spoken), title=path.stem)
        else:
            yield Skipped("it holds no subtitles")


def srt_reader(times: bool = False) -> Reader:
    """Build a collection from subtitles."""
    return SrtReader(times)
