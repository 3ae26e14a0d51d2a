"""What can be chosen and what runs: corpora, targets, configuration, documents."""

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.core.domain import LEGS
from atlas_search.core.ids import __version__
from atlas_search.documents.search import DocumentOut, PassageOut
from atlas_search.search.ranking import FUSED_WEIGHTS
from atlas_search.server.access.caller import present_caller
from atlas_search.server.serving import Serve
from atlas_search.server.waiting import waiting
from atlas_search.stores.manifest import Field as FieldStatistics
from atlas_search.stores.manifest import Origin


class CorpusOut(BaseModel):
    """A corpus that can be chosen."""

    id: str
    label: str
    documents: int
    passages: int
    language: str = Field(description="ISO 639-1 code of the language its words are analysed in")


class CorporaOut(BaseModel):
    """The corpora of the collection, and which of them "all" means."""

    collection: str
    corpora: list[CorpusOut]
    all: list[str]
    filter_fields: dict[str, FieldStatistics] = Field(
        description="Metadata fields: type, documents with them, most frequent values"
    )


class TargetOut(BaseModel):
    """A named configuration."""

    name: str
    composite_target: str
    settings: dict[str, str | int | float | None]
    in_force: dict[str, str] = Field(
        description="What answers depend on beside the settings: the threshold and likelihood that "
        "they need, the model and the address of its server, the version of the system prompt"
    )


class TargetsOut(BaseModel):
    """The targets that can be chosen."""

    default: str
    targets: list[TargetOut]


class SourceOut(BaseModel):
    """One kind of source of the collection, and how its documents were cut."""

    splitter: str
    size: int
    overlap: int
    unit: str
    documents: int
    passages: int


class ConfigOut(BaseModel):
    """What runs."""

    version: str
    collection: str
    collection_version: str
    embedding_provider: str
    embedding_model: str
    embedding_digest: str
    sparse_model: str = Field(description="What weighs the terms of passages; empty: nothing")
    pooling: str = Field(description="How the embedding model makes one vector of many")
    sources: dict[str, SourceOut]
    default_target: str
    legs: list[str]
    fused_weights: dict[str, float] = Field(description="Those of the default target, as of now")
    providers: list[str]
    tracing: bool
    phoenix_url: str | None
    phoenix_project: str
    caller: str = Field(description="Name of the key that asks; empty where no keys are used")


class ById(BaseModel):
    """An id in the path."""

    id: str = Field(min_length=1)


def catalogue_blueprint(serve: Serve) -> APIBlueprint:
    """Everything about the collection and the server that is only read."""
    blueprint = APIBlueprint(
        "catalogue", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/corpora", summary="Corpora to choose from", responses={200: CorporaOut})
    def get_corpora() -> dict[str, object]:
        services = serve().services
        manifest = services.store.manifest
        return CorporaOut(
            collection=manifest.collection,
            corpora=[
                CorpusOut(
                    id=corpus.id,
                    label=corpus.label,
                    documents=corpus.documents,
                    passages=corpus.passages,
                    language=corpus.language,
                )
                for corpus in services.store.corpora
            ],
            all=list(services.default_corpora),
            filter_fields=dict(manifest.fields),
        ).model_dump(mode="json")

    @blueprint.get("/targets", summary="Targets to choose from", responses={200: TargetsOut})
    def get_targets() -> dict[str, object]:
        services = serve().services
        return TargetsOut(
            default=services.settings.test_target,
            targets=[
                TargetOut(
                    name=name,
                    composite_target=services.composite_target(name),
                    settings={k.upper(): v for k, v in target.model_dump().items()},
                    in_force=services.in_force(name),
                )
                for name, target in services.targets.items()
            ],
        ).model_dump(mode="json")

    @blueprint.get("/config", summary="What runs", responses={200: ConfigOut})
    def get_config() -> dict[str, object]:
        services = serve().services
        manifest, settings = services.store.manifest, services.settings
        _, target = services.target(None)
        return ConfigOut(
            version=__version__,
            collection=manifest.collection,
            collection_version=manifest.version,
            embedding_provider=manifest.embedding.provider,
            embedding_model=manifest.embedding.name,
            embedding_digest=manifest.embedding.digest,
            sparse_model=settings.sparse_model,
            pooling=manifest.embedding.pooling,
            sources={kind: _source(origin) for kind, origin in manifest.origins.items()},
            default_target=settings.test_target,
            legs=[*LEGS, *(["sparse"] if services.searcher.terms else [])],
            fused_weights={
                name: getattr(target, f"weight_{name}")
                for name in (*FUSED_WEIGHTS, *(["sparse"] if services.searcher.terms else []))
            },
            providers=["extractive", *services.answerer.models],
            tracing=services.tracer.enabled,
            phoenix_url=(present_caller().sees_traces and settings.phoenix_url) or None,
            phoenix_project=settings.phoenix_project_name,
            caller=present_caller().name,
        ).model_dump(mode="json")

    @blueprint.get("/passages/<any_id:id>", summary="One passage", responses={200: PassageOut})
    def get_passage(path: ById) -> dict[str, object]:
        return serve().passage(path.id).to_dict()

    @blueprint.get("/documents/<any_id:id>", summary="One document", responses={200: DocumentOut})
    def get_document(path: ById) -> dict[str, object]:
        atlas, stop = serve(), waiting()
        document = atlas.document(path.id)
        stop.check()
        passages = atlas.passages(path.id)
        stop.check()
        return document.to_dict(passages)

    return blueprint


def _source(origin: Origin) -> SourceOut:
    return SourceOut.model_validate(origin, from_attributes=True)
