"""Choosing the passages to keep: some from every corpus, not too many from one document."""

from collections import Counter
from collections.abc import Sequence

from backend.targets import Target


def choose(
    corpora: Sequence[int], documents: Sequence[int], corpus_count: int, limit: int, target: Target
) -> list[int]:
    """Positions to keep, ascending, of candidates given best first.

    Each corpus is first promised 0 (`rank`), 1 (`floor`) or limit // corpora (`quota`) places for
    its best passages; the other places, and those a corpus cannot fill, go by rank. A document
    gets at most `target.max_passages_per_document`, unless places would stay empty.
    """
    promised = {"rank": 0, "floor": 1, "quota": limit // max(corpus_count, 1)}[target.balance]
    kept: list[int] = []
    per_corpus: Counter[int] = Counter()
    per_document: Counter[int] = Counter()

    def take(wanted: int, cap: int) -> None:
        for position, (corpus, document) in enumerate(zip(corpora, documents, strict=True)):
            if len(kept) == limit:
                return
            if (
                per_document[document] < cap
                and per_corpus[corpus] < wanted
                and position not in seen
            ):
                seen.add(position)
                kept.append(position)
                per_corpus[corpus] += 1
                per_document[document] += 1

    seen: set[int] = set()
    take(promised, target.max_passages_per_document)
    take(limit, target.max_passages_per_document)
    take(limit, limit)
    return sorted(kept)
