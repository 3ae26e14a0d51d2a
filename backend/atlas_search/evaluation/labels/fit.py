"""Labels made to fit a collection: their gold documents recognised, their quotes found in it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.labels.documents import (
    Collection,
    DocumentNames,
    Way,
)
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.labels.label_set import LabelSet
from atlas_search.evaluation.labels.quotes import Placed, place_quotes
from atlas_search.evaluation.labels.read import ReadLabel

_LISTED = 5  # names that a message lists


@dataclass(frozen=True)
class Fitted:
    """Labels whose gold documents are called by their ids in the collection.

    `ways` counts the names by how each was recognised, `mentioned` the labels whose documents only
    a column without a meaning names; `unknown` are gold documents and passages that the collection
    lacks, which were allowed.
    """

    placed: Placed
    ways: Mapping[Way, int]
    mentioned: int
    unknown: tuple[str, ...]

    @property
    def labels(self) -> list[Label]:
        """The labels, in order."""
        return list(self.placed.labels)


def fit_labels(
    labels: LabelSet, collection: Collection, *, allow_unknown_gold: bool = False
) -> Fitted:
    """Call gold documents by their ids in the collection, and find the places of quotes.

    Figures over labels of another collection would be zeros that mean nothing: raises AtlasError
    for corpora, gold documents and passages that it does not hold, the latter two unless allowed.
    """
    _check_corpora(labels, collection)
    names = DocumentNames(collection.documents())
    read = [_with_mentioned(one, names) for one in labels.read]
    ids, ways, missing = _match(read, names)
    unknown = (*missing, *_unknown_passages(labels.labels, collection))
    if unknown and not allow_unknown_gold:
        raise _not_for_this_collection(labels.path, unknown, names)
    renamed = [_rename(one, ids) for one in read]
    placed = place_quotes(renamed, frozenset(ids.values()), collection.text_of)
    mentioned = sum(one is not before for one, before in zip(read, labels.read, strict=True))
    return Fitted(placed, ways, mentioned, unknown)


def _match(
    read: Iterable[ReadLabel], names: DocumentNames
) -> tuple[dict[str, str], Counter[Way], list[str]]:
    """Ids by the names in the labels, how many were recognised in which way, and the others."""
    wanted = sorted({name for one in read for name in one.label.gold_names})
    found = {name: match for name in wanted if (match := names.match(name))}
    ids = {name: match.id for name, match in found.items()}
    ways = Counter(match.way for match in found.values())
    return ids, ways, [name for name in wanted if name not in found]


def _with_mentioned(one: ReadLabel, names: DocumentNames) -> ReadLabel:
    """Where no gold is known, the documents whose very ids stand in other columns."""
    label = one.label
    if label.located or not label.answerable:
        return one
    found = frozenset[str]().union(*map(names.ids_in, one.others))
    return replace(one, label=replace(label, gold_document_ids=found)) if found else one


def _rename(one: ReadLabel, ids: Mapping[str, str]) -> ReadLabel:
    label = one.label
    gold = frozenset(ids.get(name, name) for name in label.gold_document_ids)
    spans = tuple(
        replace(span, document_id=ids.get(span.document_id, span.document_id))
        for span in label.gold_spans
    )
    grades: dict[str, int] = {}
    for name, grade in label.grades.items():  # of two names of one document the higher grade
        id_ = ids.get(name, name)
        grades[id_] = max(grade, grades.get(id_, grade))
    renamed = replace(label, gold_document_ids=gold, gold_spans=spans, grades=grades)
    return replace(one, label=renamed)


def _check_corpora(labels: LabelSet, collection: Collection) -> None:
    known = sorted(collection.corpora)
    asked = {corpus for label in labels.labels for corpus in label.corpus_filter}
    if unknown := sorted(asked - set(known)):
        raise AtlasError(
            f"The labels {labels.path} ask corpora that the collection does not have: "
            f"{', '.join(unknown[:_LISTED])}. It has {', '.join(known)}."
        )


def _unknown_passages(labels: Iterable[Label], collection: Collection) -> Iterator[str]:
    wanted = sorted({id_ for label in labels for id_ in label.gold_passage_ids})
    return (id_ for id_ in wanted if not collection.holds_passage(id_))


def _not_for_this_collection(
    path: Path, unknown: Sequence[str], names: DocumentNames
) -> AtlasError:
    some = ", ".join(
        f"{name!r} (a name of {count} documents)" if (count := names.count(name)) else repr(name)
        for name in unknown[:_LISTED]
    )
    more = f" and {len(unknown) - _LISTED} more" if unknown[_LISTED:] else ""
    return AtlasError(
        f"The labels {path} are not for this collection, which lacks the gold documents or "
        f"passages {some}{more}. Known are ids, ids of records, file names and titles, if one "
        "document alone has them. With --allow-unknown-gold these count as never found."
    )
