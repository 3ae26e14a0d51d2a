"""Collections to copy, to change and to damage: each part of a version in every way."""

import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import chromadb
import numpy as np
import pytest

from atlas_search.building import change as sharing
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.verify import verify
from tests.hash_embedder import HashEmbedder
from tests.tiny import build_tiny, live, write_sources

Damage = Callable[[Path], None]
"""Harms the version in a folder."""

PARTS = "manifest.json records.sqlite ids embeddings tokens words keywords chroma".split()


def copy_collection(folder: Path, to: Path) -> Path:
    """Copy a collection; files that its versions share are shared by those of the copy."""
    to.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", folder, to], check=True)
    return to


def change(source: Path, files: Mapping[str, str | None]) -> None:
    """Write source files, or remove those that are None."""
    for name, content in files.items():
        if content is None:
            (source / name).unlink()
        else:
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(content, encoding="utf-8")


def share_files(patch: pytest.MonkeyPatch) -> None:
    """Let a version of a few passages share files with the one before, whatever has changed."""
    patch.setattr(sharing, "WHOLE_UP_TO", 0)
    patch.setattr(sharing, "RECENT_SHARE", 100)
    patch.setattr(sharing, "REBUILD_SHARE", 100)


def problems(folder: Path) -> list[str]:
    return [f"{f.part}: {f.problem}" for f in verify(folder, Manifest.read(folder)) if f.problem]


def damaged(folder: Path) -> list[str]:
    """The damaged parts of the live version."""
    return [problem.partition(":")[0] for problem in problems(folder)]


def flip(path: Path, at: int) -> None:
    blob = bytearray(path.read_bytes())
    blob[at] ^= 0xFF
    path.write_bytes(blob)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def lose(part: str) -> Damage:
    return lambda version: (version / part).rename(version / "lost")


def sql(file: str, statement: str) -> Damage:
    def damage(version: Path) -> None:
        connection = sqlite3.connect(version / file)
        connection.execute(statement)
        connection.commit()
        connection.close()

    return damage


def chroma(change: Callable[[chromadb.Collection], object]) -> Damage:
    """Change the collection of the corpus `farm` as another program could."""

    def damage(version: Path) -> None:
        client = chromadb.PersistentClient(str(version / "chroma"))
        change(client.get_collection("corpus-farm", embedding_function=None))
        client.close()  # type: ignore[attr-defined]

    return damage


def swap_vectors(collection: chromadb.Collection) -> None:
    records = collection.get(include=["embeddings"])
    ids, vectors = records["ids"], records["embeddings"]
    assert vectors is not None
    collection.update(ids=ids[:2], embeddings=[vectors[1], vectors[0]])


def add_foreign(collection: chromadb.Collection) -> None:
    collection.add(ids=["foreign"], embeddings=[HashEmbedder().embed_query("x").tolist()])


def exchange_one(collection: chromadb.Collection) -> None:
    collection.delete(ids=["farm.cows:0-15"])
    add_foreign(collection)


def swap_rows(version: Path) -> None:
    path = version / "embeddings" / "vectors.npy"
    vectors = np.load(path)
    np.save(path, vectors[[1, 0, *range(2, len(vectors))]])


def fewer_rows(version: Path) -> None:
    for name in ("vectors", "digests", "tokens"):
        path = version / "embeddings" / f"{name}.npy"
        np.save(path, np.load(path)[:2])


def from_another(part: str) -> Damage:
    """Put in the part of a collection with as many passages."""

    def damage(version: Path) -> None:
        texts = {f"farm/{number}.txt": f"Another text, {number}." for number in range(3)}
        other = version.parent.parent.parent / "other"
        build_tiny(write_sources(other / "s", texts), other / "c", HashEmbedder())
        shutil.rmtree(version / part)
        shutil.copytree(live(other / "c") / part, version / part)

    return damage


def stale_tokens(version: Path) -> None:
    """The words of a passage as another analysis would give them."""
    path = version / "tokens" / "words.flat.npy"
    words = np.load(path)
    np.save(path, words[::-1])


