"""No link leads out of a folder of sources."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import LEADS_OUT, Sources, by_folder, by_rule, find_sources
from atlas_search.core.errors import SourceError
from atlas_search.readers.text import TxtReader
from tests.source_builds import chroma_sources, reader_of, write_good
from tests.source_files import write_chroma
from tests.source_trees import TXT, corpus_of, mapped, one_corpus, tree

WAYS: dict[str, Callable[[Path], Sources]] = {
    "folders": lambda root: by_folder([root], TXT, ""),
    "one corpus": lambda root: by_rule([root], TXT, CorpusRule("a")),
    "mapping": lambda root: mapped(root, one_corpus("**")),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree(tmp_path / "secret", "key.txt", "deep/key.txt")
    return tree(tmp_path / "s", "farm/cow.txt")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_relative", [False, True])
def test_a_link_to_a_file_outside_is_left_out(root: Path, way: str, is_relative: bool) -> None:
    target = "../../secret/key.txt" if is_relative else root.parent / "secret" / "key.txt"
    (root / "farm" / "cow.md").symlink_to(target)
    sources = WAYS[way](root)
    assert list(corpus_of(sources)) == ["farm/cow.txt"]
    assert ("farm/cow.md", LEADS_OUT) in sources.left_out


@pytest.mark.parametrize("way", WAYS)
def test_a_link_by_way_of_another_one_is_left_out(root: Path, way: str) -> None:
    (root / "farm" / "way.dir").symlink_to(root.parent / "secret")
    (root / "farm" / "by.txt").symlink_to(root / "farm" / "way.dir" / "key.txt")
    sources = WAYS[way](root)
    assert list(corpus_of(sources)) == ["farm/cow.txt"]
    assert dict(sources.left_out)["farm/by.txt"] == LEADS_OUT


@pytest.mark.parametrize("way", WAYS)
def test_a_link_to_a_folder_outside_is_left_out(root: Path, way: str) -> None:
    (root / "town").symlink_to(root.parent / "secret")
    sources = WAYS[way](root)
    assert list(corpus_of(sources)) == ["farm/cow.txt"]
    assert "not followed" in dict(sources.left_out)["town"]


def test_a_link_to_a_folder_with_a_like_name_leads_out(root: Path) -> None:
    tree(root.parent / "s-2", "key.txt")
    (root / "farm" / "by.txt").symlink_to(root.parent / "s-2" / "key.txt")
    assert list(corpus_of(by_folder([root], TXT, ""))) == ["farm/cow.txt"]


@pytest.mark.parametrize("way", WAYS)
def test_links_in_a_circle_end(root: Path, way: str) -> None:
    (root / "farm" / "one.txt").symlink_to(root / "farm" / "two.txt")
    (root / "farm" / "two.txt").symlink_to(root / "farm" / "one.txt")
    (root / "farm" / "up").symlink_to(root)
    (root / "farm" / "self").symlink_to(root / "farm" / "self")
    (root / "loop").symlink_to(root / "loop")
    assert list(corpus_of(WAYS[way](root))) == ["farm/cow.txt"]


@pytest.fixture
def depths(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """3000 folders in folders, and a file half way. They are removed: not everybody can."""
    monkeypatch.chdir(root / "farm")
    for level in range(3000):
        os.mkdir("d")
        os.chdir("d")
        if level == 1500:
            Path("sheep.txt").write_text("Sheep.")
    os.chdir(root)
    yield
    os.chdir(root / "farm")
    for _ in range(3000):
        os.chdir("d")
    for _ in range(3000):
        Path("sheep.txt").unlink(missing_ok=True)
        os.chdir("..")
        os.rmdir("d")


@pytest.mark.usefixtures("depths")
def test_folders_in_folders_are_walked_however_deep(root: Path) -> None:
    """A thousand are more than a function may call itself, three more than a path holds."""
    sources = by_folder([root], TXT, "")
    assert list(corpus_of(sources)) == ["farm/cow.txt", f"farm/{'d/' * 1501}sheep.txt"]
    ((_, reason),) = sources.left_out
    assert reason == "its path is too long for the system: move it up"


def test_a_link_that_is_named_as_a_source_is_followed(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    (root.parent / "one.txt").symlink_to(root.parent / "secret" / "key.txt")
    assert list(corpus_of(by_folder([link], TXT, ""))) == ["farm/cow.txt"]
    named = by_rule([link, root.parent / "one.txt"], TXT, CorpusRule("a"))
    assert list(corpus_of(named)) == ["link/farm/cow.txt", "one.txt"]


def test_a_link_from_one_named_source_to_another_is_followed(root: Path) -> None:
    other = root.parent / "secret"
    (root / "farm" / "by.txt").symlink_to(other / "key.txt")
    assert "s/farm/by.txt" in corpus_of(by_rule([root, other], TXT, CorpusRule("a")))


def test_a_mapping_outside_is_named_or_not_read(root: Path) -> None:
    mapping = root.parent / "secret" / "corpora.toml"
    mapping.write_text(one_corpus("**"))
    (root / "corpora.toml").symlink_to(mapping)
    with pytest.raises(SourceError, match="leads out of the source folder"):
        find_sources([root], TxtReader())
    assert list(corpus_of(find_sources([root], TxtReader(), corpora=mapping))) == ["farm/cow.txt"]


@pytest.mark.parametrize("include", ["../secret/*.txt", "/**/key.txt", "**/../secret/**"])
def test_no_pattern_of_a_mapping_reaches_out(root: Path, include: str) -> None:
    assert corpus_of(mapped(root, one_corpus(include))) == {}


def test_a_chroma_folder_with_a_link_to_outside_is_refused(tmp_path: Path) -> None:
    write_chroma(tmp_path / "theirs", {"a": "A letter."})
    (tmp_path / "old").mkdir()
    for path in (tmp_path / "theirs").iterdir():
        (tmp_path / "old" / path.name).symlink_to(path)
    with pytest.raises(SourceError, match="leads out of the source folder"):
        chroma_sources(tmp_path, "old")


def test_the_note_beside_a_page_is_no_link(tmp_path: Path) -> None:
    write_good("html", tmp_path / "s")
    page = next((tmp_path / "s").rglob("*.html"))
    before = list(reader_of("html").read(page, ""))
    note = page.with_name(f".{page.name}.json")
    (tmp_path / "note").write_text('{"url": "https://example.org/secret"}')
    os.symlink(tmp_path / "note", note)
    assert list(reader_of("html").read(page, "")) == before
