"""Whether labels are about a collection."""

from collections.abc import Sequence
from pathlib import Path

from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, NotFound
from atlas_search.evaluation.labels.label import Label


def check_labels_fit(atlas: Atlas, questions: Sequence[Label], labels: Path) -> None:
    """Figures over labels of another collection would be zeros that mean nothing."""
    for gold in {id_ for question in questions for id_ in question.relevance}:
        try:
            atlas.document(gold)
        except NotFound as error:
            raise AtlasError(f"The labels {labels} are not for this collection: {error}") from error