def segment(version: Path) -> Path:
    return next(path for path in (version / "keywords").iterdir() if path.suffix == ".idx")


DAMAGE: dict[str, tuple[str, Damage]] = {
    "SQLite file lost": ("records.sqlite", lose("records.sqlite")),
    "SQLite byte": ("records.sqlite", lambda v: flip(v / "records.sqlite", 5000)),
    "SQLite cut short": ("records.sqlite", lambda v: cut_short(v / "records.sqlite")),
    "SQLite header": ("records.sqlite", lambda v: flip(v / "records.sqlite", 0)),
    "span": ("records.sqlite", sql("records.sqlite", "UPDATE passages SET end = 9 WHERE row = 1")),
    "text": ("records.sqlite", sql("records.sqlite", "UPDATE texts SET content = x'00'")),
    "passage lost": ("records.sqlite", sql("records.sqlite", "DELETE FROM passages WHERE row = 1")),
    "table lost": ("records.sqlite", sql("records.sqlite", "DROP TABLE documents")),
    "ids lost": ("ids", lose("ids")),
    "id byte": ("ids", lambda v: flip(v / "ids/texts.npy", -1)),
    "ids cut short": ("ids", lambda v: cut_short(v / "ids/hashes.npy")),
    "ids of another": ("ids", from_another("ids")),
    "vectors lost": ("embeddings", lose("embeddings")),
    "vector file lost": ("embeddings", lose("embeddings/vectors.npy")),
    "vector byte": ("embeddings", lambda v: flip(v / "embeddings/vectors.npy", 130)),
    "vectors cut short": ("embeddings", lambda v: cut_short(v / "embeddings/vectors.npy")),
    "vectors swapped": ("embeddings", swap_rows),
    "vectors of another": ("embeddings", from_another("embeddings")),
    "fewer vectors": ("embeddings", fewer_rows),
    "text digest": ("embeddings", lambda v: flip(v / "embeddings/digests.npy", -1)),
    "token counts lost": ("embeddings", lose("embeddings/tokens.npy")),
    "words lost": ("tokens", lose("tokens")),
    "vocabulary": ("tokens", lambda v: (v / "tokens/vocabulary.json").write_text("[]")),
    "vocabulary cut short": ("tokens", lambda v: cut_short(v / "tokens/vocabulary.json")),
    "offset byte": ("tokens", lambda v: flip(v / "tokens/words.offsets.npy", -2)),
    "stale words": ("tokens", stale_tokens),
    "words of another": ("tokens", from_another("tokens")),
    "document words lost": ("words", lose("words")),
    "word forms": ("words", lambda v: flip(v / "words/forms.txt", 0)),
    "word starts": ("words", lambda v: cut_short(v / "words/starts.npy")),
    "document words of another": ("words", from_another("words")),
    "keywords lost": ("keywords", lose("keywords")),
    "keywords without meta": ("keywords", lose("keywords/meta.json")),
    "keywords cut short": ("keywords", lambda v: cut_short(segment(v))),
    "keywords of another": ("keywords", from_another("keywords")),
    "Chroma lost": ("chroma", lose("chroma")),
    "Chroma database lost": ("chroma", lose("chroma/chroma.sqlite3")),
    "Chroma cut short": ("chroma", lambda v: cut_short(v / "chroma/chroma.sqlite3")),
    "Chroma empty": ("chroma", lambda v: (v / "chroma/chroma.sqlite3").write_bytes(b"")),
    "record lost": ("chroma", chroma(lambda c: c.delete(ids=["farm.cows:0-15"]))),
    "record added": ("chroma", chroma(add_foreign)),
    "record exchanged": ("chroma", chroma(exchange_one)),
    "records swapped": ("chroma", chroma(swap_vectors)),
    "corpus of another": ("chroma", chroma(lambda c: c.modify(name="corpus-forest"))),
    "index of another": ("chroma", from_another("chroma")),
    "own manifest lost": ("manifest.json", lose("manifest.json")),
    "own manifest garbage": (
        "manifest.json",
        lambda v: (v / "manifest.json").write_text("garbage"),
    ),
}
