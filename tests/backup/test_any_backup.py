"""Whatever documents a collection holds, its export brings them back; however many, as a stream."""

import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.building.backup import export_collection, import_collection
from atlas_search.building.chunking import chunking
from atlas_search.building.flow import BuildOptions, build
from atlas_search.building.sources import by_folder
from atlas_search.core.domain import Segment
from atlas_search.readers import Draft
from tests.backup.exports import taken_in
from tests.hash_embedder import HashEmbedder
from tests.source_builds import build_from, sources_of, stored, write_good
from tests.tiny import build_tiny, contents, json_lines, silent, write_sources

WORDS = st.sampled_from(
    [
        "wool ",
        "A sentence. ",
        "\n\n",
        "\n",
        "\f",
        "é",
        "e\u0301",
        "🐑",
        "我来了。",
        "\u2028",
        "\x00",
        "x" * 90,
    ]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=40).map("".join).filter(str.strip)
NAMES = st.text(st.characters(codec="utf-8"), max_size=6)
SECTIONS = st.sampled_from(["", "I", "I > 2"])
VALUES = (
    NAMES
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9, allow_nan=False)
    | st.lists(NAMES, max_size=3)
)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    text = draw(TEXTS)
    offsets = st.integers(0, len(text))
    pages = (0, *sorted(draw(st.lists(offsets, max_size=3))))
    starts = sorted(draw(st.sets(offsets, max_size=3)))
    metadata: Mapping[str, object] = draw(st.dictionaries(NAMES, VALUES, max_size=3))
    given_title = draw(st.sampled_from(["", "Sheep", "On [x] > y"]))
    return Draft(
        text=text,
        title=given_title,
        metadata=metadata,
        key=draw(st.sampled_from(["", "k", "a/b", "row-1"])),
        pages=pages,
        segments=tuple(
            Segment(s, draw(st.sampled_from(["", "I", "I > 2"])), draw(NAMES), "s 1")
            for s in starts
        ),
        printed_pages=draw(st.sampled_from([(), ("i",) * len(pages)])),
    )


@dataclass(frozen=True)
class Given:
    """A reader of nothing but the drafts it is given."""

    drafts: tuple[Draft, ...]
    suffixes = frozenset({".txt"})

    @property
    def options(self) -> dict[str, object]:
        return {}

    def read(self, path: Path, encoding: str) -> Iterator[Draft]:
        return iter(self.drafts)


@given(st.lists(drafts(), min_size=1, max_size=4), st.sampled_from([".zip", ""]))
@settings(max_examples=8)
def test_any_documents_come_back(found: list[Draft], suffix: str) -> None:
    with TemporaryDirectory() as root:
        folder = Path(root) / "before" / "c"
        source = write_sources(Path(root) / "source", {"farm/a.txt": "", "sea/b.txt": ""})
        reader = Given(tuple(found))
        build(
            folder,
            by_folder([source], reader.suffixes, ""),
            reader,
            HashEmbedder(),
            BuildOptions("c", "txt", chunking(size=100, overlap=10)),
            silent,
        )
        path = Path(root) / f"export{suffix}"
        export_collection(folder, path, silent)
        done = taken_in(path, Path(root) / "after" / "c")
        assert done.embedded == 0
        assert contents(Path(root) / "after" / "c") == contents(folder)


def test_passages_that_came_with_their_ids_and_vectors_come_back(tmp_path: Path) -> None:
    write_good("chroma", tmp_path / "source")
    folder = tmp_path / "before" / "c"
    build_from("chroma", folder, sources_of("chroma", tmp_path / "source"))
    export_collection(folder, tmp_path / "export", silent)
    taken_in(tmp_path / "export", tmp_path / "after" / "c")
    assert [passage.id for passage in stored(tmp_path / "after" / "c")] == ["l/1", "l 2"]
    assert contents(tmp_path / "after" / "c") == contents(folder)


class Enough(Exception):
    """All that is read has been read."""


def test_a_thousand_documents_pass_through_one_by_one(tmp_path: Path) -> None:
    """Memory follows the largest document, not their number."""
    texts = {f"d{number}": f"Number {number}. " + "wool" * 5000 for number in range(1000)}
    total = sum(map(len, texts.values()))
    folder = tmp_path / "before" / "c"
    source = write_sources(tmp_path / "source", {"farm/a.jsonl": json_lines(texts)})
    build_tiny(source, folder, HashEmbedder(), kind="jsonl", splitter="whole")
    peaks: dict[str, int] = {}

    def note(stage: str, done: int, of: int) -> None:
        peaks[stage] = tracemalloc.get_traced_memory()[1]
        if (stage, done) == ("Reading documents", of):
            raise Enough

    tracemalloc.start()
    try:
        export_collection(folder, tmp_path / "export.zip", note)
        tracemalloc.reset_peak()
        with pytest.raises(Enough):
            import_collection(tmp_path / "export.zip", tmp_path / "c", HashEmbedder(), note)
    finally:
        tracemalloc.stop()
    assert peaks.keys() >= {"Writing passages", "Checking documents", "Reading documents"}
    assert max(peaks.values()) < total / 2
