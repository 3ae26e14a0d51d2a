"""Source files and their corpora: by folder, by one rule, by a mapping; and no link leads out."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from atlas_search.building.sheets import with_sheets
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import (
    LEADS_OUT,
    CorpusNote,
    Sources,
    by_folder,
    by_mapping,
    by_rule,
    find_sources,
    in_language,
    label_of,
    rare_collections,
)
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.readers.files import files_reader
from atlas_search.readers.tables import BeirReader
from atlas_search.readers.text import TxtReader
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import chroma_sources, reader_of, write_good
from tests.source_files import write_chroma
from tests.tiny import READERS, build_tiny, document_ids, write_sources

TXT = frozenset({".txt", ".md"})


def tree(root: Path, *names: str) -> Path:
    return write_sources(root, {name: f"The text of {name}." for name in names})


def mapped(root: Path, toml: str, encoding: str = "") -> Sources:
    (root / "corpora.toml").write_text(toml, encoding="utf-8")
    return by_mapping(root, root / "corpora.toml", TXT, encoding)


def corpus_of(sources: Sources) -> dict[str, str]:
    return {file.name: file.rule.corpus for file in sources.files}


def stems(sources: Sources) -> dict[str, str]:
    return {file.name: file.stem for file in sources.files}


def one_corpus(include: str, more: str = "") -> str:
    return f'[[corpus]]\nid = "a"\ninclude = ["{include}"]\n{more}'


WAYS: dict[str, Callable[[Path], Sources]] = {
    "folders": lambda root: by_folder([root], TXT, ""),
    "one corpus": lambda root: by_rule([root], TXT, CorpusRule("a")),
    "mapping": lambda root: mapped(root, one_corpus("**")),
}

# corpora by folder


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


def test_of_several_sources_each_is_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [tree(tmp_path / "2/town", "x.txt"), tree(tmp_path / "1/farm", "x.txt", "deep/y.txt")]
    expected = {"farm/deep/y.txt": "farm", "farm/x.txt": "farm", "town/x.txt": "town"}
    assert corpus_of(by_folder(roots, TXT, "")) == expected
    monkeypatch.chdir(roots[1])
    assert corpus_of(by_folder([Path(), roots[0]], TXT, "")) == expected


def test_one_benchmark_folder_is_one_corpus(tmp_path: Path) -> None:
    record = '{"_id": "1", "title": "Hay", "text": "Hay is dry grass."}'
    files = {"corpus.jsonl": record, "queries.jsonl": '{"_id": "q", "text": "Hay?"}'}
    root = write_sources(tmp_path / "hay", files | {"qrels/test.tsv": "q\t1\t1"})
    assert corpus_of(find_sources([root], BeirReader())) == {"hay/corpus.jsonl": "hay"}
    assert corpus_of(find_sources([tmp_path], BeirReader())) == {"hay/corpus.jsonl": "hay"}


def test_two_sources_with_a_file_of_one_name_are_refused(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "one/farm", "x.txt"), tree(tmp_path / "two/farm", "x.txt")]
    for find in (
        lambda: by_folder(roots, TXT, ""),
        lambda: by_rule(roots, TXT, CorpusRule("farm")),
    ):
        with pytest.raises(SourceError, match=r"would both be called 'farm/x\.txt'"):
            find()


def test_files_beside_the_folders_and_of_other_kinds_are_reported(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "stray.txt", "farm/COW.TXT", "farm/notes.txt.bak", "farm/README")
    sources = by_folder([root], TXT, "")
    assert list(corpus_of(sources)) == ["farm/COW.TXT"]
    assert sources.left_out == (
        ("farm/README", "not a .md or .txt file"),
        ("farm/notes.txt.bak", "not a .md or .txt file"),
        (
            "stray.txt",
            "outside the folders of the corpora: put it into one of them, or give --corpus",
        ),
    )


@pytest.mark.parametrize("way", WAYS)
def test_hidden_files_and_folders_are_no_sources(tmp_path: Path, way: str) -> None:
    hidden = ("farm/.hidden.txt", "farm/.git/note.txt", ".cache/x.txt", ".stray.txt")
    sources = WAYS[way](tree(tmp_path / "s", "farm/cow.txt", *hidden))
    assert (list(corpus_of(sources)), sources.left_out) == (["farm/cow.txt"], ())


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("ein ort", "ein_ort"),
        ("all", "corpus_5ef5ef"),
        ("town_", "town"),
        ("-x", "x"),
        ("naïve", "naive"),
        ("Briefe (1866)", "Briefe_1866"),
        ("手紙", "corpus_"),
        ("farm", "farm"),
    ],
)
def test_a_folder_whose_name_can_be_no_id_is_a_corpus_that_is_called_so(
    tmp_path: Path, name: str, id_: str
) -> None:
    sources = by_folder([tree(tmp_path / "s", f"{name}/x.txt")], TXT, "")
    (corpus,) = corpus_of(sources).values()
    assert corpus.startswith(id_)
    assert check_id(corpus, "here") == corpus
    assert sources.notes == ({} if corpus == name else {corpus: CorpusNote(label=name)})


def test_a_flat_folder_and_a_file_are_a_corpus_of_their_names(tmp_path: Path) -> None:
    root = tree(tmp_path / "My letters", "a.txt", "b.txt", "c.pdf")
    sources = by_folder([root], TXT, "")
    assert corpus_of(sources) == {f"My_letters/{name}.txt": "My_letters" for name in "ab"}
    assert stems(sources)["My_letters/a.txt"] == "a.txt"
    assert sources.left_out == (("My_letters/c.pdf", "not a .md or .txt file"),)
    assert corpus_of(by_folder([root / "a.txt"], TXT, "")) == {"a/a.txt": "a"}
    both = by_folder([root / "a.txt", root / "b.txt"], TXT, "")
    assert corpus_of(both) == corpus_of(sources)


def test_two_folders_that_would_be_the_same_corpus_are_named(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "a b/x.txt", "a_b/y.txt")
    with pytest.raises(SourceError, match="'a b' and 'a_b' would both be the corpus 'a_b'"):
        by_folder([root], TXT, "")


@pytest.mark.parametrize("id_", ["a", "A1", "legal_us", "us-2019", "1954"])
def test_names_that_can_be_a_corpus_id(id_: str) -> None:
    assert check_id(id_, "here") == id_


def test_labels_are_made_of_ids() -> None:
    assert label_of("legal_us") == "Legal US"
    assert label_of("hansard-1990s") == "Hansard 1990s"


# one rule for all


def test_one_corpus_for_all(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt", "deep/er/y.txt", "z.png")
    sources = by_rule([root], TXT, CorpusRule("letters", encoding="cp1252"))
    assert corpus_of(sources) == {"deep/er/y.txt": "letters", "x.txt": "letters"}
    assert stems(sources) == {"deep/er/y.txt": "deep/er/y.txt", "x.txt": "x.txt"}
    assert sources.left_out == (("z.png", "not a .md or .txt file"),)
    assert sources.files[0].rule.encoding == "cp1252"
    alone = by_rule([root / "x.txt"], TXT, CorpusRule("letters"))
    assert stems(alone) == {"x.txt": "x.txt"}


def test_several_sources_for_one_corpus_are_told_apart_by_name(tmp_path: Path) -> None:
    roots = [tree(tmp_path / "one", "x.txt"), tree(tmp_path / "two", "x.txt")]
    sources = by_rule(roots, TXT, CorpusRule("letters"))
    assert stems(sources) == {"one/x.txt": "x.txt", "two/x.txt": "x.txt"}
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
    corpora = [(c.id, c.documents) for c in report.manifest.corpora]
    assert corpora == [("Labour", 1), ("National", 1)]


# a mapping


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", ["x.txt"]),
        ("**", ["a/b/c/y.txt", "a/b/y.txt", "a/x.txt", "x.txt"]),
        ("**/*.txt", ["a/b/c/y.txt", "a/b/y.txt", "a/x.txt", "x.txt"]),
        ("**/y.txt", ["a/b/c/y.txt", "a/b/y.txt"]),
        ("a/*.txt", ["a/x.txt"]),
        ("a/**", ["a/b/c/y.txt", "a/b/y.txt", "a/x.txt"]),
        ("a/**/y.txt", ["a/b/c/y.txt", "a/b/y.txt"]),
        ("a/*/y.txt", ["a/b/y.txt"]),
        ("a/?/y.txt", ["a/b/y.txt"]),
        ("./a/x.txt", ["a/x.txt"]),
        ("a/x.txt", ["a/x.txt"]),
        ("a/x?txt", ["a/x.txt"]),
        ("a/b", []),
        ("a/x.tx", []),
        ("A/**", []),
        ("a/[bx]*", []),
    ],
)
def test_globs(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    root = tree(tmp_path / "s", "x.txt", "a/x.txt", "a/b/y.txt", "a/b/c/y.txt")
    sources = mapped(root, one_corpus(pattern))
    assert list(corpus_of(sources)) == expected
    assert len(sources.files) + len(sources.left_out) == 4


def test_characters_of_a_glob_are_no_regular_expression(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "a+b (c)/x.txt", "aab c/x.txt", "a.b/x.txt", "acb/x.txt")
    assert list(corpus_of(mapped(root, one_corpus("a+b (c)/*")))) == ["a+b (c)/x.txt"]
    assert list(corpus_of(mapped(root, one_corpus("a.b/*")))) == ["a.b/x.txt"]


@pytest.mark.parametrize(
    ("pattern", "stem"),
    [
        ("us/cases/*.txt", "brown.txt"),
        ("us/**", "cases/brown.txt"),
        ("us/cases/brown.txt", "brown.txt"),
        ("./us/*/brown.txt", "cases/brown.txt"),
        ("*/cases/*", "us/cases/brown.txt"),
        ("u?/cases/*", "us/cases/brown.txt"),
        ("**", "us/cases/brown.txt"),
    ],
)
def test_an_id_begins_below_the_folders_a_glob_spells_out(
    tmp_path: Path, pattern: str, stem: str
) -> None:
    root = tree(tmp_path / "s", "us/cases/brown.txt")
    assert stems(mapped(root, one_corpus(pattern))) == {"us/cases/brown.txt": stem}


def test_the_first_corpus_that_includes_a_file_gets_it(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/special/x.txt", "us/y.txt")
    toml = """
    [[corpus]]
    id = "special"
    label = "Special cases"
    description = "Appeals\\n of the year."
    date = 1866
    include = ["nothing/**", "us/special/**"]
    [[corpus]]
    id = "us"
    include = ["us/**"]
    """
    sources = mapped(root, toml)
    assert corpus_of(sources) == {"us/special/x.txt": "special", "us/y.txt": "us"}
    assert stems(sources) == {"us/special/x.txt": "x.txt", "us/y.txt": "y.txt"}
    special = CorpusNote(label="Special cases", date="1866", description="Appeals of the year.")
    assert sources.notes == {"special": special, "us": CorpusNote()}
    assert [dict(file.rule.metadata) for file in sources.files] == [{"date": "1866"}, {}]


def test_a_file_that_no_corpus_includes_is_reported_unless_it_is_ignored(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/x.txt", "us/drafts/y.txt", "uk/y.txt", "LICENSE", "us/x.png")
    sources = mapped(root, 'ignore = ["LICENSE", "**/drafts/**"]\n' + one_corpus("us/**"))
    assert corpus_of(sources) == {"us/x.txt": "a"}
    assert sources.left_out == (
        ("uk/y.txt", "no corpus of corpora.toml includes it"),
        ("us/x.png", "not a .md or .txt file"),
    )
    report = build_tiny(sources, tmp_path / "c", HashEmbedder())
    remarks = [(f.source, f.documents) for f in report.files if f.remarks]
    assert remarks == [("uk/y.txt", 0), ("us/x.png", 0)]
    nothing = mapped(tree(tmp_path / "t", "x.txt"), one_corpus("y/**"))
    with pytest.raises(SourceError, match=r"nothing to build.*x\.txt: no corpus of corpora\.toml"):
        build_tiny(nothing, tmp_path / "d", HashEmbedder())


def test_the_mapping_itself_is_no_source_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "s", "us/x.txt")
    (root / "corpora.toml").write_text(one_corpus("us/**"))
    monkeypatch.chdir(tmp_path)
    for mapping in (root / "corpora.toml", Path("s/corpora.toml"), Path("s/../s/corpora.toml")):
        for source in (root, Path("s")):
            assert by_mapping(source, mapping, TXT, "").left_out == ()
    (tmp_path / "mine.toml").write_text(one_corpus("uk/**"))
    (root / "corpora.toml").unlink()
    elsewhere = by_mapping(root, tmp_path / "mine.toml", TXT, "")
    assert elsewhere.left_out == (("us/x.txt", "no corpus of mine.toml includes it"),)


def test_encodings_and_languages_of_corpora_go_before_the_general_ones(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "new/y.txt")
    (root / "old").mkdir()
    (root / "old" / "x.txt").write_bytes("Café “quoted”".encode("cp1252"))
    own = 'encoding = "cp1252"\nlanguage = "de"\n[[corpus]]\nid = "b"\ninclude = ["new/**"]'
    sources = mapped(root, one_corpus("old/**", own), "latin-1")
    assert [file.rule.encoding for file in sources.files] == ["latin-1", "cp1252"]
    for general, expected in (("fr", "fr"), ("", "")):
        files = in_language(sources, general).files
        assert [file.rule.language for file in files] == [expected, "de"]
    with pytest.raises(SourceError, match=r"--language: 'French' is no language.*Give one of ar,"):
        in_language(sources, "French")
    build_tiny(sources, tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    assert store.document("a.x").text == "Café “quoted”"
    store.close()


def test_metadata_of_a_mapping_fills_what_a_document_does_not_say(tmp_path: Path) -> None:
    files = {
        "x.md": "---\njurisdiction: UK\ndate: 1954\n---\nText.",
        "y.md": "Text.",
        "z.md": "---\nauthor:\n---\nText.",
    }
    root = write_sources(tmp_path / "s", files)
    toml = one_corpus(
        "*",
        """
        metadata = { jurisdiction = "US", date = 1999-12-31, author = "Court" }
        [[document]]
        include = ["y.*"]
        metadata = { title = "About y", author = "Judge", tags = ["law", "fact"] }
        [[document]]
        include = ["*.md"]
        metadata = { pages = 3 }
        [[document]]
        include = ["**/y.md"]
        metadata = { author = "Last judge" }
        """,
    )
    build_tiny(mapped(root, toml), tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    documents = {name: store.document(f"a.{name}") for name in "xyz"}
    store.close()
    common = {"content_type": "md", "pages": 3}
    assert {name: document.metadata for name, document in documents.items()} == {
        "x": common | {"jurisdiction": "UK", "date": "1954", "author": "Court"},
        "y": common
        | {"jurisdiction": "US", "date": "1999-12-31", "author": "Last judge"}
        | {"title": "About y", "tags": ("law", "fact")},
        "z": common | {"jurisdiction": "US", "date": "1999-12-31", "author": "Court"},
    }
    assert [documents[name].title for name in "xy"] == ["Text.", "About y"]


def test_values_of_a_mapping_keep_their_types(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt")
    toml = one_corpus("*", "metadata = { decided = 1954-05-17, volume = 347, open = true }")
    (file,) = mapped(root, toml).files
    assert file.rule.metadata == {"decided": date(1954, 5, 17), "volume": 347, "open": True}


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[[corpus]\n", "is not valid TOML: "),
        ("", "`corpus`: Field required"),
        ("corpus = []", "`corpus`: List should have at least 1 item"),
        ('[[corpus]]\nid = "a"\n', "`corpus.0.include`: Field required"),
        ('[[corpus]]\nid = "a"\ninclude = []\n', "`corpus.0.include`: List should have"),
        ('[[corpus]]\ninclude = ["**"]\n', "`corpus.0.id`: Field required"),
        (one_corpus("**", 'colour = "red"'), "`corpus.0.colour`: Extra inputs are not permitted"),
        (one_corpus("**", 'metadata = "US"'), "`corpus.0.metadata`: Input should be a valid dict"),
        ('[[corpus]]\nid = "a"\ninclude = "**"\n', "`corpus.0.include`: Input should be a valid l"),
        (one_corpus("**") + "[[documents]]\n", "`documents`: Extra inputs"),
        (one_corpus("**") + '[[document]]\ninclude = ["*"]\n', "`document.0.metadata`: Field req"),
        (one_corpus("**") + one_corpus("x"), "the corpus 'a' stands there twice"),
        ('[[corpus]]\nid = "all"\ninclude = ["**"]\n', "'all' cannot be a corpus id"),
        ('[[corpus]]\nid = "a b"\ninclude = ["**"]\n', "'a b' cannot be a corpus id"),
        (one_corpus("**", 'language = "german"'), "`language` of 'a': 'german' is no language"),
        (one_corpus("**", 'language = "xx"'), "Give one of ar, ca, cs, da, de, el, en, eo, es"),
    ],
)
def test_a_mapping_that_cannot_be_understood_names_file_and_key(
    tmp_path: Path, toml: str, message: str
) -> None:
    root = tree(tmp_path / "s", "x.txt")
    with pytest.raises(SourceError) as error:
        mapped(root, toml)
    assert str(error.value).startswith(str(root / "corpora.toml"))
    assert message in str(error.value)


def test_a_mapping_that_is_no_text_is_refused(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "x.txt")
    (root / "bad.toml").write_bytes(b"\xff\xfe\x00")
    for name, message in (("bad.toml", "is not valid TOML"), ("none.toml", "cannot be read: No")):
        with pytest.raises(SourceError, match=message):
            by_mapping(root, root / name, TXT, "")


# links: none leads out of a folder of sources


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Sources with one text, beside a folder that nobody may reach from there."""
    tree(tmp_path / "secret", "key.txt", "deep/key.txt")
    return tree(tmp_path / "s", "farm/cow.txt")


