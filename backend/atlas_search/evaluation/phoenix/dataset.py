"""A label set as a dataset of Phoenix: an example for each label."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from atlas_search.core.errors import Unavailable
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.phoenix.api import PhoenixApi, reading
from atlas_search.evaluation.phoenix.shown import Shown
from atlas_search.evaluation.run import RunSpec

UPLOAD_SECONDS = 300.0
"""For a whole label set: in parts, each would be a version of its own."""


@dataclass(frozen=True)
class Dataset:
    """A version of a dataset, with its examples' ids by those of their labels."""

    id: str
    version_id: str
    examples: Mapping[str, str]


def dataset_name(spec: RunSpec) -> str:
    """The file of the labels, with what was taken of it: another choice is another dataset."""
    drawn = f"{spec.limit} drawn with seed {spec.seed}" if spec.limit is not None else ""
    part = ", ".join(filter(None, (spec.labels.split, drawn)))
    return f"{spec.labels.name} ({part})" if part else spec.labels.name


def upload_dataset(api: PhoenixApi, name: str, labels: Sequence[Label], shown: Shown) -> Dataset:
    """The dataset of that name as the labels have it: a new version, if they differ from its last.

    Raises AtlasError.
    """
    body = {
        "action": "update",
        "name": name,
        "inputs": [example_input(label, shown) for label in labels],
        "outputs": [example_output(label, shown) for label in labels],
        "metadata": [example_metadata(label) for label in labels],
        "splits": [label.split or None for label in labels],
        "example_ids": [label.id for label in labels],
    }
    said = api.post("/v1/datasets/upload", body, {"sync": "true"}, seconds=UPLOAD_SECONDS)
    with reading(api.address):
        id_, version_id = str(said["data"]["dataset_id"]), str(said["data"]["version_id"])
    return read_dataset(api, id_, version_id, labels)


def read_dataset(api: PhoenixApi, id_: str, version_id: str, labels: Sequence[Label]) -> Dataset:
    """A version of a dataset that holds the labels. Raises AtlasError."""
    path = f"/v1/datasets/{quote(id_, safe='')}/examples"
    said = api.get(path, {"version_id": version_id})
    with reading(api.address):
        found = {str(one["id"]): str(one["node_id"]) for one in said["data"]["examples"]}
    lacking = [label.id for label in labels if label.id not in found]
    if lacking:
        raise Unavailable(
            f"Phoenix at {api.address} took the labels, but has no example {lacking[0]} now. "
            "Upload them again, or use a Phoenix of version 20 or later."
        )
    return Dataset(id_, version_id, found)


def example_input(label: Label, shown: Shown) -> dict[str, Any]:
    """What is asked; without content its id alone."""
    if not shown.content:
        return {"label_id": label.id}
    asked: dict[str, Any] = {"question": shown.texts(label.question)}
    if label.corpus_filter:
        asked["corpus_filter"] = list(label.corpus_filter)
    if label.filters:
        asked["filters"] = shown.texts(label.filters)
    return asked


def example_output(label: Label, shown: Shown) -> dict[str, Any]:
    """What is known of the answer: references, what is relevant, and what becomes of it."""
    spans = [
        asdict(span) | {"document_id": shown.id(span.document_id)} for span in label.gold_spans
    ]
    known: dict[str, Any] = {
        "answers": shown.texts(label.answers) if shown.content else [],
        "gold_documents": {shown.id(id_): grade for id_, grade in label.relevance.items()},
        "gold_passages": [shown.id(id_) for id_ in sorted(label.gold_passage_ids)],
        "gold_spans": spans,
        "expected_decision": label.expected_decision,
    }
    return {"answerable": label.answerable} | {name: what for name, what in known.items() if what}


def example_metadata(label: Label) -> dict[str, str]:
    """Which label it is, and what kind of question."""
    said = {"category": label.category, "kind": label.kind, "split": label.split}
    return {"label_id": label.id} | {name: what for name, what in said.items() if what}
