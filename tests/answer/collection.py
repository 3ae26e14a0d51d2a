"""Small collections that are asked: built from a few invented texts, and open."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.core.domain import Citation
from atlas_search.providers.embedding import Embedder
from tests.tiny import write_sources


@contextmanager
def collection(
    folder: Path,
    embedder: Embedder,
    files: Mapping[str, str],
    target: str | Mapping[str, str] = "",
    **settings: Any,
) -> Iterator[Atlas]:
    """The collection of these files, built below `folder` and open.

    `target` are lines of the one target there is, as `KEY=value`, or those of several by name; the
    first answers unless another is named.
    """
    sources = write_sources(folder / "sources", files)
    named = {"plain": target} if isinstance(target, str) else target
    texts = {f"{name}.txt": lines for name, lines in named.items()}
    targets = write_sources(folder / "targets", texts)
    Atlas.build(sources, folder / "stores" / "small", embedder=embedder)
    with Atlas.open(
        folder / "stores" / "small",
        embedder=embedder,
        targets_directory=targets,
        test_target=next(iter(named)),
        **settings,
    ) as opened:
        yield opened


def said(answer: Answer) -> list[str]:
    """The sentences of an answer, in order."""
    return [sentence.text for sentence in answer.verification.sentences] if answer.text else []


def warnings(answer: Answer) -> str:
    """All that an answer says beside itself."""
    return "\n".join(answer.verification.warnings)


def closest(answer: Answer) -> list[str]:
    """Quotes that come closest where there is no answer, best first."""
    return [citation.quote for citation in answer.closest]


def is_verbatim(atlas: Atlas, citation: Citation) -> bool:
    """Compare a quote with its place in its document."""
    document = atlas.document(citation.passage.document_id)
    return document.text[citation.start : citation.end] == citation.quote
