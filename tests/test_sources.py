"""What holds for every source type: each kind of file through the real build, good and broken."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from flask.testing import FlaskClient

from atlas_search.build.build import BuildReport, Options, build
from atlas_search.build.chunking import Chunking, chunking
from atlas_search.build.corpora import Rule, Sources, by_folder, by_rule
from atlas_search.cli import source_types
from atlas_search.cli.source_types import COMMANDS, locate_chroma
from atlas_search.core.domain import MARKER, MetadataValue, Passage
from atlas_search.core.errors import SourceError
from atlas_search.core.settings import Settings
from atlas_search.language.text import content_words, words
from atlas_search.readers import Reader
from atlas_search.server.app import create_app
from atlas_search.services import open_services
from atlas_search.stores.store import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_files import (
    BROKEN,
    MAKERS,
    RANDOM,
    WRAPS,
    good_files,
    lines_of,
    table,
    write_chroma,
    write_files,
)

CHROMA_RECORDS = {"l/1": "Twelve ships lay at anchor.", "l 2": "The wall has fallen."}
ODD_IDS = [
    *("a b", "a/b", "a//b", "/a", "a/", "../a", "[a]", "a%20b", "%2F", "a?b=c&d#e", "a;b", "a+b"),
    *(" a ", "ü", "史记", "a\nb", "a\\b", "a:0-10", "<b>", "'\"", "a" * 500),
]
MEGABYTES = ("txt", "csv", "jsonl", "html")
SUFFIXES = {kind: f".{kind}" for kind in MAKERS if kind != "beir"}
"""One for each type that takes files of any name."""


@dataclass(frozen=True)
class Expected:
    """A document: its title, page, section and speaker of its passages, some of its metadata."""

    title: str
    places: tuple[tuple[int, str, str], ...] = ((1, "", ""),)
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


SPEECHES = {
    "town.s-1": Expected(
        "On ships", ((7, "Harbour dues", "Ann"),), {"date": "1887-05-03", "speaker": "Ann"}
    ),
    "town.s-2": Expected("On walls", ((9, "Sea wall", "Bob"),), {"date": "1887"}),
}
EXPECTED: dict[str, dict[str, Expected]] = {
    "txt": {
        "farm.wool": Expected("Sheep give wool.", ((1, "", ""), (2, "", ""))),
        "town.ledger": Expected(
            "The ledger",
            ((1, "Arrivals", ""), (1, "Departures", "")),
            {"date": "1887-05-03", "tags": ("ships", "dues"), "berths": 40},
        ),
    },
    "pdf": {
        "farm.survey": Expected("A survey of the pastures."),
        "town.charter": Expected(
            "The town charter",
            ((1, "The charter", ""), (2, "Penalties", "")),
            {"author": "A. Clerk", "created": "2000-01-01"},
        ),
    },
    "html": {
        "farm.fair": Expected("The fair", ((1, "The fair", ""),)),
        "town.notice": Expected(
            "A notice",
            ((1, "A notice", ""), (1, "A notice > Tolls", "")),
            {"author": "A. Clerk", "date": "1887-05-03", "language": "en"},
        ),
    },
    "xml": {
        "farm.hansard": Expected(
            "4 May 1887",
            ((1, "", ""), (1, "WOOL BILL", ""), (1, "WOOL BILL", "Mr. Cole")),
            {"date": "1887-05-04", "house": "House of Commons"},
        ),
        "town.debate": Expected(
            "Debate on the harbour",
            ((1, "Harbour dues", ""), (1, "Harbour dues", "Ann"), (2, "Harbour dues", "Bob")),
            {"date": "1887-05-03", "speakers": ("Ann", "Bob")},
        ),
    },
    "csv": {"farm.lambs.row-1": Expected("Lambs are born in spring."), **SPEECHES},
    "jsonl": {
        "farm.diary.row-1": Expected("It rained on the hay."),
        "town.s-1": Expected(
            "On ships",
            ((7, "Harbour dues", "Ann"),),
            {"page": 7, "berths": 40, "tags": ("ships", "dues")},
        ),
        "town.s-2": SPEECHES["town.s-2"],
    },
    "docx": {
        "farm.will": Expected("I leave my sheep to my daughter."),
        "town.minutes": Expected(
            "Minutes of the council",
            ((1, "Harbour", ""), (2, "Sea wall", "")),
            {"author": "A. Clerk"},
        ),
    },
    "epub": {
        "farm.almanac": Expected("Almanac", ((1, "Spring", ""),)),
        "town.history": Expected(
            "A history of the town",
            ((1, "The harbour", ""), (2, "The sea wall", "")),
            {"author": ("A. Clerk",), "date": "1887"},
        ),
    },
    "beir": {
        "farm.1": Expected("Hay", metadata={"record_id": "1"}),
        "town.d-1": Expected("Ships", metadata={"record_id": "d 1", "n": 1}),
        "town.d-2": Expected("The wall fell.", metadata={"record_id": "d/2"}),
    },
    "chroma": {
        "town.l-1": Expected("Letters", metadata={"year": 1887, "tags": ("a", "b")}),
        "town.l-2": Expected("Letters", metadata={"year": 1887, "open": "true"}),
    },
}
KINDS = sorted(COMMANDS)


def test_every_source_type_is_tested() -> None:
    assert set(KINDS) == {*EXPECTED, "files"}


# building


def reader_of(kind: str, **options: object) -> Reader:
    reader: Reader = getattr(source_types, f"{kind}_reader")(**options)
    return reader


def write_good(kind: str, root: Path, count: str = "Twelve") -> None:
    if kind == "chroma":
        first = {"l/1": CHROMA_RECORDS["l/1"].replace("Twelve", count)}
        metadata = {
            "corpus": "town",
            "title": "Letters",
            "year": 1887,
            "open": True,
            "tags": ["a", "b"],
        }
        write_chroma(root / "old", CHROMA_RECORDS | first, metadata)
    else:
        write_files(root, good_files(kind, count))


def write_changed(kind: str, root: Path) -> None:
    """Write the one file again that says how many ships there are."""
    if kind == "chroma":
        write_good(kind, root, "Eleven")
    else:
        name, content = next(iter(good_files(kind, "Eleven").items()))
        write_files(root, {name: content})


def chroma_sources(root: Path, *folders: str, **options: str) -> Sources:
    given = {"corpus": "", "corpus_field": ""} | options
    return locate_chroma([root / name for name in folders], reader_of("chroma"), given, root)


def sources_of(kind: str, root: Path) -> Sources:
    if kind == "chroma":
        return chroma_sources(root, "old")
    return by_folder([root], reader_of(kind).suffixes, "")


def build_from(
    kind: str,
    folder: Path,
    sources: Sources,
    cut: Chunking | None = None,
    embedder: HashEmbedder | None = None,
    **options: object,
) -> BuildReport:
    return build(
        folder,
        sources,
        reader_of(kind, **options),
        embedder or HashEmbedder(),
        Options(folder.name, kind, cut or chunking()),
        lambda *_: None,
    )


def passages_of(store: EmbeddedStore) -> list[Passage]:
    return store.passages(range(store.manifest.passages))


def stored(folder: Path) -> list[Passage]:
    store = EmbeddedStore(folder)
    try:
        return passages_of(store)
    finally:
        store.close()


def remarks(report: BuildReport) -> dict[str, str]:
    return {file.source: "; ".join(file.remarks) for file in report.files}


def documents(report: BuildReport) -> dict[str, int]:
    return {file.source: file.documents for file in report.files}


# good files


@dataclass(frozen=True)
class Built:
    """A collection of the good files of one type, built once; sections part its passages."""

    kind: str
    root: Path
    folder: Path
    report: BuildReport
    store: EmbeddedStore


STRUCTURAL = chunking("structural")


@pytest.fixture(scope="module", params=KINDS)
def built(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Built]:
    kind = request.param
    root = tmp_path_factory.mktemp(kind)
    write_good(kind, root / "sources")
    report = build_from(kind, root / "c", sources_of(kind, root / "sources"), STRUCTURAL)
    store = EmbeddedStore(root / "c")
    yield Built(kind, root / "sources", root / "c", report, store)
    store.close()


def expected_of(kind: str) -> dict[str, Expected]:
    if kind != "files":
        return EXPECTED[kind]
    # the speeches of the table and those of the JSON file claim the same ids
    return {
        id_: expected
        for each in SUFFIXES
        for id_, expected in EXPECTED[each].items()
        if id_ not in SPEECHES
    }


def test_titles_and_typed_metadata_are_read(built: Built) -> None:
    for id_, expected in expected_of(built.kind).items():
        document = built.store.document(id_)
        assert document.title == expected.title
        assert expected.metadata.items() <= document.metadata.items()
    assert sum(documents(built.report).values()) == built.report.manifest.documents


def test_pages_sections_and_speakers_are_kept(built: Built) -> None:
    for id_, expected in expected_of(built.kind).items():
        passages = built.store.document_passages(id_)
        assert tuple((p.page, p.section, p.speaker) for p in passages) == expected.places


def test_every_passage_is_its_span_and_has_an_id_of_its_own(built: Built) -> None:
    passages = passages_of(built.store)
    for passage in passages:
        text = built.store.document(passage.document_id).text
        assert passage.text == text[passage.start : passage.end]
        assert built.store.passage(passage.id) == passage
    assert len({passage.id for passage in passages}) == len(passages)


def test_every_passage_is_found_by_its_vector_and_by_its_words(built: Built) -> None:
    for passage in passages_of(built.store):
        vector = HashEmbedder().embed_query(passage.text)
        hits = built.store.nearest(passage.corpus, vector, 1, None)
        assert built.store.passages(hits.rows.tolist())[0].text == passage.text
        assert hits.scores[0] == pytest.approx(1.0, abs=1e-4)
        terms = [word.term for word in content_words(words(passage.text))]
        assert passage.row in built.store.matching(passage.corpus, terms, 3, None).rows


def test_a_second_build_reads_nothing_and_changes_nothing(built: Built) -> None:
    again = build_from(built.kind, built.folder, sources_of(built.kind, built.root), STRUCTURAL)
    assert (again.unchanged, again.read, again.embedded) == (True, 0, 0)
    assert again.manifest == built.report.manifest
    assert again.files == built.report.files


def test_the_same_files_elsewhere_give_the_same_passages(built: Built, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another [place] 100%"
    shutil.copytree(built.root, elsewhere)
    build_from(built.kind, tmp_path / "c", sources_of(built.kind, elsewhere), STRUCTURAL)
    assert stored(tmp_path / "c") == passages_of(built.store)


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_has_changed_is_read_and_embedded_again(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good(kind, root)
    build_from(kind, tmp_path / "c", sources_of(kind, root))
    before = {passage.id: passage.text for passage in stored(tmp_path / "c")}
    write_changed(kind, root)
    report = build_from(kind, tmp_path / "c", sources_of(kind, root))
    after = {passage.id: passage.text for passage in stored(tmp_path / "c")}
    (changed,) = [id_ for id_, text in after.items() if before.get(id_) != text]
    assert "Eleven ships" in after[changed]
    assert (report.changes.changed, report.changes.added, report.changes.removed) == (1, 0, 0)
    assert (report.read, report.embedded) == (1, 0 if kind == "chroma" else 1)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chroma"])
def test_a_file_that_vanishes_after_it_was_listed_is_reported(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good(kind, root)
    sources = sources_of(kind, root)
    (root / sources.files[0].name).unlink()
    report = build_from(kind, tmp_path / "c", sources)
    assert "No such file" in remarks(report)[sources.files[0].name]
    assert documents(report)[sources.files[0].name] == 0
    assert report.manifest.documents == sum(documents(report).values()) > 0


# broken files


@pytest.mark.parametrize("kind", [*BROKEN, "files"])
def test_broken_files_are_named_and_never_stop_the_good_ones(kind: str, tmp_path: Path) -> None:
    good = good_files(kind)
    kinds = BROKEN if kind == "files" else [kind]
    broken = {f"town/{name}": file for each in kinds for name, file in BROKEN[each]().items()}
    write_files(tmp_path / "sources", good)
    write_files(tmp_path / "sources", {name: content for name, (content, _) in broken.items()})
    report = build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    found, counts = remarks(report), documents(report)
    unexpected = {
        name: found[name]
        for name, (_, reason) in broken.items()
        if reason not in found[name] or not (reason or counts[name])
    }
    assert unexpected == {}
    assert all(counts[name] for name in good)
    texts = " ".join(passage.text for passage in stored(tmp_path / "c"))
    assert "lollol" not in texts
    assert "root:" not in texts


def test_a_broken_corpus_of_a_benchmark_never_stops_the_others(tmp_path: Path) -> None:
    broken = {
        "latin/corpus.jsonl": '{"_id": "1", "text": "Café"}'.encode("latin-1"),
        "cut/corpus.jsonl": b'{"_id": "1", "te',
        "twice/docs.jsonl": lines_of({"_id": "1", "text": "a"}, {"_id": "1", "text": "b"}),
        "no-text/corpus.jsonl": lines_of({"_id": "1", "title": "Only a title"}),
        "other/corpus.json": b"[]",
    }
    write_files(tmp_path / "sources", good_files("beir") | broken)
    report = build_from("beir", tmp_path / "c", sources_of("beir", tmp_path / "sources"))
    found = remarks(report)
    assert "not UTF-8 at byte 25" in found["latin/corpus.jsonl"]
    assert "not JSON" in found["cut/corpus.jsonl"]
    assert "duplicate id '1', first at line 1" in found["twice/docs.jsonl"]
    assert "no field `text`" in found["no-text/corpus.jsonl"]
    assert found["other/corpus.json"] == "not a corpus.jsonl or docs.jsonl file"
    assert report.manifest.documents == 4


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("broken", "cannot be opened as a Chroma folder"),
        ("empty", "has 0 collections"),
        ("gone", "No such file"),
    ],
)
def test_a_chroma_folder_that_cannot_be_opened_is_refused(
    tmp_path: Path, name: str, reason: str
) -> None:
    garbage = {"broken": RANDOM, "empty": b"", "gone": b""}
    write_files(tmp_path, {f"{folder}/chroma.sqlite3": c for folder, c in garbage.items()})
    sources = chroma_sources(tmp_path, name)
    shutil.rmtree(tmp_path / "gone")
    with pytest.raises(SourceError, match=reason):
        build_from("chroma", tmp_path / "c", sources)


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("jsonl", "town/empty.jsonl", b""),
        ("csv", "town/header only.csv", b"id,text\n"),
        ("jsonl", "town/no records.json", b"[]"),
        ("beir", "town/corpus.jsonl", b"\n"),
    ],
)
def test_a_file_without_records_says_so(
    tmp_path: Path, kind: str, name: str, content: bytes
) -> None:
    write_files(tmp_path / "sources", good_files(kind) | {name: content})
    report = build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    assert documents(report)[name] == 0
    assert remarks(report)[name]


# names, folders and links


ODD_NAMES = {
    "a b": "a-b",
    "brackets [1] (2)": "brackets-1-2",
    "100% %2F": "100-2F",
    "dots..and.more": "dots-and-more",
    "quotes 'a' \"b\"": "quotes-a-b",
    "-dash": "dash",
    "Zürich 史记": "Zürich-史记",
    "new\nline": "new-line",
    "#hash?query&more": "hash-query-more",
    "x" * 240: "x" * 120 + "-718df670",
}
"""Names of files, and what becomes of them in the ids of documents."""

LOST = "a file that is not read for what it is leaves no trace in the report"


@pytest.mark.parametrize("kind", SUFFIXES)
def test_any_name_of_a_file_will_do(kind: str, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    content = next(iter(good_files(kind).values()))
    if kind in {"csv", "jsonl"}:  # or the ids would be those of the records
        content = good_files(kind)["farm/lambs.tsv" if kind == "csv" else "farm/diary.json"]
    suffix = {"csv": ".tsv", "jsonl": ".json"}.get(kind, SUFFIXES[kind])
    write_files(root, {f"town/{name}{suffix}": content for name in ODD_NAMES})
    write_files(root, {f"town/.hidden{suffix}": content, f"town/.git/config{suffix}": content})
    report = build_from(kind, tmp_path / "c", sources_of(kind, root))
    assert documents(report) == {f"town/{name}{suffix}": 1 for name in ODD_NAMES}
    key = ".row-1" if kind in {"csv", "jsonl"} else ""
    found = {passage.document_id for passage in stored(tmp_path / "c")}
    assert found == {f"town.{id_}{key}" for id_ in ODD_NAMES.values()}


def test_a_name_that_is_not_utf_8_is_read_or_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    try:
        (root / "town" / os.fsdecode(b"caf\xe9.txt")).write_text("A text.")
    except OSError:
        pytest.skip("this file system takes no name that is not UTF-8")
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert len(report.files) == 3


def test_files_of_one_name_in_different_folders_have_ids_of_their_own(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_files(
        root,
        {f"{path}/letter.txt": path.encode() for path in ("town/1901", "town/1902", "farm/1901")}
        | {"town/1901/letter.md": b"# Letter", "town/1901-letter.txt": b"Another."},
    )
    build_from("txt", tmp_path / "c", sources_of("txt", root))
    found = sorted(passage.document_id for passage in stored(tmp_path / "c"))
    assert found[0] == "farm.1901.letter"
    assert found[1] == "town.1901-letter"
    assert found[2:4] == [id_ for id_ in found if id_.startswith("town.1901.letter-")]
    assert found[4] == "town.1902.letter"


@pytest.mark.parametrize("given", ["folders", "links", "folders of one corpus", "files"])
def test_sources_of_one_name_are_both_read_or_refused(tmp_path: Path, given: str) -> None:
    write_files(tmp_path, {f"{box}/letters/x.txt": box.encode() for box in ("box-1", "box-2")})
    roots = [tmp_path / box / "letters" for box in ("box-1", "box-2")]
    suffixes = reader_of("txt").suffixes
    if given == "links":
        (tmp_path / "links").mkdir()
        for root in roots:
            (tmp_path / "links" / root.parent.name).symlink_to(root)
    if given == "files":
        roots = [root / "x.txt" for root in roots]
    locate_them = {
        "folders": lambda: by_folder(roots, suffixes, ""),
        "links": lambda: by_folder([tmp_path / "links"], suffixes, ""),
    }.get(given, lambda: by_rule(roots, suffixes, Rule("letters")))
    assert texts_or_refusal("txt", tmp_path / "c", locate_them) in ({"box-1", "box-2"}, SourceError)


def texts_or_refusal(
    kind: str, folder: Path, locate_them: Callable[[], Sources]
) -> set[str] | type[SourceError]:
    try:
        build_from(kind, folder, locate_them())
    except SourceError:
        return SourceError
    return {passage.text for passage in stored(folder)}


def test_a_folder_with_the_name_of_a_file_is_a_folder(tmp_path: Path) -> None:
    for kind, suffix in SUFFIXES.items():
        content = next(iter(good_files(kind).values()))
        write_files(tmp_path / "sources", {f"town/folder{suffix}/inside{suffix}": content})
    report = build_from("files", tmp_path / "c", sources_of("files", tmp_path / "sources"))
    assert remarks(report).keys() == {f"town/folder{s}/inside{s}" for s in SUFFIXES.values()}
    assert all(documents(report).values())


@pytest.mark.parametrize("name", ["nowhere.txt", "farm"])
def test_a_link_that_is_not_followed_is_reported(tmp_path: Path, name: str) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    (root / "town" / "link.txt").symlink_to(root / name)
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert remarks(report)["town/link.txt"]


def test_a_link_to_a_file_is_read(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    (root / "town" / "link.txt").symlink_to(root / "farm" / "wool.txt")
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert documents(report)["town/link.txt"] == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every file")
def test_a_file_that_must_not_be_read_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("files", root)
    for kind, suffix in SUFFIXES.items():
        path = root / "town" / f"locked{suffix}"
        path.write_bytes(next(iter(good_files(kind).values())))
        path.chmod(0)
    report = build_from("files", tmp_path / "c", sources_of("files", root))
    found = {remarks(report)[f"town/locked{suffix}"] for suffix in SUFFIXES.values()}
    assert found == {"cannot be read: Permission denied"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read every folder")
def test_a_folder_that_must_not_be_read_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("txt", root)
    write_files(root, {"town/box/letter.txt": b"A letter."})
    (root / "town" / "box").chmod(0)
    try:
        with pytest.raises(SourceError, match="Permission denied"):
            sources_of("txt", root)
    finally:
        (root / "town" / "box").chmod(0o700)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="only Linux has /proc")
def test_a_file_that_fails_while_it_is_read_is_reported(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_good("files", root)
    for suffix in SUFFIXES.values():
        # the kernel answers as a failing disk does: nothing lies at the beginning of memory
        (root / "town" / f"failing{suffix}").symlink_to("/proc/self/mem")
    report = build_from("files", tmp_path / "c", sources_of("files", root))
    found = {suffix: remarks(report)[f"town/failing{suffix}"] for suffix in SUFFIXES.values()}
    assert all(found.values()), found
    assert found[".txt"] == "cannot be read: Input/output error"


# many and large


def test_a_thousand_small_files_are_a_thousand_documents(tmp_path: Path) -> None:
    root = tmp_path / "sources"
    write_files(root, {f"town/{n // 100}/{n}.txt": f"Letter {n}.".encode() for n in range(1000)})
    report = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert report.manifest.documents == report.read == report.embedded == 1000
    again = build_from("txt", tmp_path / "c", sources_of("txt", root))
    assert (again.unchanged, again.read) == (True, 0)
    assert stored(tmp_path / "c")[-1].text == "Letter 999."


def test_a_line_of_twenty_megabytes_is_read_to_its_end(tmp_path: Path) -> None:
    line = "It begins " + "-" * 20_000_000 + " and ends."
    content = {f"town/{kind}.{kind}": WRAPS[kind].format(line).encode() for kind in MEGABYTES}
    write_files(tmp_path / "sources", content)
    sources = sources_of("files", tmp_path / "sources")
    build_from("files", tmp_path / "c", sources, chunking("whole"))
    assert [passage.text == line for passage in stored(tmp_path / "c")] == [True] * len(MEGABYTES)


# Chroma


def test_ids_and_vectors_of_chroma_are_kept_and_its_folder_is_not_touched(tmp_path: Path) -> None:
    records = {id_: f"Letter {number} of the harbour." for number, id_ in enumerate(ODD_IDS)}
    write_chroma(tmp_path / "old", records)
    before = contents(tmp_path / "old")
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    assert {passage.id: passage.text for passage in stored(tmp_path / "c")} == records
    assert report.embedded == 0
    assert contents(tmp_path / "old") == before
    store = EmbeddedStore(tmp_path / "c")
    for passage in passages_of(store):
        kept = store.vectors(np.array([passage.row]))[0]
        np.testing.assert_allclose(kept, HashEmbedder().embed_query(passage.text), atol=1e-6)
    store.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_vectors_of_any_length_are_stored_at_unit_length(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS, embedder=Scaled())
    build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    store = EmbeddedStore(tmp_path / "c")
    lengths = np.linalg.norm(store.vectors(np.arange(2)), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)
    store.close()


class Scaled(HashEmbedder):
    """Makes vectors of length 7, or of none for texts that begin with `none`."""

    def embed_query(self, text: str):
        return super().embed_query(text) * (0 if text.startswith("none") else 7)


def test_a_vector_of_no_length_is_refused_or_reported(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS | {"zero": "none"}, embedder=Scaled())
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    assert remarks(report)["old"]


@pytest.mark.parametrize(
    ("embedder", "message"),
    [
        (HashEmbedder("other"), r"^old: its vectors are not those of other .*Set EMBEDDING_MODEL"),
        (HashEmbedder(dimension=64), r"^old: its vectors have 32 dimensions, those of hash 64"),
    ],
    ids=["another model", "another dimension"],
)
def test_vectors_of_another_model_are_refused(
    tmp_path: Path, embedder: HashEmbedder, message: str
) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    sources = chroma_sources(tmp_path, "old")
    with pytest.raises(SourceError, match=message):
        build_from("chroma", tmp_path / "c", sources, embedder=embedder)
    assert not (tmp_path / "c" / "manifest.json").exists()


def test_vectors_of_another_model_are_refused_every_time(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    for _ in range(2):
        with pytest.raises(SourceError, match="its vectors are not those of other"):
            build_from(
                "chroma",
                tmp_path / "c",
                chroma_sources(tmp_path, "old"),
                embedder=HashEmbedder("other"),
            )


def test_vectors_of_which_some_are_of_another_model_are_refused(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", {f"a{n}": f"Letter {n}." for n in range(60)})
    later = {f"b{n}": f"Reply {n}." for n in range(40)}
    write_chroma(tmp_path / "old", later, embedder=HashEmbedder("other"))
    with pytest.raises(SourceError, match="its vectors are not those of hash"):
        build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))


def test_a_collection_that_is_not_there_is_an_error_that_lists_those_that_are(
    tmp_path: Path,
) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS)
    write_chroma(tmp_path / "old", {"r": "A reply."}, collection="replies")
    sources = chroma_sources(tmp_path, "old")
    message = "Name one with --from-collection; it has: letters, replies"
    for name in ("diaries", ""):
        with pytest.raises(SourceError, match=message):
            build_from("chroma", tmp_path / "c", sources, from_collection=name)
    build_from("chroma", tmp_path / "c", sources, from_collection="replies")
    assert [passage.id for passage in stored(tmp_path / "c")] == ["r"]


def test_records_without_a_corpus_or_a_text_are_reported_one_by_one(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS | {"blank": " \n"})
    write_chroma(tmp_path / "old", {"lost": "A letter."}, {"box": 7})
    write_chroma(tmp_path / "old", {"named": "A letter to all."}, {"corpus": "all"})
    report = build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))
    (file,) = report.files
    assert file.documents == 2
    assert file.remarks[0] == "blank: it holds no text"
    assert file.remarks[1] == "lost: no corpus: it has no metadata field `corpus`"
    assert file.remarks[2].startswith("named: metadata field `corpus` is 'all'")
    named = build_from("chroma", tmp_path / "d", chroma_sources(tmp_path, "old", corpus="box"))
    assert [corpus.id for corpus in named.manifest.corpora] == ["box"]


def test_a_collection_in_which_nothing_has_a_corpus_is_an_error(tmp_path: Path) -> None:
    write_chroma(tmp_path / "old", CHROMA_RECORDS, {"box": 7})
    with pytest.raises(SourceError, match="old: no corpus: it has no metadata field `corpus`"):
        build_from("chroma", tmp_path / "c", chroma_sources(tmp_path, "old"))


def test_a_folder_without_chroma_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    with pytest.raises(SourceError, match="not a Chroma folder: it has no chroma"):
        chroma_sources(tmp_path, "old")


@pytest.mark.parametrize(
    "records",
    [
        {"a/chroma": {"1": "A letter."}, "b/chroma": {"2": "A reply."}},
        {"letters": {"1": "A letter."}, "replies": {"1": "A reply."}},
    ],
    ids=["one name", "one id"],
)
def test_two_chroma_folders_are_both_read_or_refused(
    tmp_path: Path, records: Mapping[str, Mapping[str, str]]
) -> None:
    for folder, texts in records.items():
        write_chroma(tmp_path / folder, texts)
    found = texts_or_refusal("chroma", tmp_path / "c", lambda: chroma_sources(tmp_path, *records))
    assert found in ({"A letter.", "A reply."}, SourceError)


# the API


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """The API over passages with odd ids."""
    root = tmp_path_factory.mktemp("odd")
    write_chroma(root / "old", {id_: f"Letter {id_!r}." for id_ in ODD_IDS})
    build_from("chroma", root / "c", chroma_sources(root, "old"))
    settings = Settings(chroma_persist_directory=root, chroma_collection_name="c")
    services = open_services(settings, HashEmbedder())
    yield create_app(lambda: services).test_client()
    services.close()


@pytest.mark.parametrize("id_", ODD_IDS)
def test_odd_ids_survive_the_api(client: FlaskClient, id_: str) -> None:
    passage = client.get(f"/api/passages/{quote(id_, safe='')}")
    assert passage.status_code == 200
    assert passage.json["passage_id"] == id_
    assert MARKER.fullmatch(passage.json["marker"])
    document = client.get(f"/api/documents/{quote(passage.json['document_id'], safe='')}")
    assert document.status_code == 200
    assert document.json["passages"][0]["passage_id"] == id_


@pytest.mark.parametrize("kind", ["csv", "jsonl", "beir"])
def test_odd_ids_of_records_make_markers_that_can_be_cited(kind: str, tmp_path: Path) -> None:
    records = [{"id": id_, "text": f"Letter {n}."} for n, id_ in enumerate(ODD_IDS)]
    content = table(records) if kind == "csv" else lines_of(*records)
    name = "corpus.jsonl" if kind == "beir" else f"letters.{kind}"
    write_files(tmp_path / "sources", {f"town/{name}": content})
    build_from(kind, tmp_path / "c", sources_of(kind, tmp_path / "sources"))
    passages = stored(tmp_path / "c")
    assert len({passage.document_id for passage in passages}) == len(ODD_IDS)
    assert all(MARKER.fullmatch(passage.marker) for passage in passages)
