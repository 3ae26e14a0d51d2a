"""What the page of `atlas eval label` asks for."""

from contextlib import suppress

from flask_openapi3.blueprint import APIBlueprint
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.atlas import Atlas
from atlas_search.core.errors import NotFound
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.people.label_file import LabelFile, SavedLabel
from atlas_search.evaluation.people.lines import digest_of
from atlas_search.server.labelling.label_document import LabelBody, document_of, label_of

LABEL_ROUTES = frozenset(
    {"GET /api/labels", "GET /api/label", "PUT /api/label", "DELETE /api/label"}
)
SEARCH_ROUTES = frozenset({"POST /api/search"})


class LabelQuery(BaseModel):
    """Which label, and as it was when it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    revision: str = ""


def label_blueprint(atlas: Atlas, file: LabelFile) -> APIBlueprint:
    """The labels of one file, about one collection."""
    blueprint = APIBlueprint("labels", __name__, url_prefix="/api")

    @blueprint.get("/labels")
    def get_labels() -> dict[str, object]:
        return {
            "file": str(file.path),
            "drafts": digest_of(file.path),
            "collection": atlas.services.store.manifest.collection,
            "corpora": {corpus.id: corpus.label for corpus in atlas.corpora},
            "labels": [_line(saved) for saved in file.saved()],
        }

    @blueprint.get("/label")
    def get_label(query: LabelQuery) -> dict[str, object]:
        return _document(file.find(query.id), atlas)

    @blueprint.put("/label")
    def put_label(body: LabelBody) -> dict[str, object]:
        before: Label | None = None
        with suppress(NotFound):
            before = file.find(body.id).label
        return _document(file.save(label_of(body, atlas, before), body.revision), atlas)

    @blueprint.delete("/label")
    def delete_label(query: LabelQuery) -> dict[str, object]:
        file.remove(query.id, query.revision)
        return {}

    return blueprint


def _document(saved: SavedLabel, atlas: Atlas) -> dict[str, object]:
    return document_of(saved.label, saved.revision, atlas).model_dump(mode="json")


def _line(saved: SavedLabel) -> dict[str, object]:
    label = saved.label
    return {
        "id": label.id,
        "revision": saved.revision,
        "question": label.question,
        "category": label.category,
        "split": label.split,
        "answerable": label.answerable,
        "relevant": len(label.gold_passage_ids) or len(label.relevance),
    }
