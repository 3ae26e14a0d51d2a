"""`atlas store export --form langchain-chroma`: one Chroma collection, as LangChain queries it."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from atlas_search.building.backup import export_to_chroma
from atlas_search.cli.main import app
from atlas_search.core.errors import SourceError
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.source_builds import build_from, chroma_sources, passages_of, stored
from tests.tiny import build_tiny, silent, write_sources

SOURCES = {
    "farm/sheep.md": "---\ntitle: On sheep\ntags: wool; hills\ndate: 1901\n---\nSheep give wool.\n",
    "farm/cows.txt": "Cows give milk.\fCalves drink it.\n",
    "town/trade.txt": "Merchants sell cloth.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = write_sources(tmp_path / "source", SOURCES)
    build_tiny(source, tmp_path / "stores" / "farm_and_town", HashEmbedder())
    return tmp_path / "stores" / "farm_and_town"


@pytest.fixture
def exported(folder: Path, tmp_path: Path) -> Iterator[Any]:
    """The collection, opened as `Chroma(...)` of langchain-chroma 1.1 opens it."""
    import chromadb

    manifest = export_to_chroma(folder, tmp_path / "out", silent)
    client = chromadb.PersistentClient(str(tmp_path / "out"))
    yield client.get_or_create_collection(
        manifest.collection, embedding_function=None, metadata=None, configuration=None
    )
    client.close()


def test_a_query_with_a_corpus_finds_texts_and_places(exported: Any) -> None:
    """The arguments are those of `similarity_search(query, filter={"corpus": ...})`."""
    (vector,) = HashEmbedder().embed(["Calves drink it."]).tolist()
    result = exported.query(
        query_texts=None,
        query_embeddings=[vector],
        n_results=4,
        where={"corpus": "farm"},
        where_document=None,
        include=["metadatas", "documents", "distances"],
    )
    assert sorted(result["documents"][0]) == [
        "Calves drink it.",
        "Cows give milk.",
        "Sheep give wool.",
    ]
    at = result["documents"][0].index("Calves drink it.")
    assert result["metadatas"][0][at] == {
        "corpus": "farm",
        "document_id": "farm.cows",
        "title": "Cows give milk.",
        "source": "farm/cows.txt",
        "page": 1,
        "page_label": "2",
        "total_pages": 2,
        "start_index": 16,
        "content_type": "txt",
    }
    sheep = result["metadatas"][0][result["documents"][0].index("Sheep give wool.")]
    assert (sheep["title"], sheep["date"], sheep["tags"]) == ("On sheep", "1901", ["wool", "hills"])
    assert exported.configuration["hnsw"]["space"] == exported.metadata["hnsw:space"] == "cosine"


def test_ids_and_vectors_are_those_of_the_collection(exported: Any, folder: Path) -> None:
    result = exported.get(include=["embeddings", "documents"])
    with closing(EmbeddedStore(folder)) as store:
        passages = passages_of(store)
        vectors = store.vectors(range(len(passages)))
    assert result["ids"] == [each.id for each in passages]
    assert result["documents"] == [each.text for each in passages]
    np.testing.assert_allclose(result["embeddings"], vectors, atol=1e-6)


@pytest.mark.usefixtures("read_here")
def test_pages_are_read_again_as_they_were(tmp_path: Path) -> None:
    """Of texts without a title: other vectors are of more than the texts, and are refused."""
    untitled = {name: text for name, text in SOURCES.items() if name.endswith(".txt")}
    build_tiny(write_sources(tmp_path / "source", untitled), tmp_path / "texts", HashEmbedder())
    export_to_chroma(tmp_path / "texts", tmp_path / "out", silent)
    build_from("chroma", tmp_path / "again", chroma_sources(tmp_path, "out"))
    before, after = (
        [(each.id, each.document_id, each.text, each.page) for each in stored(tmp_path / name)]
        for name in ("texts", "again")
    )
    assert before == after


def test_nothing_is_written_over_and_nothing_by_half(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(SourceError, match="is there already"):
        export_to_chroma(folder, tmp_path / "there", silent)
    with pytest.raises(SourceError, match=r"does not end in \.zip"):
        export_to_chroma(folder, tmp_path / "out.zip", silent)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_to_chroma(folder, tmp_path / "out", killed)
    names = {each.name for each in tmp_path.iterdir()}
    assert names == {"source", "stores", "there"}
    assert not list((tmp_path / "there").iterdir())


def test_the_command_says_what_it_wrote(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(folder.parent))
    out = tmp_path / "out"
    arguments = ["store", "export", folder.name, str(out), "--form", "langchain-chroma"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert f"{out} holds 3 documents, 4 passages of version " in result.stdout
    assert (out / "chroma.sqlite3").is_file()
