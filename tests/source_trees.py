"""Trees of small files, and the corpora they are assigned to."""

from pathlib import Path

from atlas_search.building.sources import Sources, by_mapping
from tests.tiny import write_sources

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
