"""Parts of a run that have figures of their own."""

from collections.abc import Collection, Iterator, Sequence

from atlas_search.evaluation.comparison.slices import ALL, CATEGORY, CORPUS, corpora_of
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.scored import Scored

SPLIT = "split"


def questions_by_slice(
    scored: Sequence[Scored], corpora: Collection[str]
) -> dict[str, list[Scored]]:
    """The questions of `all`, and of each `category.`, `corpus.` and `split.`, by name.

    A question is in the corpora of its gold documents, of those that were asked: in several, in
    one, or in none.
    """
    members: dict[str, list[Scored]] = {ALL: []}
    for one in scored:
        for name in _slices_of(one.label, corpora):
            members.setdefault(name, []).append(one)
    kinds = (ALL, CATEGORY, CORPUS, SPLIT)
    return dict(sorted(members.items(), key=lambda m: (kinds.index(m[0].split(".")[0]), m[0])))


def _slices_of(label: Label, corpora: Collection[str]) -> Iterator[str]:
    yield ALL
    yield from (f"{CORPUS}.{corpus}" for corpus in corpora_of(label, corpora))
    if label.category:
        yield f"{CATEGORY}.{label.category}"
    if label.split:
        yield f"{SPLIT}.{label.split}"
