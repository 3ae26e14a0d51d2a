"""A collection that was updated equals one built at once, whatever the changes and their order."""

import csv
import random
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.maintain import compact
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import ORDER
from tests.building.all_of import assert_same
from tests.building.damage import problems, share_files
from tests.hash_embedder import HashEmbedder
from tests.tiny import all_vectors, build_tiny, contents, live, silent, write_sources

WORDS = "sheep wool cow milk trade silk ship port §12 42 USC law court king day".split()


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 4))]


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


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS[:3])
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
        assert hits_of(folder) == hits_of(at_once)


def hits_of(folder: Path) -> list[list[tuple[str, float, dict[str, float]]]]:
    """The passages that searches find, with every score and signal."""
    with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
        return [
            [(p.passage.id, p.ranked.score, dict(p.ranked.signals)) for p in result.passages]
            for question in ("sheep wool trade", "the king at court", "law of ports", "42 USC")
            for result in [atlas.search(question, k=20)]
        ]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_that_shares_files_tells_what_a_new_one_tells(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_files(monkeypatch)
    chance = random.Random(seed)
    files, tables = {"a/first.txt": "The first text stays."}, {"b/t.csv": random_table(chance)}
    for _ in range(6):
        random_edit(chance, files, random_file(chance))
    sources = [(tmp_path / "texts", files, "txt"), (tmp_path / "tables", tables, "csv")]
    hashes, folder, shared = HashEmbedder(), tmp_path / "c", 0
    cut = {"size": 100, "overlap": 0}
    for step in range(5):
        if step:
            for _ in range(chance.randint(1, 3)):
                random_edit(chance, files, random_file(chance))
            if chance.random() < 0.5:
                tables["b/t.csv"] = random_table(chance)
        for root, now, kind in chance.sample(sources, k=2):
            build_tiny(write_sources(root, now), folder, hashes, kind=kind, **cut)
        shared += (live(folder) / ORDER).exists()
        assert not problems(folder)
        at_once = tmp_path / f"new{step}"
        for root, _, kind in sources:
            build_tiny(root, at_once, HashEmbedder(), kind=kind, force=True, **cut)
        assert_same(folder, at_once)
    assert shared > 2
    if compact(folder, HashEmbedder(), silent):
        assert contents(folder) == contents(at_once)
        assert np.array_equal(all_vectors(folder), all_vectors(at_once))


@pytest.mark.parametrize("shares", [False, True])
def test_sizes_are_shared_by_the_corpora_of_a_file_after_a_change(
    shares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a collection that was built at once shares them, by characters."""
    if shares:
        share_files(monkeypatch)
    folder, at_once, root = tmp_path / "c", tmp_path / "new", tmp_path / "s"
    rule = CorpusRule(corpus_field="about")
    for text in ("Bees give honey.", "Bees give wax and honey."):
        table = f"id,about,text\n0,sea,Ships carry cloth.\n1,farm,{text}\n2,farm,Cows give milk.\n"
        write_sources(root, {"a.csv": table, "b.csv": f"id,about,text\n9,farm,{text}\n"})
        sources = by_rule([root], frozenset({".csv"}), rule)
        report = build_tiny(sources, folder, HashEmbedder(), kind="csv")
    assert (live(folder) / ORDER).exists() == shares
    new = build_tiny(sources, at_once, HashEmbedder(), kind="csv")
    assert report.files == new.files
    assert corpora_of(folder) == corpora_of(at_once)
    sizes = [(root / name).stat().st_size for name in ("a.csv", "b.csv")]
    assert sum(corpus.bytes for corpus in new.manifest.corpora) == sum(sizes)


def corpora_of(folder: Path) -> list[dict[str, object]]:
    return [corpus.model_dump(exclude={"seconds"}) for corpus in Manifest.read(folder).corpora]