def test_links_inside_the_sources_are_followed(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "farm/cow.txt", "farm/market/trade.txt")
    (root / "farm" / "linked.txt").symlink_to(root / "farm" / "cow.txt")
    (root / "farm" / "dead.txt").symlink_to(root / "nothing.txt")
    (root / "town").symlink_to(root / "farm" / "market")
    assert corpus_of(by_folder([root], TXT, "")) == {
        "farm/cow.txt": "farm",
        "farm/linked.txt": "farm",
        "farm/market/trade.txt": "farm",
        "town/trade.txt": "town",
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", ["absolute", "relative", "by another link"])
def test_a_link_to_a_file_outside_is_left_out(root: Path, way: str, target: str) -> None:
    secret, link = root.parent / "secret", root / "farm" / "cow.md"
    if target == "by another link":
        (root / "farm" / "way.dir").symlink_to(secret)
        link.symlink_to(root / "farm" / "way.dir" / "key.txt")
    else:
        link.symlink_to(secret / "key.txt" if target == "absolute" else "../../secret/key.txt")
    sources = WAYS[way](root)
    assert list(corpus_of(sources)) == ["farm/cow.txt"]
    assert dict(sources.left_out)["farm/cow.md"] == LEADS_OUT


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


def test_a_link_that_is_named_as_a_source_is_followed(root: Path) -> None:
    link, secret = root.parent / "link", root.parent / "secret"
    link.symlink_to(root)
    (root.parent / "one.txt").symlink_to(secret / "key.txt")
    assert list(corpus_of(by_folder([link], TXT, ""))) == ["farm/cow.txt"]
    named = by_rule([link, root.parent / "one.txt"], TXT, CorpusRule("a"))
    assert list(corpus_of(named)) == ["link/farm/cow.txt", "one.txt"]
    (root / "farm" / "by.txt").symlink_to(secret / "key.txt")
    assert "s/farm/by.txt" in corpus_of(by_rule([root, secret], TXT, CorpusRule("a")))


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
    (tmp_path / "note").write_text('{"url": "https://example.org/secret"}')
    page.with_name(f".{page.name}.json").symlink_to(tmp_path / "note")
    assert list(reader_of("html").read(page, "")) == before


# limits of the system


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


def test_threads_that_hold_back_collections_at_once_leave_them_as_they_were() -> None:
    before = gc.get_threshold()
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with rare_collections():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with rare_collections():
        thread.start()
        assert entered.wait(10)
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold()[0] > before[0]  # the other is inside yet
    leave.set()
    thread.join()
    assert gc.get_threshold() == before


def test_of_a_table_of_metadata_that_fits_nowhere_the_first_rows_are_told(tmp_path: Path) -> None:
    rows = "".join(f"no{number}.txt,A title\n" for number in range(10_050))
    sheet = f"file,title\n{rows}"
    source = write_sources(tmp_path / "s", {"a/cow.txt": "Hay.", "a/metadata.csv": sheet})
    found = with_sheets(find_sources([source], files_reader()))
    assert [file.name for file in found.files] == ["a/cow.txt"]
    told = found.sheets["a/metadata.csv"]
    assert len(told) == 10_001
    assert told[0].startswith("line 2: no source is called 'no0.txt'")
    assert told[-1] == "50 more of its rows cannot be followed"
