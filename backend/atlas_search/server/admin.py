"""Changes to a running server: how a target ranks, for its administrator; kept answers."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, ConfigDict, Field

from atlas_search.core.targets import RANKING_KEYS
from atlas_search.server.serving import Serve


class RerankerBody(BaseModel):
    """What to change, by the keys of a target file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    settings: dict[str, str | float] = Field(
        description=f"Some of {', '.join(key.upper() for key in RANKING_KEYS)}"
    )


class RerankerOut(BaseModel):
    """How a target ranks now; lost when the server ends."""

    target: str
    settings: dict[str, str | float]


class ClearedOut(BaseModel):
    """How many answers were forgotten."""

    cleared: int


def admin_blueprint(serve: Serve) -> APIBlueprint:
    """What only the administrator may do."""
    blueprint = APIBlueprint("admin", __name__, url_prefix="/api", abp_tags=[Tag(name="admin")])

    @blueprint.put(
        "/config/reranker", summary="Change how a target ranks", responses={200: RerankerOut}
    )
    def put_reranker(body: RerankerBody) -> dict[str, object]:
        services = serve().services
        name, _ = services.target(body.target)
        changes = {key.lower(): value for key, value in body.settings.items()}
        target = services.configure_reranker(name, changes)
        settings = {key.upper(): getattr(target, key) for key in RANKING_KEYS}
        return RerankerOut(target=name, settings=settings).model_dump(mode="json")

    @blueprint.post("/cache/clear", summary="Forget kept answers", responses={200: ClearedOut})
    def post_cache_clear() -> dict[str, object]:
        return ClearedOut(cleared=serve().services.answerer.cache.clear()).model_dump(mode="json")

    return blueprint
