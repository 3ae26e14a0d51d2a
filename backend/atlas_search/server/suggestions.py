"""`GET /api/suggestions`: questions to begin with."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.atlas import MOST_SUGGESTIONS
from atlas_search.server.serving import Serve


class SuggestionsQuery(BaseModel):
    """Of which corpora, and how many."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collection: str = Field("", description="Name of a collection; the configured one if absent")
    corpus: list[str] = Field(default_factory=list, description="Only these corpora; repeatable")
    limit: int = Field(4, ge=1, le=MOST_SUGGESTIONS)


class SuggestionOut(BaseModel):
    """A question, and the document it was made from; `language` is that of the corpus."""

    question: str
    corpus: str
    document_id: str
    language: str


class SuggestionsOut(BaseModel):
    """Questions that the sources answer: from every corpus in turn, the same for a version."""

    suggestions: list[SuggestionOut]


def suggestions_blueprint(serve: Serve) -> APIBlueprint:
    """The questions."""
    blueprint = APIBlueprint(
        "suggestions", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/suggestions", summary="Questions to ask", responses={200: SuggestionsOut})
    def get_suggestions(query: SuggestionsQuery) -> dict[str, object]:
        found = serve().suggestions(query.corpus or "all", limit=query.limit)
        return {"suggestions": [suggestion.to_dict() for suggestion in found]}

    return blueprint
