"""Corpora by a mapping: globs, ids, encodings, languages, defaults."""

from datetime import date
from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.prepare import Preparation, prepare
from atlas_search.building.sources import by_mapping, in_language
from atlas_search.core.errors import SourceError
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.staged import StagedDocument
from tests.hash_embedder import HashEmbedder
from tests.source_trees import TXT, corpus_of, mapped, one_corpus, stems, tree
from tests.tiny import READERS, build_tiny, document_ids, write_sources


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


def test_the_ids_of_documents_follow(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/cases/1954/Brown v. Board.txt", "nz/acts/a.txt")
    toml = '[[corpus]]\nid = "us"\ninclude = ["us/cases/**"]\n[[corpus]]\nid = "nz"\n'
    sources = mapped(root, toml + 'include = ["*/acts/*"]')
    build_tiny(sources, tmp_path / "c", HashEmbedder())
    assert document_ids(tmp_path / "c") == ["nz.nz.acts.a", "us.1954.Brown-v-Board"]


def test_the_first_corpus_that_includes_a_file_gets_it(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/special/x.txt", "us/y.txt")
    toml = """
    [[corpus]]
    id = "special"
    label = "Special cases"
    include = ["nothing/**", "us/special/**"]
    [[corpus]]
    id = "us"
    include = ["us/**"]
    """
    sources = mapped(root, toml)
    assert corpus_of(sources) == {"us/special/x.txt": "special", "us/y.txt": "us"}
    assert stems(sources) == {"us/special/x.txt": "x.txt", "us/y.txt": "y.txt"}
    assert sources.labels == {"special": "Special cases"}


def test_a_file_no_corpus_includes_is_reported_and_never_assigned(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/x.txt", "uk/y.txt", "stray.txt", "us/x.png")
    sources = mapped(root, one_corpus("us/**"))
    assert corpus_of(sources) == {"us/x.txt": "a"}
    assert sources.left_out == (
        ("stray.txt", "no corpus of corpora.toml includes it"),
        ("uk/y.txt", "no corpus of corpora.toml includes it"),
        ("us/x.png", "not a .md or .txt file"),
    )
    report = build_tiny(sources, tmp_path / "c", HashEmbedder())
    assert [(f.source, f.documents) for f in report.files if f.remarks] == [
        *(("stray.txt", 0), ("uk/y.txt", 0), ("us/x.png", 0)),
    ]


def test_ignored_files_are_not_reported(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/x.txt", "us/drafts/y.txt", "LICENSE", "notes.md")
    toml = 'ignore = ["LICENSE", "*.md", "**/drafts/**"]\n' + one_corpus("us/**")
    sources = mapped(root, toml)
    assert (list(corpus_of(sources)), sources.left_out) == (["us/x.txt"], ())


def test_the_mapping_itself_is_no_source_however_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree(tmp_path / "s", "us/x.txt")
    (root / "corpora.toml").write_text(one_corpus("us/**"))
    monkeypatch.chdir(tmp_path)
    for mapping in (root / "corpora.toml", Path("s/corpora.toml"), Path("s/../s/corpora.toml")):
        for source in (root, Path("s")):
            assert by_mapping(source, mapping, TXT, "").left_out == ()


def test_a_mapping_can_lie_elsewhere(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "us/x.txt")
    (tmp_path / "mine.toml").write_text(one_corpus("uk/**"))
    sources = by_mapping(root, tmp_path / "mine.toml", TXT, "")
    assert sources.left_out == (("us/x.txt", "no corpus of mine.toml includes it"),)


def test_encodings_of_corpora_go_before_the_given_one(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "old/x.txt", "new/y.txt")
    toml = one_corpus("old/**", 'encoding = "cp1252"\n[[corpus]]\nid = "b"\ninclude = ["new/**"]')
    sources = mapped(root, toml, "latin-1")
    assert {f.name: f.rule.encoding for f in sources.files} == {
        "new/y.txt": "latin-1",
        "old/x.txt": "cp1252",
    }


def test_languages_of_corpora_go_before_the_given_one(tmp_path: Path) -> None:
    root = tree(tmp_path / "s", "old/x.txt", "new/y.txt")
    toml = one_corpus("old/**", 'language = "de"\n[[corpus]]\nid = "b"\ninclude = ["new/**"]')
    sources = mapped(root, toml)
    for given, expected in (("fr", "fr"), ("", "")):
        files = in_language(sources, given).files
        assert {f.name: f.rule.language for f in files} == {
            "new/y.txt": expected,
            "old/x.txt": "de",
        }
    with pytest.raises(SourceError, match=r"--language: 'French' is no language.*Give one of ar,"):
        in_language(sources, "French")


def test_a_file_in_its_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "x.txt").write_bytes("Café “quoted”".encode("cp1252"))
    sources = mapped(tmp_path / "s", one_corpus("*.txt", 'encoding = "cp1252"'))
    build_tiny(sources, tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    assert store.document("a.x").text == "Café “quoted”"
    store.close()


def test_defaults_fill_what_a_document_does_not_say(tmp_path: Path) -> None:
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
    sources = mapped(root, toml)
    preparation = Preparation("txt", READERS["txt"], chunking(splitter="whole"), lambda _: [], "")
    found = {
        file.name: staged.document
        for file in sources.files
        for staged in prepare(preparation, file)
        if isinstance(staged, StagedDocument)
    }
    common = {"content_type": "md", "pages": 3}
    assert {name: document.metadata for name, document in found.items()} == {
        "x.md": common | {"jurisdiction": "UK", "date": "1954", "author": "Court"},
        "y.md": common
        | {"jurisdiction": "US", "date": "1999-12-31", "author": "Last judge"}
        | {"title": "About y", "tags": ("law", "fact")},
        "z.md": common | {"jurisdiction": "US", "date": "1999-12-31", "author": "Court"},
    }
    assert found["y.md"].title == "About y"
    assert found["x.md"].title == "Text."


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


def test_a_mapping_that_includes_nothing_leaves_nothing_to_build(tmp_path: Path) -> None:
    sources = mapped(tree(tmp_path / "s", "x.txt"), one_corpus("y/**"))
    with pytest.raises(SourceError, match=r"nothing to build.*x\.txt: no corpus of corpora\.toml"):
        build_tiny(sources, tmp_path / "c", HashEmbedder())
