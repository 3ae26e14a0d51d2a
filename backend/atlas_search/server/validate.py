"""`POST /api/validate`: check the citations of any answer."""

from collections.abc import Sequence

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag

from atlas_search.core.domain import Passage
from atlas_search.core.telemetry.span import Span
from atlas_search.server.problems import Problem
from atlas_search.server.schemas.validation import (
    ValidateBody,
    ValidatedAnswerOut,
    given_passages,
    validate_out,
)
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting
from atlas_search.stores.manifest import Manifest


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
        with services.tracer.root("validate", "GUARDRAIL") as span:
            span.input(body.answer)
            span.set(citation_limit=limit, sent_passages=len(body.passages or ()))
            given = given_passages(body, services.store, stop)
            checked = validate_out(body.answer, given, limit, stop)
            _describe(span, services.store.manifest, given, checked)
        return checked.model_dump(mode="json")

    return blueprint


def _describe(
    span: Span, manifest: Manifest, given: Sequence[Passage], checked: ValidatedAnswerOut
) -> None:
    span.output({"errors": checked.errors, "warnings": checked.warnings})
    span.set(
        collection=manifest.collection,
        version=manifest.version,
        decision="valid" if checked.citation_valid else "invalid",
        citation_valid=checked.citation_valid,
        sentence_groundedness=checked.sentence_groundedness,
        answer_grounded=checked.answer_grounded,
        passages=len(given),
        sentences=len(checked.sentences),
        citations=sum(len(sentence.citations) for sentence in checked.sentences),
        errors=len(checked.errors),
        warnings=len(checked.warnings),
    )
