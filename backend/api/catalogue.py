"""What can be chosen and what runs: corpora, targets, configuration, health, documents."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from backend import __version__
from backend.api.wire import DocumentOut, PassageOut, document_out, passage_out
from backend.domain import LEGS
from backend.search.rerank import FUSED_WEIGHTS
from backend.services import Services


class CorpusOut(BaseModel):
    """A corpus that can be chosen."""

    id: str
    label: str
    documents: int
    passages: int


class CorporaOut(BaseModel):
    """The corpora of the collection, and which of them "all" means."""

    collection: str
    corpora: list[CorpusOut]
    all: list[str]
    filter_fields: dict[str, int] = Field(description="Metadata fields, and documents with them")


class TargetOut(BaseModel):
    """A named configuration."""

    name: str
    composite_target: str
    settings: dict[str, str | int | float]


class TargetsOut(BaseModel):
    """The targets that can be chosen."""

    default: str
    targets: list[TargetOut]


class ConfigOut(BaseModel):
    """What runs."""

    version: str
    collection: str
    collection_version: str
    embedding_model: str
    embedding_digest: str
    chunk_size: int
    chunk_overlap: int
    default_target: str
    legs: list[str]
    fused_weights: dict[str, float]
    providers: list[str]
    tracing: bool
    phoenix_url: str | None
    phoenix_project: str


class HealthOut(BaseModel):
    """Whether the server can answer."""

    status: str
    version: str
    collection: str
    documents: int
    passages: int
    providers: dict[str, str]


class ById(BaseModel):
    """An id in the path."""

    id: str


def catalogue_blueprint(services: Services) -> APIBlueprint:
    """Everything about the collection and the server that is only read."""
    blueprint = APIBlueprint(
        "catalogue", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )
    manifest = services.store.manifest
    settings = services.settings

    @blueprint.get("/corpora", summary="Corpora to choose from", responses={200: CorporaOut})
    def get_corpora() -> dict[str, object]:
        return CorporaOut(
            collection=manifest.collection,
            corpora=[
                CorpusOut(
                    id=corpus.id,
                    label=corpus.label,
                    documents=corpus.documents,
                    passages=corpus.passages,
                )
                for corpus in services.store.corpora
            ],
            all=list(services.default_corpora),
            filter_fields=dict(manifest.fields),
        ).model_dump(mode="json")

    @blueprint.get("/targets", summary="Targets to choose from", responses={200: TargetsOut})
    def get_targets() -> dict[str, object]:
        return TargetsOut(
            default=settings.test_target,
            targets=[
                TargetOut(
                    name=name,
                    composite_target=services.composite_target(name),
                    settings={k.upper(): v for k, v in target.model_dump().items()},
                )
                for name, target in services.targets.items()
            ],
        ).model_dump(mode="json")

    @blueprint.get("/config", summary="What runs", responses={200: ConfigOut})
    def get_config() -> dict[str, object]:
        return ConfigOut(
            version=__version__,
            collection=manifest.collection,
            collection_version=manifest.version,
            embedding_model=manifest.embedding.name,
            embedding_digest=manifest.embedding.digest,
            chunk_size=manifest.chunking.size,
            chunk_overlap=manifest.chunking.overlap,
            default_target=settings.test_target,
            legs=list(LEGS),
            fused_weights=dict(FUSED_WEIGHTS),
            providers=list(services.providers),
            tracing=services.tracer.enabled,
            phoenix_url=settings.phoenix_url or None,
            phoenix_project=settings.phoenix_project_name,
        ).model_dump(mode="json")

    @blueprint.get("/health", summary="Whether it can answer", responses={200: HealthOut})
    def get_health() -> dict[str, object]:
        return HealthOut(
            status="ok",
            version=__version__,
            collection=manifest.collection,
            documents=manifest.documents,
            passages=manifest.passages,
            providers=dict.fromkeys(services.providers, "ready"),
        ).model_dump(mode="json")

    @blueprint.get("/passages/<id>", summary="One passage", responses={200: PassageOut})
    def get_passage(path: ById) -> dict[str, object]:
        return passage_out(services.store.passage(path.id)).model_dump(mode="json")

    @blueprint.get("/documents/<id>", summary="One document", responses={200: DocumentOut})
    def get_document(path: ById) -> dict[str, object]:
        document = services.store.document(path.id)
        passages = services.store.document_passages(path.id)
        return document_out(document, passages).model_dump(mode="json")

    return blueprint
