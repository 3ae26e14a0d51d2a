"""Routes that read a collection: its catalogue, its documents, their sources, and its numbers."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema

from atlas_search.core.domain import LEGS
from atlas_search.core.ids import __version__, moment
from atlas_search.core.metadata import MetadataValue
from atlas_search.core.wire import DocumentOut, PassageOut
from atlas_search.language.dates import iso_day
from atlas_search.language.languages import LANGUAGES
from atlas_search.search.ranking import FUSED_WEIGHTS
from atlas_search.search.request import Filters, conditions
from atlas_search.search.scope import CorpusExtent, DatesOut, joint_dates
from atlas_search.server.access.caller import present_caller
from atlas_search.server.limits import waiting
from atlas_search.server.problems import TOLD_TO_ADMINISTRATORS, holds_path, sees_paths
from atlas_search.server.requests import CollectionQuery
from atlas_search.server.runs import Runs
from atlas_search.server.serving import Serve
from atlas_search.services import Services, known_corpora
from atlas_search.stores.arrays import IntArray
from atlas_search.stores.manifest import CorpusStatistics, EmbeddingModel, Index, Manifest, Origin
from atlas_search.stores.manifest import Field as FieldStatistics
from atlas_search.stores.record_files import ListedDocument, ReadSource, remark_of
from atlas_search.stores.store import Store


class CorpusOut(BaseModel):
    """A corpus that can be chosen."""

    id: str
    label: str
    documents: int
    passages: int
    language: str = Field(description="ISO 639-1 code of the language its words are analysed in")
    stemmer: str | None = Field(
        description="Snowball's of that language; null if it has none: words are found as written"
    )
    date: str = Field(description="Date of its documents that state none; empty if nobody gave one")
    description: str = Field(description="What it holds, in a sentence or two; may be empty")


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
    system_prompt: str = Field(description="The rules that its language model is given, whole")
    in_force: dict[str, str] = Field(
        description="What answers depend on beside the settings: the threshold and likelihood that "
        "they need, the model and the address of its server, the version of the system prompt, and "
        "how the nearest passages are found (`exact`, `hnsw`, or `mixed` where corpora differ)"
    )


class TargetsOut(BaseModel):
    """The targets that can be chosen."""

    default: str
    targets: list[TargetOut]
    unusable: dict[str, str] = Field(description="Targets that cannot be served, and why")


class SourceOut(BaseModel):
    """One kind of source of the collection, and how its documents were cut."""

    splitter: str
    size: int
    overlap: int
    unit: str
    documents: int
    passages: int


class ConfigOut(BaseModel):
    """The configuration that runs."""

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
    takes_sources: bool = Field(description="Whether the caller may bring files in")


class ById(BaseModel):
    """An id in the path."""

    id: str = Field(min_length=1)


def catalogue_blueprint(serve: Serve) -> APIBlueprint:
    """The routes of what is only read: corpora, targets, settings, passages and documents."""
    blueprint = APIBlueprint(
        "catalogue", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/corpora", summary="Corpora to choose from", responses={200: CorporaOut})
    def get_corpora() -> dict[str, object]:
        return _corpora(serve().services).model_dump(mode="json")

    @blueprint.get("/targets", summary="Targets to choose from", responses={200: TargetsOut})
    def get_targets() -> dict[str, object]:
        return _targets(serve().services).model_dump(mode="json")

    @blueprint.get("/config", summary="What runs", responses={200: ConfigOut})
    def get_config() -> dict[str, object]:
        return _config(serve().services).model_dump(mode="json")

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


def _corpora(services: Services) -> CorporaOut:
    manifest = services.store.manifest
    return CorporaOut(
        collection=manifest.collection,
        corpora=[
            CorpusOut(**asdict(corpus), stemmer=LANGUAGES[corpus.language] or None)
            for corpus in services.store.corpora
        ],
        all=list(services.default_corpora),
        filter_fields=dict(manifest.fields),
    )


def _targets(services: Services) -> TargetsOut:
    unusable = services.problems()
    return TargetsOut(
        default=services.settings.test_target,
        targets=[
            TargetOut(
                name=name,
                composite_target=services.composite_target(name),
                settings={k.upper(): _named(v) for k, v in target.model_dump().items()},
                system_prompt=services.answerer.rules[target.system_prompt].template,
                in_force={k: _named(v) for k, v in services.in_force(name).items()},
            )
            for name, target in services.targets.items()
            if name not in unusable
        ],
        unusable={
            name: TOLD_TO_ADMINISTRATORS if holds_path(why) and not sees_paths() else why
            for name, why in unusable.items()
        },
    )


def _named(value: Any) -> Any:
    """A value of the settings; of a model's folder its name alone for who sees no paths."""
    if isinstance(value, str) and value.startswith("/") and not sees_paths():
        return Path(value).name
    return value


