"""`POST /api/search`: ranked passages with all their signals."""

from dataclasses import replace

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.core.telemetry.names import Ids, identify
from atlas_search.documents.search import SearchOut
from atlas_search.server.access.caller import present_caller
from atlas_search.server.schemas.requests import FindBody, where
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting


def search_blueprint(serve: Serve) -> APIBlueprint:
    """The search resource."""
    blueprint = APIBlueprint("search", __name__, url_prefix="/api", abp_tags=[Tag(name="search")])

    @blueprint.post("/search", summary="Find passages", responses={200: SearchOut})
    def post_search(body: FindBody) -> dict[str, object]:
        caller = present_caller()
        with identify(Ids(user_id=caller.name)):
            found = serve().search(
                body.question,
                exact=body.exact,
                facets=body.facets,
                explain=body.explain,
                stop=waiting(),
                **where(body),
            )
        return (found if caller.sees_traces else replace(found, trace_id="")).to_dict()

    return blueprint
