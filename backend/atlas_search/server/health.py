"""Health: whether the process lives, whether it can answer, and the state of each part."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.core.addresses import phoenix_problem
from atlas_search.core.errors import (
    AtlasError,
    ConfigurationError,
    EmbeddingUnavailable,
    EngineUnavailable,
    MissingStore,
    ModelUnavailable,
)
from atlas_search.core.ids import __version__
from atlas_search.core.targets import RANKING_KEYS
from atlas_search.providers.chat import Health
from atlas_search.providers.open import SILENT, Remembered
from atlas_search.server.access.caller import present_caller
from atlas_search.server.problems import TOLD_TO_ADMINISTRATORS, Problem, holds_path
from atlas_search.server.requests import StrictBody
from atlas_search.server.serving import Serve
from atlas_search.services import Services
from atlas_search.stores.manifest import Manifest


class RerankerBody(StrictBody):
    """Changes, by the keys of a target file."""

    target: str | None = Field(None, description="Name of a target; the configured one if absent")
    settings: dict[str, str | float] = Field(
        description=f"Some of {', '.join(key.upper() for key in RANKING_KEYS)}"
    )


class RerankerOut(BaseModel):
    """The ranking of a target now; lost when the server ends."""

    target: str
    settings: dict[str, str | float]


class ClearedOut(BaseModel):
    """The number of answers that were forgotten."""

    cleared: int


def admin_blueprint(serve: Serve) -> APIBlueprint:
    """Routes for the administrator alone."""
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


State = Literal["ok", "note", "fault"]


class LiveOut(BaseModel):
    """The process serves."""

    status: Literal["ok"] = "ok"


class ReadyOut(BaseModel):
    """Questions can be answered."""

    status: Literal["ready"] = "ready"


class PartOut(BaseModel):
    """One part. A `note` is something that answers do not need, a `fault` something they do."""

    status: State
    detail: str


class HealthOut(BaseModel):
    """The health of the server; `problem` says what is wrong and what to do.

    `providers` are `ready`, or say what they lack. `parts` are `store`, `keys`, `embedder`,
    `tracing`, `state` (ATLAS_STATE_DIRECTORY or STATE_URL), and `provider.` with the name of each
    provider. Who has no key learns the status alone (counts are null), and only who may see traces
    what is wrong: it may name what a caller does not see.
    """

    status: Literal["ok", "degraded"]
    problem: str
    version: str
    collection: str
    documents: int | None
    passages: int | None
    providers: dict[str, str]
    parts: dict[str, PartOut] = Field(description="Each part on its own")


def health_blueprint(
    serve: Serve,
    problem: Callable[[], str],
    keys_problem: Callable[[], str],
    state_problems: Sequence[Callable[[], str]],
) -> APIBlueprint:
    """Routes for monitors: by `live` they restart the server, by `ready` they send requests."""
    blueprint = APIBlueprint("health", __name__, url_prefix="/api", abp_tags=[Tag(name="health")])
    embedder, engine, tracing, state = (Remembered(SILENT) for _ in range(4))

    @blueprint.get("/live", summary="Whether the process serves", responses={200: LiveOut})
    def get_live() -> dict[str, object]:
        return LiveOut().model_dump(mode="json")

    @blueprint.get(
        "/ready",
        summary="Whether questions can be answered",
        responses={200: ReadyOut, 503: Problem},
    )
    def get_ready() -> dict[str, object]:
        try:
            services = serve().services
            embedder.begin(lambda: embedder_problem(services))
            engine.begin(services.store.problem)
            _require_ready(services, embedder, engine, keys_problem())
        except AtlasError as error:
            if present_caller().sees_traces:
                raise
            raise ConfigurationError(TOLD_TO_ADMINISTRATORS) from error
        return ReadyOut().model_dump(mode="json")

    @blueprint.get("/health", summary="How each part of it is", responses={200: HealthOut})
    def get_health() -> dict[str, object]:
        services = serve().services
        embedder.begin(lambda: embedder_problem(services))
        engine.begin(services.store.problem)
        tracing.begin(lambda: tracing_problem(services))
        # a file that another program has locked is waited for
        state.begin(
            lambda: " ".join(filter(None, dict.fromkeys(check() for check in state_problems)))
        )
        providers = services.provider_health()
        unusable = embedder.result()  # else the model's description may be asked of its server
        parts = {
            "store": _store(services, store_problem(services) or engine.result() or problem()),
            "keys": _keys(services, keys_problem()),
            "embedder": _part(unusable, unusable or _model(services)),
            "tracing": _tracing(services, tracing.result()),
            "state": _part(state.result(), "costs, links and ratings can be kept"),
            **_providers(services, providers),
        }
        return _seen(services.store.manifest, parts, providers).model_dump(mode="json")

    return blueprint


def _seen(
    manifest: Manifest, parts: Mapping[str, PartOut], providers: Mapping[str, Health]
) -> HealthOut:
    """Health as the present caller may see it."""
    caller = present_caller()
    known = caller.is_known
    faults = [part.detail for part in parts.values() if part.status == "fault"]
    problem = next(iter(faults), "")
    if not caller.sees_traces:
        parts = {name: _without_detail(part) for name, part in parts.items()}
        problem = TOLD_TO_ADMINISTRATORS if faults else ""
    details = {name: health.detail or "ready" for name, health in providers.items()}
    return HealthOut(
        status="degraded" if faults else "ok",
        problem=problem,
        version=__version__,
        collection=manifest.collection if known else "",
        documents=manifest.documents if known else None,
        passages=manifest.passages if known else None,
        providers=details if known else {},
        parts=dict(parts) if known else {},
    )


def store_problem(services: Services) -> str:
    """The problem with the served version's folder, which is read as questions come."""
    folder = services.settings.collection_folder / services.store.manifest.version
    if folder.is_dir():
        return ""
    return (
        f"{folder} is gone. Bring the disk back, build the collection again with `atlas create`, "
        "or import it with `atlas store import`."
    )


