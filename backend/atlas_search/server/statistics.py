"""`GET /api/stats`: what a collection holds, what it takes, and what the server did since."""

import numpy as np
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import BaseModel, Field

from atlas_search.core.ids import moment
from atlas_search.documents.search import DatesOut
from atlas_search.search.scope import CorpusExtent, joint_dates
from atlas_search.server.access.caller import present_caller
from atlas_search.server.runs import Runs
from atlas_search.server.serving import Serve
from atlas_search.services import Services
from atlas_search.stores.manifest import CorpusStatistics, EmbeddingModel, Index, Manifest, Origin
from atlas_search.stores.store import Store


class CountsOut(BaseModel):
    """How much there is; `tokens` are the embedding model's, `source_bytes` those of the files."""

    documents: int
    passages: int
    characters: int
    words: int
    tokens: int
    source_bytes: int
    dates: DatesOut


class CorpusStatsOut(CountsOut):
    """How much there is of one corpus."""

    id: str
    label: str
    language: str
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
            embedding=manifest.embedding,
            index=manifest.index,
            truncated_share=manifest.truncated_share if whole else 0.0,
            disk=dict(manifest.sizes) if whole else {},
            seconds=dict(manifest.durations) if whole else {},
            server=_server(services, runs, since) if whole else _silent(services, since),
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
        dates=DatesOut(**joint_dates(extent.dates for extent in extents).to_dict()),
    )


def _corpus(corpus: CorpusStatistics, extent: CorpusExtent) -> CorpusStatsOut:
    return CorpusStatsOut(
        id=corpus.id,
        label=corpus.label,
        language=corpus.language,
        digest=corpus.digest,
        documents=corpus.documents,
        passages=corpus.passages,
        characters=corpus.characters,
        words=corpus.words,
        tokens=corpus.tokens,
        source_bytes=corpus.bytes,
        dates=DatesOut(**extent.dates.to_dict()),
    )


def _years(store: Store) -> list[YearOut]:
    """In order of years, then of corpora."""
    days = store.days
    first, last = (
        side.astype("datetime64[Y]").astype(np.int64) for side in (days.first, days.last)
    )
    documents = np.flatnonzero(~np.isnat(days.first) & (first == last))
    owners = store.corpus_of_documents(documents).astype(np.int64)
    pairs = np.stack([first[documents], owners])[:, owners >= 0]
    found, counts = np.unique(pairs, axis=1, return_counts=True)
    return [
        YearOut(year=f"{year + 1970:04d}", corpus=store.corpora[owner].id, documents=count)
        for (year, owner), count in zip(found.T.tolist(), counts.tolist(), strict=True)
    ]


def _kind(origin: Origin) -> KindOut:
    return KindOut.model_validate(origin, from_attributes=True)


def _silent(services: Services, since: str) -> ServerOut:
    """What anybody may know of a server: nothing of what others asked."""
    cache = CacheOut(
        enabled=services.answerer.cache.enabled,
        kept=0,
        limit=services.settings.query_cache_size,
        hits=0,
        misses=0,
    )
    return ServerOut(since=since, answers_running=0, answers_begun=0, cache=cache)


def _server(services: Services, runs: Runs, since: str) -> ServerOut:
    cache = services.answerer.cache
    return ServerOut(
        since=since,
        answers_running=runs.running,
        answers_begun=runs.started,
        cache=CacheOut(
            enabled=cache.enabled,
            kept=cache.kept,
            limit=services.settings.query_cache_size,
            hits=cache.hits,
            misses=cache.misses,
        ),
    )