def _config(services: Services) -> ConfigOut:
    manifest, settings = services.store.manifest, services.settings
    _, target = services.target(None)
    return ConfigOut(
        version=__version__,
        collection=manifest.collection,
        collection_version=manifest.version,
        embedding_provider=manifest.embedding.provider,
        embedding_model=_named(manifest.embedding.name),
        embedding_digest=manifest.embedding.digest,
        sparse_model=_named(settings.sparse_model),
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
        takes_sources=present_caller().changes_all,
    )


def _source(origin: Origin) -> SourceOut:
    return SourceOut.model_validate(origin, from_attributes=True)


MOST = 200  # documents of one page
MAX_TITLE = 200  # characters that are looked for


def _read_filters(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError) as error:
        raise ValueError(
            'give filters as JSON, such as {"year": 1957}, or leave them out'
        ) from error


class ListingQuery(CollectionQuery):
    """The documents wanted, and their order."""

    corpus: list[str] = Field(default_factory=list, description="Only these corpora; repeatable")
    filters: Annotated[
        Filters, BeforeValidator(_read_filters), WithJsonSchema({"type": "string"})
    ] = Field(default_factory=dict, description="As in a search, as JSON")
    title: str = Field("", max_length=MAX_TITLE, description="Words that the title holds, all")
    sort: Literal["id", "title", "date", "-date"] = Field(
        "id", description="`-date`: the newest first; undated documents come last"
    )
    limit: int = Field(50, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10**9, description="Documents to pass over")


class ListedOut(BaseModel):
    """A document without its text.

    `first_day` and `last_day` are those its date can mean; `kind` is the kind of source it was
    built from, and `ingest` if a server was handed its file.
    """

    document_id: str
    corpus: str
    title: str
    source: str
    kind: str
    characters: int
    passages: int
    first_day: str | None
    last_day: str | None
    metadata: dict[str, MetadataValue]


class ListingOut(BaseModel):
    """A page of documents; `next_offset` is null on the last one.

    Pages belong together as long as `version` stays the same.
    """

    collection: str
    version: str
    total: int = Field(description="Documents on all pages")
    next_offset: int | None
    documents: list[ListedOut]


