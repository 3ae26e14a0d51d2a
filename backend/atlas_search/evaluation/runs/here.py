"""A target of a collection that is open in this process, as the subject of a run."""

from dataclasses import dataclass

from atlas_search.atlas import Atlas
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.asker import Asker, ProcessAsker, without_kept_answers
from atlas_search.evaluation.labels.documents import Collection, OpenCollection
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.run import PROCESS, RunSpec, versions
from atlas_search.evaluation.runs.judging import judging_tools
from atlas_search.evaluation.runs.subject import Facts
from atlas_search.providers.chat import Health
from atlas_search.providers.embedding import ROUNDED, EmbedderInfo


@dataclass(frozen=True)
class ProcessSubject:
    """See Subject. `target` is the name of one of the collection's targets."""

    atlas: Atlas
    target: str

    @property
    def facts(self) -> Facts:  # noqa: D102
        services = self.atlas.services
        _, target = services.target(self.target)
        manifest = services.store.manifest
        return Facts(
            where=PROCESS,
            target=self.target,
            composite_target=services.composite_target(self.target),
            options=target.model_dump(),
            collection=manifest.collection,
            collection_version=manifest.version,
            corpora=services.default_corpora,
            settings=model_settings(services.searcher.embedder.info)
            | services.in_force(self.target),
            versions=versions(),
        )

    def now(self) -> Facts:  # noqa: D102
        return self.facts

    @property
    def tracer(self) -> Tracer:  # noqa: D102
        return self.atlas.services.tracer

    def asker(self, spec: RunSpec) -> Asker:  # noqa: D102
        return ProcessAsker(
            without_kept_answers(self.atlas),
            self.target,
            spec.today or spec.started.date(),
            spec.search_only,
            spec.k,
            spec.id,
        )

    def tools(self, k: int | None) -> Tools:  # noqa: D102
        services = self.atlas.services
        _, target = services.target(self.target)
        return judging_tools(
            services.searcher.embedder, services.default_corpora, k or target.search_k
        )

    def language_model(self) -> Health:  # noqa: D102
        answerer = self.atlas.services.answerer
        _, target = self.atlas.services.target(self.target)
        return answerer.models[target.llm_provider].health(answerer.model_name(target))

    @property
    def documents(self) -> Collection:  # noqa: D102
        return OpenCollection(self.atlas)


def model_settings(embedder: EmbedderInfo) -> dict[str, str]:
    """What a run says of the embedding model, and which library runs it if that is known."""
    runtime, *_ = embedder.runtime.split() or [""]  # without its version, which is among others
    runtime = ROUNDED if embedder.runtime.endswith(ROUNDED) else runtime
    return {
        "embedding_provider": embedder.provider,
        "embedding_model": embedder.name,
        "embedding_digest": embedder.digest,
        "pooling": embedder.pooling,
        **({"embedding_runtime": runtime} if runtime else {}),
    }
