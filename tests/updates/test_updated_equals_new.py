"""A collection that was updated equals one built at once, whatever the order of changes."""

import csv
import json
import random
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building import change
from atlas_search.building.document_ids import Changes
from atlas_search.building.go_live import _fingerprints
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.record_writer import SourceRow
from atlas_search.stores.versions import ORDER
from tests.hash_embedder import HashEmbedder
from tests.tiny import (
    all_vectors,
    build_tiny,
    contents,
    document_ids,
    index,
    live,
    rows,
    write_sources,
)
from tests.updates.changes import problems


def test_the_ids_of_files_that_collide_depend_on_nothing_else(
    tmp_path: Path, hashes: HashEmbedder
) -> None:
    """Both get a digest of where they come from, whichever came first; one alone needs none."""
    both = {"a/x.txt": "First.", "a/x.md": "Second.", "a/y.txt": "Third."}
    found = []
    for number, first in enumerate(("a/x.txt", "a/x.md")):
        source, folder = tmp_path / f"s{number}", tmp_path / f"c{number}"
        build_tiny(write_sources(source, {first: both[first]}), folder, hashes)
        assert document_ids(folder) == ["a.x"]
        report = build_tiny(write_sources(source, both), folder, hashes)
        assert report.changes == Changes(2, 0, 1, 0)
        found.append({row["id"]: row["source"] for row in rows(folder, _IDS)})
    assert found[0] == found[1]
    assert sorted(id_.partition("-")[0] for id_ in found[0]) == ["a.x", "a.x", "a.y"]
    build_tiny(write_sources(source, {"a/x.md": "Second."}), folder, hashes)
    assert document_ids(folder) == ["a.x"]
    assert index(folder)["a"][0] == ["a.x:0-7"]


_IDS = "SELECT id, source FROM documents"

WORDS = "sheep wool cow milk trade silk ship port §12 42 USC law court king day".split()


def random_text(chance: random.Random) -> str:
    paragraphs = [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(3)]
    return "\n\n".join(f"{p.capitalize()}." for p in paragraphs[: chance.randint(1, 3)])


def random_file(chance: random.Random) -> str:
    text = random_text(chance)
    if chance.random() < 0.4:
        date, tag = chance.choice(["1901", "1954-05-17", "c. 1957"]), chance.choice(WORDS)
        text = f"---\ndate: {date}\ntags: [{tag}, law]\n---\n{text}"
    return text if chance.random() > 0.1 else " \n"


def random_table(chance: random.Random) -> str:
    table = StringIO()
    writer = csv.writer(table, lineterminator="\n")
    numbers = chance.sample(range(5), k=chance.randint(1, 4))
    writer.writerows([["id", "text"], *([f"r{n}", random_text(chance)] for n in numbers)])
    return table.getvalue()


def random_edit(chance: random.Random, files: dict[str, str], content: str) -> None:
    """Add, change, remove, rename or copy one file; the first is never removed."""
    name = f"{chance.choice('abc')}/{chance.choice('uvwx')}{chance.choice(['.txt', '.md'])}"
    others = sorted(files)[1:]
    match chance.choice(["write", "write", "remove", "rename", "copy"]):
        case "remove" if others:
            del files[chance.choice(others)]
        case "rename" if others:
            files[name] = files.pop(chance.choice(others))
        case "copy" if others:
            files[name] = files[chance.choice(others)]
        case _:
            files[name] = content


@pytest.mark.parametrize("seed", range(3))
def test_a_store_that_was_updated_equals_one_built_at_once(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    files, tables = {"a/first.txt": "The first text stays."}, {"b/t.csv": random_table(chance)}
    sources = [(tmp_path / "texts", files, "txt"), (tmp_path / "tables", tables, "csv")]
    hashes, folder, sizes = HashEmbedder(), tmp_path / "c", [1000, 1000, 100]
    for step, size in enumerate(sizes):
        for _ in range(chance.randint(2, 6)):
            random_edit(chance, files, random_file(chance))
        if step % 2:
            tables["b/t.csv"] = random_table(chance)
        reports = {}
        for root, now, kind in chance.sample(sources, k=2):
            cut = {"size": size, "overlap": 0}
            reports[kind] = build_tiny(write_sources(root, now), folder, hashes, kind=kind, **cut)
        assert not problems(folder)
        for root, _, kind in sources:
            at_once = tmp_path / f"fresh{step}"
            new = build_tiny(root, at_once, HashEmbedder(), kind=kind, size=size, overlap=0)
            assert (reports[kind].files, reports[kind].told) == (new.files, new.told)
            assert new.told == tuple(each for each in new.files if each.remarks or each.refused)
            assert len(new.files) == new.sources
        assert contents(folder) == contents(at_once)
        assert np.array_equal(all_vectors(folder), all_vectors(at_once))
        assert found(folder) == found(at_once)


@pytest.mark.parametrize("shares", [False, True])
def test_sizes_are_shared_by_the_corpora_of_a_file_after_a_change(
    shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a collection that was built at once shares them, by characters."""
    monkeypatch.setattr(change, "WHOLE_UP_TO", 0 if shares else 5000)
    monkeypatch.setattr(change, "RECENT_SHARE", 100)
    monkeypatch.setattr(change, "REBUILD_SHARE", 100)
    folder, at_once, root = tmp_path / "c", tmp_path / "new", tmp_path / "s"
    rule = CorpusRule(corpus_field="about")
    for text in ("Bees give honey.", "Bees give wax and honey."):
        table = [("sea", "Ships carry cloth."), ("farm", text), ("farm", "Cows give milk.")]
        lines = "\n".join(f"{n},{about},{said}" for n, (about, said) in enumerate(table))
        write_sources(root, {"a.csv": f"id,about,text\n{lines}\n", "b.csv": f"{_ONE_ROW}{text}\n"})
        sources = by_rule([root], frozenset({".csv"}), rule)
        report = build_tiny(sources, folder, HashEmbedder(), kind="csv")
    assert (live(folder) / ORDER).exists() == shares
    new = build_tiny(sources, at_once, HashEmbedder(), kind="csv")
    assert report.files == new.files
    assert contents_of_corpora(folder) == contents_of_corpora(at_once)
    whole = sum((root / name).stat().st_size for name in ("a.csv", "b.csv"))
    assert sum(corpus.bytes for corpus in new.manifest.corpora) == whole


_ONE_ROW = "id,about,text\n9,farm,"


def contents_of_corpora(folder: Path) -> list[dict[str, object]]:
    return [c.model_dump(exclude={"seconds"}) for c in Manifest.read(folder).corpora]


def test_fingerprints_are_written_as_json_writes_them() -> None:
    """They are part of what tells whether a collection has changed, from version to version."""
    names = ["a/x.txt", 'b/"\\.txt', "史/記.txt", "e\u0301\n.txt", "\U0001f600.txt"]
    rows = [SourceRow(name, "txt", bytes(range(9, 41)), b"", (), 1, 0.5) for name in names]
    each = [(row.origin, row.name, row.fingerprint.hex()) for row in rows]
    assert _fingerprints(rows) == json.dumps(each, sort_keys=True, default=str)
    assert _fingerprints([]) == "[]"


def found(folder: Path) -> list[list[tuple[str, float, dict[str, float]]]]:
    """What searches show, with every score and signal."""
    with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
        return [
            [(p.passage.id, p.ranked.score, dict(p.ranked.signals)) for p in result.passages]
            for question in ("sheep wool trade", "the king at court", "law of ports", "42 USC")
            for result in [atlas.search(question, k=20)]
        ]
