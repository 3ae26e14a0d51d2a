"""Corpora by folder, by name and by metadata field, without a mapping."""

from pathlib import Path

import pytest

from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_folder, by_rule, label_of
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from tests.hash_embedder import HashEmbedder
from tests.source_trees import TXT, corpus_of, mapped, one_corpus, stems, tree
from tests.tiny import READERS, build_tiny, document_ids, write_sources


def test_each_sub_folder_is_a_corpus(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/cow.txt", "farm/2019/sheep.txt", "town/trade.md")
    sources = by_folder([root], TXT, "latin-1")
    assert corpus_of(sources) == {
        "farm/2019/sheep.txt": "farm",
        "farm/cow.txt": "farm",
        "town/trade.md": "town",
    }
    assert stems(sources)["farm/2019/sheep.txt"] == "2019/sheep.txt"
    assert [file.name for file in sources.files] == sorted(corpus_of(sources))
    assert {file.rule.encoding for file in sources.files} == {"latin-1"}


def test_of_several_sources_each_is_a_corpus(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "2/town", "x.txt"), tree(tmp_path / "1/farm", "x.txt", "deep/y.txt")]
    sources = by_folder(roots, TXT, "")
    assert corpus_of(sources) == {
        "farm/deep/y.txt": "farm",
        "farm/x.txt": "farm",
        "town/x.txt": "town",
    }


def test_a_source_that_is_given_as_a_dot_has_the_name_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path / "farm", "x.txt")
    other = tree(tmp_path / "town", "x.txt")
    monkeypatch.chdir(tmp_path / "farm")
    assert corpus_of(by_folder([Path(), other], TXT, "")) == {
        "farm/x.txt": "farm",
        "town/x.txt": "town",
    }


def test_a_file_among_several_sources_is_refused(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "farm", "x.txt"), tree(tmp_path / "s", "y.txt") / "y.txt"]
    with pytest.raises(SourceError, match=r"y\.txt is not a folder. Of several sources each is"):
        by_folder(roots, TXT, "")


def test_two_sources_with_a_file_of_one_name_are_refused(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "one/farm", "x.txt"), tree(tmp_path / "two/farm", "x.txt")]
    for find in (
        lambda: by_folder(roots, TXT, ""),
        lambda: by_rule(roots, TXT, CorpusRule("farm")),
    ):
        with pytest.raises(SourceError, match=r"would both be called 'farm/x\.txt'"):
            find()


def test_files_beside_the_folders_and_of_other_kinds_are_reported(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "stray.txt", "farm/cow.txt", "farm/cow.png", "farm/README")
    assert by_folder([root], TXT, "").left_out == (
        ("farm/README", "not a .md or .txt file"),
        ("farm/cow.png", "not a .md or .txt file"),
        ("stray.txt", "outside the folders of the corpora"),
    )


