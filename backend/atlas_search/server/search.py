"""`POST /api/search`: ranked passages with all their signals."""

import time
from datetime import date

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.search.flow import search
from atlas_search.server.schemas.requests import FindBody, facet_fields, find_request
from atlas_search.server.schemas.responses import search_out
from atlas_search.server.schemas.schemas import SearchOut
from atlas_search.services import Serve


def search_blueprint(serve: Serve) -> APIBlueprint:
    """The search resource."""
    blueprint = APIBlueprint("search", __name__, url_prefix="/api", abp_tags=[Tag(name="search")])

    @blueprint.post("/search", summary="Find passages", responses={200: SearchOut})
    def post_search(body: FindBody) -> dict[str, object]:
        started = time.perf_counter()
        services = serve()
        _, target = services.target(body.target)
        facet_fields(body, services)  # an unknown field is refused before anything is searched
        result = search(services.searcher, find_request(body, services, date.today()), target)
        total = round((time.perf_counter() - started) * 1000, 3)
        return search_out(result, body, services, total).model_dump(mode="json")

    return blueprint
