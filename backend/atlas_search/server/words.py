"""Words in whole corpora, exactly: in their lines, counted, beside others, and compared."""

from dataclasses import replace

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.core.telemetry.names import Ids, identify
from atlas_search.documents.words import CollocatesOut, ConcordanceOut, KeywordsOut, WordCountsOut
from atlas_search.server.access.caller import Caller, present_caller
from atlas_search.server.schemas.words import (
    CollocatesBody,
    ConcordanceBody,
    CountsBody,
    KeywordsBody,
    TrendsBody,
    point_of,
    words_where,
)
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting
from atlas_search.words.concordance import Concordance
from atlas_search.words.counts import Counts
from atlas_search.words.lists import Collocates, Keywords

Document = dict[str, object]


def words_blueprint(serve: Serve) -> APIBlueprint:
    """Words in their context, and their counts."""
    blueprint = APIBlueprint("words", __name__, url_prefix="/api", abp_tags=[Tag(name="words")])

    @blueprint.post(
        "/concordance", summary="Show words in their context", responses={200: ConcordanceOut}
    )
    def post_concordance(body: ConcordanceBody) -> Document:
        caller = present_caller()
        with identify(Ids(user_id=caller.name)):
            found = serve().concordance(
                body.query,
                limit=body.limit,
                offset=body.offset,
                context=body.context,
                sort=body.sort,
                sample=body.sample,
                seed=body.seed,
                point=point_of(body),
                stop=waiting(),
                **words_where(body),
            )
        return _sent(found, caller)

    @blueprint.post(
        "/trends", summary="Count words over time or by a field", responses={200: WordCountsOut}
    )
    def post_trends(body: TrendsBody) -> Document:
        return _sent(_count(body), present_caller())

    @blueprint.post(
        "/counts", summary="Count the documents that say something", responses={200: WordCountsOut}
    )
    def post_counts(body: CountsBody) -> Document:
        return _sent(_count(body), present_caller())

    @blueprint.post(
        "/collocates",
        summary="List words that stand near some words",
        responses={200: CollocatesOut},
    )
    def post_collocates(body: CollocatesBody) -> Document:
        caller = present_caller()
        with identify(Ids(user_id=caller.name)):
            found = serve().collocates(
                body.query,
                left=body.left,
                right=body.right,
                sort=body.sort,
                min_count=body.min_count,
                limit=body.limit,
                function_words=body.function_words,
                stop=waiting(),
                **words_where(body),
            )
        return _sent(found, caller)

    @blueprint.post(
        "/keywords",
        summary="List words that set some texts apart from others",
        responses={200: KeywordsOut},
    )
    def post_keywords(body: KeywordsBody) -> Document:
        caller = present_caller()
        with identify(Ids(user_id=caller.name)):
            found = serve().keywords(
                against=body.against,
                direction=body.direction,
                sort=body.sort,
                min_count=body.min_count,
                min_documents=body.min_documents,
                limit=body.limit,
                function_words=body.function_words,
                stop=waiting(),
                **words_where(body),
            )
        return _sent(found, caller)

    def _count(body: TrendsBody) -> Counts:
        with identify(Ids(user_id=present_caller().name)):
            return serve().trends(
                body.query,
                by=body.by,
                by_corpus=body.by_corpus,
                stop=waiting(),
                **words_where(body),
            )

    return blueprint


def _sent(found: Concordance | Counts | Collocates | Keywords, caller: Caller) -> Document:
    return (found if caller.sees_traces else replace(found, trace_id="")).to_dict()
