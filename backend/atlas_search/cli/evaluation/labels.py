"""The label set of a command: read, fitted to the collection, and told on standard error."""

import sys
from pathlib import Path

from atlas_search.evaluation.labels.documents import Collection
from atlas_search.evaluation.labels.fit import fit_labels
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.labels.load import read_labels
from atlas_search.evaluation.labels.understood import fitted_text, split_text, understood_text


def choose_labels(
    path: Path,
    split: str | None,
    collection: Collection,
    *,
    allow_unknown_gold: bool,
    filter_by: str = "",
) -> tuple[str, list[Label]]:
    """The split that is asked, empty for all, and its labels as the collection calls their gold.

    Without a `split` it is `test` where there is one, else all. Raises SourceError as `read_labels`
    does and AtlasError as `fit_labels` does, once it is told what was understood.
    """
    found = read_labels(path, filter_by=filter_by)
    chosen = found.choose_split(split)
    _tell(understood_text(found))
    of_split = found.of_split(chosen)
    _tell(split_text(of_split, chosen))
    fitted = fit_labels(of_split, collection, allow_unknown_gold=allow_unknown_gold)
    _tell(fitted_text(fitted))
    return chosen, fitted.labels


def _tell(text: str) -> None:
    if text:
        print(text, file=sys.stderr)
