"""Sources of every type, built with hashes for vectors, and what came of them."""

from collections.abc import Callable
from pathlib import Path

from atlas_search.building.chunking import Chunking, chunking
from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.sources import Sources, by_folder
from atlas_search.cli.create import locate_chroma
from atlas_search.core.domain import Passage
from atlas_search.core.errors import SourceError
from atlas_search.readers import Reader
from atlas_search.readers.files import READERS
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_files import FETCHED, FOLDERS, MAKERS, good_files, write_chroma, write_files
from tests.tiny import HNSW

CHROMA_RECORDS = {"l/1": "Twelve ships lay at anchor.", "l 2": "The wall has fallen."}

ODD_IDS = [
    *("a b", "a/b", "a//b", "/a", "a/", "../a", "[a]", "a%20b", "%2F", "a?b=c&d#e", "a;b", "a+b"),
    *(" a ", "ü", "史记", "a\nb", "a\\b", "a:0-10", "<b>", "'\"", "a" * 500),
]

SUFFIXES = {kind: f".{kind}" for kind in MAKERS if kind not in FOLDERS}
"""One for each type that takes files of any name."""


def reader_of(kind: str, **options: object) -> Reader:
    source = {"source": []} if kind in FETCHED else {}
    return READERS.load(kind, "a test")(**source, **options)


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
        BuildOptions(folder.name, kind, cut or chunking(), indexing=HNSW),
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


def texts_or_refusal(
    kind: str, folder: Path, locate_them: Callable[[], Sources]
) -> set[str] | type[SourceError]:
    try:
        build_from(kind, folder, locate_them())
    except SourceError:
        return SourceError
    return {passage.text for passage in stored(folder)}
