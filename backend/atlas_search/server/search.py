"""`POST /api/search`: ranked passages with all their signals."""

from collections.abc import Callable
from dataclasses import asdict

from flask import Response
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field, RootModel

from atlas_search.atlas import MOST_SUGGESTIONS
from atlas_search.core.telemetry.names import Ids, identify
from atlas_search.search.counts import ScopeCounts
from atlas_search.search.result import SearchOut
from atlas_search.search.suggestions import Suggestion
from atlas_search.server.access.caller import present_caller
from atlas_search.server.limits import waiting
from atlas_search.server.requests import (
    CollectionQuery,
    CollocatesBody,
    ConcordanceBody,
    CountsBody,
    FacetsBody,
    FrequenciesBody,
    KeywordsBody,
    SearchBody,
    TrendsBody,
)
from atlas_search.server.serving import Serve
from atlas_search.words.results import (
    Collocates,
    Concordance,
    Frequencies,
    Keywords,
    WordCounts,
    WordsResult,
)


class FacetsOut(RootModel[ScopeCounts]):
    """A scope in numbers, all of them exact."""


def facets_blueprint(serve: Serve) -> APIBlueprint:
    """The counts."""
    blueprint = APIBlueprint("facets", __name__, url_prefix="/api", abp_tags=[Tag(name="search")])

    @blueprint.post("/facets", summary="Count what a scope holds", responses={200: FacetsOut})
    def post_facets(body: FacetsBody) -> dict[str, object]:
        result = serve().facets(body, stop=waiting())
        return result.to_dict()

    return blueprint


def search_blueprint(serve: Serve) -> APIBlueprint:
    """The search resource."""
    blueprint = APIBlueprint("search", __name__, url_prefix="/api", abp_tags=[Tag(name="search")])

    @blueprint.post("/search", summary="Find passages", responses={200: SearchOut})
    def post_search(body: SearchBody) -> Response:
        return _sent(lambda: serve().search(body, stop=waiting()).form())

    return blueprint


class SuggestionsQuery(CollectionQuery):
    """Of which corpora, and how many."""

    corpus: list[str] = Field(default_factory=list, description="Only these corpora; repeatable")
    limit: int = Field(4, ge=1, le=MOST_SUGGESTIONS)


class SuggestionsOut(BaseModel):
    """Questions that the sources answer: from every corpus in turn, the same for a version."""

    suggestions: list[Suggestion]


def suggestions_blueprint(serve: Serve) -> APIBlueprint:
    """The questions."""
    blueprint = APIBlueprint(
        "suggestions", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/suggestions", summary="Questions to ask", responses={200: SuggestionsOut})
    def get_suggestions(query: SuggestionsQuery) -> dict[str, object]:
        suggestions = serve().suggestions(query.corpus or "all", limit=query.limit)
        return {"suggestions": [asdict(suggestion) for suggestion in suggestions]}

    return blueprint


def words_blueprint(serve: Serve) -> APIBlueprint:
    """Words in their context, and their counts."""
    blueprint = APIBlueprint("words", __name__, url_prefix="/api", abp_tags=[Tag(name="words")])

    @blueprint.post(
        "/concordance", summary="Show words in their context", responses={200: Concordance}
    )
    def post_concordance(body: ConcordanceBody) -> Response:
        return _sent(lambda: serve().concordance(body, stop=waiting()))

    @blueprint.post(
        "/trends", summary="Count words over time or by a field", responses={200: WordCounts}
    )
    def post_trends(body: TrendsBody) -> Response:
        return _sent(lambda: serve().trends(body, stop=waiting()))

    @blueprint.post(
        "/counts", summary="Count the documents that say something", responses={200: WordCounts}
    )
    def post_counts(body: CountsBody) -> Response:
        return _sent(lambda: serve().counts(body, stop=waiting()))

    @blueprint.post(
        "/collocates",
        summary="List words that stand near some words",
        responses={200: Collocates},
    )
    def post_collocates(body: CollocatesBody) -> Response:
        return _sent(lambda: serve().collocates(body, stop=waiting()))

    @blueprint.post(
        "/keywords",
        summary="List words that set some texts apart from others",
        responses={200: Keywords},
    )
    def post_keywords(body: KeywordsBody) -> Response:
        return _sent(lambda: serve().keywords(body, stop=waiting()))

    @blueprint.post(
        "/frequencies",
        summary="List the most frequent words",
        responses={200: Frequencies},
    )
    def post_frequencies(body: FrequenciesBody) -> Response:
        return _sent(lambda: serve().frequencies(body, stop=waiting()))

    return blueprint


def _sent(ask: Callable[[], SearchOut | WordsResult]) -> Response:
    caller = present_caller()
    with identify(Ids(user_id=caller.name)):
        form = ask()
    shown = form if caller.sees_traces else form.model_copy(update={"trace_id": ""})
    return Response(shown.model_dump_json(), mimetype="application/json")
