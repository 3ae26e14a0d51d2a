"""Parts of a label set that have figures of their own: all of it, its corpora, its categories."""

from collections.abc import Collection, Iterable

from atlas_search.evaluation.labels.label import Label

ALL, CORPUS, CATEGORY = "all", "corpus", "category"


def slices(labels: Iterable[Label], corpora: Collection[str]) -> dict[str, list[str]]:
    """The ids of the labels in `all`, in each `corpus.<id>`, and in each `category.<name>`.

    Corpora and categories by name. A question may be in several of the `corpora`, and in none.
    """
    members: dict[str, list[str]] = {ALL: []}
    for label in labels:
        for name in _slices_of(label, corpora):
            members.setdefault(name, []).append(label.id)
    order = (ALL, CORPUS, CATEGORY)
    return dict(sorted(members.items(), key=lambda m: (order.index(m[0].split(".")[0]), m[0])))


def corpora_of(label: Label, known: Collection[str] | None = None) -> list[str]:
    """The corpora of its gold documents; without one those that are asked, if not all are.

    Of `known` ones and those that are asked, if they are given: gold documents that no collection
    has may be called as they like.
    """
    # an id of a document or passage begins with its corpus and a full stop
    gold = {id_.partition(".")[0] for id_ in (*label.relevance, *label.gold_passage_ids)}
    if known is not None:
        gold &= {*known, *label.corpus_filter}
    return sorted(gold or label.corpus_filter)


def _slices_of(label: Label, corpora: Collection[str]) -> list[str]:
    category = [f"{CATEGORY}.{label.category}"] if label.category else []
    return [ALL, *(f"{CORPUS}.{corpus}" for corpus in corpora_of(label, corpora)), *category]