def embedder_problem(services: Services) -> str:
    """The reason why a question cannot be embedded; empty if it can."""
    try:
        services.searcher.embedder.embed_query("Can this be embedded?")
    except AtlasError as error:
        return str(error)
    return ""


def tracing_problem(services: Services) -> str:
    """The reasons why traces do not arrive; empty if they do, or if there are none."""
    address = services.settings.phoenix_collector_endpoint
    problems = [phoenix_problem(address)] if address else []
    problems += [
        f"{delivery.destination.shown} gets no spans: {delivery.problem}"
        for delivery in services.tracer.deliveries
        if delivery.problem
    ]
    return "; ".join(filter(None, problems))


def _require_ready(
    services: Services, embedder: Remembered[str], engine: Remembered[str], keys_problem: str
) -> None:
    if keys_problem:
        raise ConfigurationError(keys_problem)
    if missing := store_problem(services):
        raise MissingStore(missing)
    if away := engine.result():
        raise EngineUnavailable(away)
    _, target = services.target(None)
    health = services.provider_health()[target.llm_provider]
    if not health.ready and target.llm_fallback == "none":
        raise ModelUnavailable(f"{target.llm_provider}: {health.detail}")
    if wrong := embedder.result():
        raise EmbeddingUnavailable(wrong)


def _store(services: Services, problem: str) -> PartOut:
    manifest = services.store.manifest
    if not (problem or manifest.documents):
        return PartOut(status="note", detail=f"{manifest.collection} has no sources yet")
    held = f"{manifest.collection} {manifest.version}: {manifest.documents} documents"
    return _part(problem, held)


def _part(problem: str, well: str) -> PartOut:
    return PartOut(status="fault" if problem else "ok", detail=problem or well)


def _without_detail(part: PartOut) -> PartOut:
    tells = part.status == "ok" and not holds_path(part.detail)
    return part if tells else PartOut(status=part.status, detail="")


def _keys(services: Services, problem: str) -> PartOut:
    if services.settings.atlas_access == "shared":
        return _part(problem, "the database of STATE_URL")
    if services.settings.api_keys_file is None:
        return PartOut(status="note", detail="none: API_KEYS_FILE is not set")
    return _part(problem, str(services.settings.api_keys_file))


def _tracing(services: Services, problem: str) -> PartOut:
    tracer = services.tracer
    if not tracer.enabled:
        return PartOut(status="note", detail="off: PHOENIX_COLLECTOR_ENDPOINT is not set")
    where = ", ".join(delivery.destination.shown for delivery in tracer.deliveries)
    counts = f"spans sent: {tracer.exported}, waiting: {tracer.waiting}, dropped: {tracer.dropped}"
    return PartOut(status="note" if problem else "ok", detail=f"{problem or where}; {counts}")


def _providers(services: Services, providers: Mapping[str, Health]) -> dict[str, PartOut]:
    _, default = services.target(None)
    parts = {}
    for name, health in providers.items():
        detail = health.detail or "ready"
        if health.ready:
            state: State = "note" if health.detail else "ok"
        elif name == default.llm_provider:
            state, detail = "fault", f"{name}: {detail}"
        else:
            state = "note"
        parts[f"provider.{name}"] = PartOut(status=state, detail=detail)
    return parts


def _model(services: Services) -> str:
    """The embedding model, and what runs it."""
    info = services.searcher.embedder.info
    return f"{info.name}, {info.runtime}" if info.runtime else info.name