def test_suffixes_are_compared_without_case(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/COW.TXT", "farm/notes.txt.bak")
    sources = by_folder([root], TXT, "")
    assert list(corpus_of(sources)) == ["farm/COW.TXT"]
    assert [name for name, _ in sources.left_out] == ["farm/notes.txt.bak"]


def test_hidden_files_and_folders_are_no_sources(tmp_path: Path) -> None:
    root = tree(
        tmp_path / "s",
        *("farm/cow.txt", "farm/.hidden.txt", "farm/.git/note.txt", ".cache/x.txt", ".stray.txt"),
    )
    for sources in (
        by_folder([root], TXT, ""),
        by_rule([root], TXT, CorpusRule("a")),
        mapped(root, one_corpus("**")),
    ):
        texts = [name for name, _ in sources.left_out if name != "corpora.toml"]
        assert (list(corpus_of(sources)), texts) == (["farm/cow.txt"], [])


def test_a_link_to_a_file_is_that_file_and_a_link_to_nothing_is_none(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/cow.txt", "town/sheep.txt")
    (root / "farm" / "linked.txt").symlink_to(root / "town" / "sheep.txt")
    (root / "farm" / "dead.txt").symlink_to(root / "nothing.txt")
    sources = by_folder([root], TXT, "")
    assert list(corpus_of(sources)) == ["farm/cow.txt", "farm/linked.txt", "town/sheep.txt"]


def test_a_link_to_a_folder_can_be_a_corpus(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/cow.txt")
    tree(root / "farm" / "market", "trade.txt")
    (root / "town").symlink_to(root / "farm" / "market")
    assert corpus_of(by_folder([root], TXT, "")) == {
        "farm/cow.txt": "farm",
        "farm/market/trade.txt": "farm",
        "town/trade.txt": "town",
    }


def test_links_that_go_in_circles_end(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/cow.txt")
    (root / "farm" / "again").symlink_to(root, target_is_directory=True)
    assert list(corpus_of(by_folder([root], TXT, ""))) == ["farm/cow.txt"]


@pytest.mark.parametrize("name", ["ein ort", "all", "town_", "-x", "naïve", "a.b"])
def test_a_folder_that_cannot_be_a_corpus_is_named(tmp_path: Path, name: str) -> None:
    root = tree(tmp_path / "s", f"{name}/x.txt")
    with pytest.raises(SourceError, match=r"cannot be a corpus id.*Rename it") as error:
        by_folder([root], TXT, "")
    assert str(root / name) in str(error.value)


@pytest.mark.parametrize("id_", ["a", "A1", "legal_us", "us-2019", "1954"])
def test_what_can_be_a_corpus_id(id_: str) -> None:
    assert check_id(id_, "here") == id_


def test_labels_are_made_of_ids() -> None:
    assert label_of("legal_us") == "Legal US"
    assert label_of("hansard-1990s") == "Hansard 1990s"


def test_a_source_without_sub_folders_says_what_else_to_do(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt")
    with pytest.raises(SourceError, match=r"no sub-folder.*corpora\.toml.*--corpus or --corpus-"):
        by_folder([root], TXT, "")


def test_one_corpus_for_all(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt", "deep/er/y.txt", "z.png")
    sources = by_rule([root], TXT, CorpusRule("letters", encoding="cp1252"))
    assert corpus_of(sources) == {"deep/er/y.txt": "letters", "x.txt": "letters"}
    assert stems(sources) == {"deep/er/y.txt": "deep/er/y.txt", "x.txt": "x.txt"}
    assert sources.left_out == (("z.png", "not a .md or .txt file"),)
    assert sources.files[0].rule.encoding == "cp1252"


def test_one_file_alone_is_a_source(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt", "y.txt")
    sources = by_rule([root / "x.txt"], TXT, CorpusRule("letters"))
    assert stems(sources) == {"x.txt": "x.txt"}


def test_several_sources_for_one_corpus_are_told_apart_by_name(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "one", "x.txt"), tree(tmp_path / "two", "x.txt")]
    sources = by_rule(roots, TXT, CorpusRule("letters"))
    assert stems(sources) == {"one/x.txt": "x.txt", "two/x.txt": "x.txt"}


def test_a_source_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere does not exist"):
        by_rule([tmp_path / "nowhere"], TXT, CorpusRule("letters"))


def test_a_metadata_field_names_the_corpus(tmp_path: Path) -> None:
    files = {
        "one.md": "---\nparty: Labour\n---\nFirst.",
        "two.md": "---\nparty: Māori Party\n---\nSecond.",
        "none.md": "---\nauthor: Nobody\n---\nThird.",
        "bad.md": "---\nparty: All\n---\nFourth.",
        "worse.md": '---\nparty: "!"\n---\nFifth.',
    }
    root = write_sources(tmp_path / "s", files)
    sources = by_rule([root], TXT, CorpusRule(corpus_field="party"))
    report = build_tiny(sources, tmp_path / "c", HashEmbedder())
    assert document_ids(tmp_path / "c") == ["All.bad", "Labour.one", "M-ori-Party.two"]
    remarks = {file.source: file.remarks for file in report.files if file.remarks}
    assert remarks["none.md"] == ("no corpus: it has no metadata field `party`",)
    assert "metadata field `party` is '!'" in remarks["worse.md"][0]
    assert len(remarks) == 2


def test_a_metadata_field_can_come_from_the_records_of_one_file(tmp_path: Path) -> None:
    table = "id,party,text\n1,Labour,First.\n2,National,Second.\n"
    root = write_sources(tmp_path / "s", {"speeches.csv": table})
    sources = by_rule([root], READERS["csv"].suffixes, CorpusRule(corpus_field="party"))
    report = build_tiny(sources, tmp_path / "c", HashEmbedder(), kind="csv")
    assert [(c.id, c.documents) for c in report.manifest.corpora] == [
        ("Labour", 1),
        ("National", 1),
    ]
