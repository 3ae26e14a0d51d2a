"""The one place that constructs what a server or command needs."""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from backend.domain import Corpus
from backend.embedding import Embedder
from backend.embedding.local import LocalEmbedder
from backend.errors import ConfigurationError, EmbedderMismatch, UnknownCorpus, UnknownTarget
from backend.llm import Provider
from backend.llm.extractive import ExtractiveProvider
from backend.search.flow import Searcher
from backend.settings import Settings, environment_target
from backend.stores.manifest import Manifest
from backend.stores.store import EmbeddedStore, Store
from backend.targets import Target, load_target, target_names
from backend.tracing import Tracer

RETRIEVAL_THREADS = 8


@dataclass(frozen=True)
class Services:
    """Everything opened once and shared by all requests."""

    settings: Settings
    store: Store
    tracer: Tracer
    searcher: Searcher
    providers: Mapping[str, Provider]
    targets: Mapping[str, Target]

    @property
    def default_corpora(self) -> tuple[str, ...]:
        """The corpora that "all" means."""
        return tuple(corpus.id for corpus in served_corpora(self.settings, self.store))

    def target(self, name: str | None) -> tuple[str, Target]:
        """A target by name, the configured one for None. Raises UnknownTarget."""
        chosen = name or self.settings.test_target
        if chosen not in self.targets:
            raise UnknownTarget(
                f"There is no target {chosen!r}. Known targets: {', '.join(self.targets)}."
            )
        return chosen, self.targets[chosen]

    def composite_target(self, name: str) -> str:
        """The name of a run: target and collection."""
        return f"{name}_{self.store.manifest.collection}"

    def close(self) -> None:
        """Release the store and send waiting spans."""
        self.searcher.executor.shutdown(cancel_futures=True)
        self.store.close()
        self.tracer.close()


def open_services(settings: Settings, embedder: Embedder | None = None) -> Services:
    """Open everything `settings` name. Raises a ConfigurationError that says what to mend.

    `embedder` saves loading the model again where one is at hand.
    """
    targets = _targets(settings)
    Manifest.read(settings.collection_folder)  # before the model: a missing store fails at once
    embedder = embedder or LocalEmbedder(settings.embedding_model)
    store = EmbeddedStore(settings.collection_folder)
    _check_embedder(store.manifest, embedder, settings)
    served_corpora(settings, store)
    tracer = Tracer(
        settings.phoenix_collector_endpoint,
        settings.phoenix_project_name,
        content=settings.trace_content,
    )
    executor = ThreadPoolExecutor(RETRIEVAL_THREADS, thread_name_prefix="retrieve")
    return Services(
        settings=settings,
        store=store,
        tracer=tracer,
        searcher=Searcher(store, embedder, executor, tracer, store.tokens.mean_length()),
        providers={"extractive": ExtractiveProvider(embedder)},
        targets=targets,
    )


def served_corpora(settings: Settings, store: Store) -> tuple[Corpus, ...]:
    """The corpora that MULTI_CORPUS_METADATA names, in its order; every one if it is empty."""
    wanted = [name.strip() for name in settings.multi_corpus_metadata.split(",") if name.strip()]
    if not wanted:
        return store.corpora
    try:
        return known_corpora(store, wanted)
    except UnknownCorpus as error:
        raise ConfigurationError(f"MULTI_CORPUS_METADATA: {error}") from error


def known_corpora(store: Store, ids: Iterable[str]) -> tuple[Corpus, ...]:
    """The corpora with these ids, each once. Raises UnknownCorpus, listing the known ones."""
    known = {corpus.id: corpus for corpus in store.corpora}
    ids = list(dict.fromkeys(ids))
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        raise UnknownCorpus(
            f"Unknown corpus {', '.join(map(repr, unknown))}. "
            f'Known corpora: {", ".join(known)}; or "all".'
        )
    return tuple(known[id_] for id_ in ids)


def _targets(settings: Settings) -> dict[str, Target]:
    folder = settings.targets_directory
    defaults = environment_target()
    names = target_names(folder)
    if settings.test_target not in names:
        raise ConfigurationError(
            f"TEST_TARGET={settings.test_target} is not in {folder}. Known targets: "
            f"{', '.join(names) or 'none'}."
        )
    return {name: load_target(folder, name, defaults) for name in names}


def _check_embedder(manifest: Manifest, embedder: Embedder, settings: Settings) -> None:
    built, here = manifest.embedding, embedder.info
    if (built.digest, built.pooling) != (here.digest, here.pooling):
        raise EmbedderMismatch(
            f"The collection {manifest.collection} was built with {built.name} "
            f"({built.digest[:12]}, {built.pooling}), but EMBEDDING_MODEL={here.name} is "
            f"{here.digest[:12]}, {here.pooling}. Set EMBEDDING_MODEL={built.name}, or build "
            f"{settings.collection_folder} again with `atlas create` and the model you want."
        )
