"""`POST /api/validate`: check the citations of any answer."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.server.problems import Problem
from atlas_search.server.schemas.validation import (
    ValidateBody,
    ValidatedAnswerOut,
    given_passages,
    validate_out,
)
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting


def validate_blueprint(serve: Serve) -> APIBlueprint:
    """The verification resource."""
    blueprint = APIBlueprint(
        "validate", __name__, url_prefix="/api", abp_tags=[Tag(name="validate")]
    )

    @blueprint.post(
        "/validate",
        summary="Check an answer's citations",
        responses={200: ValidatedAnswerOut, 404: Problem},
    )
    def post_validate(body: ValidateBody) -> dict[str, object]:
        services = serve().services
        _, target = services.target(None)
        limit = body.citation_limit or target.citation_limit
        stop = waiting()
        given = given_passages(body, services.store, stop)
        return validate_out(body.answer, given, limit, stop).model_dump(mode="json")

    return blueprint