def listing_blueprint(serve: Serve) -> APIBlueprint:
    """The list of documents."""
    blueprint = APIBlueprint(
        "listing", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get("/documents", summary="The documents, page by page", responses={200: ListingOut})
    def get_documents(query: ListingQuery) -> dict[str, object]:
        store = serve().services.store
        matches = _matching(store, query)
        page = store.list_documents(matches, query.sort, query.limit, query.offset)
        end = query.offset + len(page)
        return ListingOut(
            collection=store.manifest.collection,
            version=store.manifest.version,
            total=len(matches),
            next_offset=end if page and end < len(matches) else None,
            documents=[_listed(document) for document in page],
        ).model_dump(mode="json")

    return blueprint


def _matching(store: Store, query: ListingQuery) -> IntArray:
    """Find the indices of the documents that a query asks for. Raises RequestError."""
    filters = conditions(query.filters, store.manifest.fields)
    corpora = known_corpora(store, query.corpus) if query.corpus else store.corpora
    documents = store.documents_of([corpus.id for corpus in corpora])
    if filters:
        within = store.scope(filters).documents
        documents = np.intersect1d(documents, within, assume_unique=True)
    return store.titled(documents, query.title) if query.title else documents


def _listed(document: ListedDocument) -> ListedOut:
    first, last = document.days
    return ListedOut(
        **document._asdict(),
        document_id=document.id,
        kind=document.origin,
        first_day=iso_day(first) or None,
        last_day=iso_day(last) or None,
    )


MOST_REMARKS = 50  # on one file


class SourcesQuery(CollectionQuery):
    """The page wanted."""

    limit: int = Field(50, ge=1, le=MOST)
    offset: int = Field(0, ge=0, le=10**9, description="Files to pass over")


class SourceReportOut(BaseModel):
    """A file of which something was left out or repaired."""

    source: str
    kind: str = Field(description="The kind of source it was read as")
    bytes: int
    documents: int = Field(description="Those it gave")
    refused: bool = Field(description="Whether it gave no document")
    remarks: list[str] = Field(description=f"What was left out and why; the first {MOST_REMARKS}")
    more_remarks: int = Field(description="How many there are beyond those")


class SourcesOut(BaseModel):
    """Sources that the builds of the present version were given.

    Who sees only some corpora is told of the files whose documents are all of these; one that gave
    no document is of no corpus.
    """

    collection: str
    version: str
    files: int = Field(description="Files that were read")
    refused: int = Field(description="Of them those that gave no document")
    total: int = Field(description="Files with remarks, on all pages")
    next_offset: int | None
    sources: list[SourceReportOut] = Field(description="Those that were refused come first")


def read_sources_blueprint(serve: Serve) -> APIBlueprint:
    """The report of the builds."""
    blueprint = APIBlueprint(
        "sources", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )

    @blueprint.get(
        "/sources", summary="What was refused of the sources, and why", responses={200: SourcesOut}
    )
    def get_sources(query: SourcesQuery) -> dict[str, object]:
        store = serve().services.store
        report = store.read_sources(query.limit, query.offset)
        end = query.offset + len(report.sources)
        return SourcesOut(
            collection=store.manifest.collection,
            version=store.manifest.version,
            files=report.files,
            refused=report.refused,
            total=report.listed,
            next_offset=end if report.sources and end < report.listed else None,
            sources=[_report(source) for source in report.sources],
        ).model_dump(mode="json")

    return blueprint


def _report(source: ReadSource) -> SourceReportOut:
    remarks = [remark_of(*remark) for remark in source.remarks]
    return SourceReportOut(
        source=source.name,
        kind=source.origin,
        bytes=source.bytes,
        documents=source.documents,
        refused=source.documents == 0,
        remarks=remarks[:MOST_REMARKS],
        more_remarks=len(remarks[MOST_REMARKS:]),
    )


class CountsOut(BaseModel):
    """Amounts; `tokens` are the embedding model's, `source_bytes` those of the files."""

    documents: int
    passages: int
    characters: int
    words: int
    tokens: int
    source_bytes: int
    dates: DatesOut


class CorpusStatsOut(CountsOut):
    """Amounts of one corpus."""

    id: str
    label: str
    language: str
    description: str
    digest: str = Field(description="SHA-256 of its documents")


class YearOut(BaseModel):
    """The documents of one year; years without any are not listed."""

    year: str
    corpus: str
    documents: int


class KindOut(BaseModel):
    """One kind of source."""

    documents: int
    passages: int
    splitter: str
    size: int
    overlap: int
    unit: str


class CacheOut(BaseModel):
    """Kept answers, of all collections, and how often one was asked for since the server began."""

    enabled: bool
    kept: int
    limit: int
    hits: int
    misses: int


class ServerOut(BaseModel):
    """The server since it began."""

    since: str
    answers_running: int
    answers_begun: int
    cache: CacheOut


class StatsOut(BaseModel):
    """A collection in numbers. `disk` are bytes by part, `seconds` what the build's stages took.

    Who sees only some of its corpora gets the numbers of those, and none of the whole.
    """

    collection: str
    version: str
    created: str
    content_digest: str = Field(description="Of all that the version holds; empty if not whole")
    all: CountsOut
    corpora: list[CorpusStatsOut]
    years: list[YearOut] = Field(
        description="Documents by year and corpus. One whose date may mean several years, or that "
        "has none, is in no year"
    )
    kinds: dict[str, KindOut]
    embedding: EmbeddingModel
    index: Index
    truncated_share: float = Field(description="Passages longer than the model reads, of all")
    disk: dict[str, int]
    seconds: dict[str, float]
    server: ServerOut


def statistics_blueprint(serve: Serve, runs: Runs) -> APIBlueprint:
    """The numbers."""
    blueprint = APIBlueprint(
        "statistics", __name__, url_prefix="/api", abp_tags=[Tag(name="catalogue")]
    )
    since = moment()

    @blueprint.get("/stats", summary="A collection in numbers", responses={200: StatsOut})
    def get_stats() -> dict[str, object]:
        services = serve().services
        manifest = services.store.manifest
        extents = services.searcher.whole
        whole = present_caller().sees(manifest.collection) is None
        return StatsOut(
            collection=manifest.collection,
            version=manifest.version,
            created=manifest.created,
            content_digest=manifest.content_digest if whole else "",
            all=_all(manifest, list(extents.values())),
            corpora=[_corpus(corpus, extents[corpus.id]) for corpus in manifest.corpora],
            years=_years(services.store),
            kinds={kind: _kind(origin) for kind, origin in manifest.origins.items()},
            embedding=manifest.embedding.model_copy(
                update={"name": _named(manifest.embedding.name)}
            ),
            index=manifest.index,
            truncated_share=manifest.truncated_share if whole else 0.0,
            disk=dict(manifest.sizes) if whole else {},
            seconds=dict(manifest.durations) if whole else {},
            # by a count of hits one learns what others asked
            server=_server(services, runs, since, tells=present_caller().sees_traces),
        ).model_dump(mode="json")

    return blueprint


def _all(manifest: Manifest, extents: list[CorpusExtent]) -> CountsOut:
    corpora = manifest.corpora
    return CountsOut(
        documents=manifest.documents,
        passages=manifest.passages,
        characters=sum(corpus.characters for corpus in corpora),
        words=sum(corpus.words for corpus in corpora),
        tokens=sum(corpus.tokens for corpus in corpora),
        source_bytes=sum(corpus.bytes for corpus in corpora),
        dates=DatesOut.model_validate(joint_dates(extent.dates for extent in extents)),
    )


def _corpus(corpus: CorpusStatistics, extent: CorpusExtent) -> CorpusStatsOut:
    return CorpusStatsOut(
        **corpus.model_dump(),
        source_bytes=corpus.bytes,
        dates=DatesOut.model_validate(extent.dates),
    )


def _years(store: Store) -> list[YearOut]:
    """Count documents by year and corpus, in this order."""
    days = store.days
    first, last = (
        side.astype("datetime64[Y]").astype(np.int64) for side in (days.first, days.last)
    )
    documents = np.flatnonzero(~np.isnat(days.first) & (first == last))
    owners = store.corpus_of_documents(documents).astype(np.int64)
    pairs = np.stack([first[documents], owners])[:, owners >= 0]
    groups, counts = np.unique(pairs, axis=1, return_counts=True)
    return [
        YearOut(year=_iso_year(year + 1970), corpus=store.corpora[owner].id, documents=count)
        for (year, owner), count in zip(groups.T.tolist(), counts.tolist(), strict=True)
    ]


def _iso_year(year: int) -> str:
    return f"{'-' if year < 0 else ''}{abs(year):04d}"


def _kind(origin: Origin) -> KindOut:
    return KindOut.model_validate(origin, from_attributes=True)


def _server(services: Services, runs: Runs, since: str, *, tells: bool) -> ServerOut:
    """The server's numbers; those that say what others asked are 0 unless it `tells` them."""
    cache = services.answerer.cache
    return ServerOut(
        since=since,
        answers_running=runs.running if tells else 0,
        answers_begun=runs.started if tells else 0,
        cache=CacheOut(
            enabled=cache.enabled,
            kept=cache.kept if tells else 0,
            limit=services.settings.query_cache_size,
            hits=cache.hits if tells else 0,
            misses=cache.misses if tells else 0,
        ),
    )
