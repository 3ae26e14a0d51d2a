"""The one place that constructs what a server or command needs."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from string import Template
from threading import Thread
from typing import TypeVar, get_args

from pydantic import ValidationError

from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.prompts import rules, version_of
from atlas_search.answer.quotes.scores import SentenceVectors
from atlas_search.answer.run import Answerer
from atlas_search.core.domain import Corpus
from atlas_search.core.errors import (
    ConfigurationError,
    EmbedderMismatch,
    RequestError,
    UnknownCorpus,
    UnknownTarget,
    shown,
)
from atlas_search.core.settings import Settings, environment_target
from atlas_search.core.targets import RANKING_KEYS, Target, load_target, target_names
from atlas_search.core.telemetry.metrics import Metrics, metrics_sender
from atlas_search.core.telemetry.tracer import Tracer, open_tracer
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.cross_encoder import open_entailment
from atlas_search.providers.embedding import ROUNDED, Embedder, PoolingChoice
from atlas_search.providers.http import hide_logins
from atlas_search.providers.open import (
    ProviderHealth,
    model_server,
    open_chat_models,
    open_embedder,
    open_readers,
)
from atlas_search.providers.sparse import term_model
from atlas_search.search.ranking import SCORERS
from atlas_search.search.rerankers import known_rerankers, open_stages
from atlas_search.search.run import Searcher, TermLeg
from atlas_search.stores.local import LocalStore
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.qdrant import QdrantPlace, open_store
from atlas_search.stores.store import PermittedStore, Store
from atlas_search.stores.term_weights import TermTable

log = logging.getLogger(__name__)
Parts = TypeVar("Parts")

RETRIEVAL_THREADS = 8

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9._-]+")  # of a model's name: `org/model:7b`


@dataclass(frozen=True)
class Services:
    """Everything opened once and shared by all requests.

    `unusable` says why targets cannot be served. Of it all only `store`, what reads it
    (`answerer.searcher`) and `settings` belong to one collection; all else belongs to the process,
    and `open_beside` gives it to further collections.
    """

    settings: Settings
    store: Store
    tracer: Tracer
    answerer: Answerer
    calls: ModelCalls
    provider_health: ProviderHealth
    targets: dict[str, Target]
    unusable: dict[str, str]

    @property
    def searcher(self) -> Searcher:
        """The store, the models and the tracer that every search uses."""
        return self.answerer.searcher

    @property
    def default_corpora(self) -> tuple[str, ...]:
        """The corpora that "all" means."""
        return tuple(corpus.id for corpus in served_corpora(self.settings, self.store))

    def target(self, name: str | None) -> tuple[str, Target]:
        """A target by name, the configured one for None.

        Raises UnknownTarget, or ConfigurationError for one that cannot be served.
        """
        key = name or self.settings.test_target
        if problem := self.problem(key):
            raise ConfigurationError(problem)
        if key not in self.targets:
            raise UnknownTarget(
                f"There is no target {shown([key])}. Known targets: {', '.join(self.targets)}."
            )
        return key, self.targets[key]

    def problem(self, name: str) -> str:
        """Return why a target cannot be served of this collection; empty if it can."""
        if name in self.targets:
            target, manifest = self.targets[name], self.store.manifest
            return _unlike(manifest, name, target.stated) or _unindexed(manifest, name, target)
        return self.unusable.get(name, "")

    def problems(self) -> dict[str, str]:
        """Return the targets that cannot be served, and why."""
        names = sorted({*self.targets, *self.unusable})
        return {name: why for name in names if (why := self.problem(name))}

    def configure_reranker(self, name: str | None, changes: Mapping[str, object]) -> Target:
        """Change how a target ranks, until the server ends; the target as it is then.

        Requests that have begun are not affected. Raises UnknownTarget, or RequestError for a key
        that says nothing about ranking or a value that a target file could not have.
        """
        chosen, target = self.target(name)
        unknown = [key for key in changes if key not in RANKING_KEYS]
        if unknown:
            raise RequestError(
                f"{', '.join(unknown)} cannot be set here. Known: {', '.join(RANKING_KEYS)}."
            )
        try:
            changed = Target.model_validate(target.model_dump() | dict(changes))
        except ValidationError as error:
            first = error.errors()[0]
            raise RequestError(f"{first['loc'][0]}={first['input']!r}: {first['msg']}.") from error
        if changed.reranker not in known_rerankers():
            raise RequestError(
                f"reranker={changed.reranker!r}: there is no such reranker. Known: "
                f"{', '.join(known_rerankers())}."
            )
        stage = (changed.reranker, changed.rerank_model)
        if changed.reranker not in SCORERS and stage not in self.searcher.stages:
            raise RequestError(
                f"{changed.reranker} needs a model, which is opened when the server starts: name "
                f"it in a target file, with RERANKER={changed.reranker} and RERANK_MODEL."
            )
        self.targets[chosen] = changed
        return changed

    def composite_target(self, name: str) -> str:
        """The name of a run: target, the model it writes with, and collection. Fit for a file."""
        model = _NOT_IN_FILE_NAMES.sub("-", self.answerer.model_name(self.targets[name]))
        return f"{name}_{model}_{self.store.manifest.collection}"

    def in_force(self, name: str) -> dict[str, str]:
        """Return the values in force where a target sets none: those of the collection, the
        settings and the files."""
        answerer, target = self.answerer, self.targets[name]
        whole = {self.store.compares_all(id_, target.vector_search) for id_ in self.default_corpora}
        found = "mixed" if len(whole) > 1 else "hnsw" if whole == {False} else "exact"
        return {
            "vector_search": found,
            "answer_threshold": str(answerer.threshold(target)),
            "answer_likelihood": str(answerer.likelihood(target)),
            "model": answerer.model_name(target),
            "model_server": model_server(target.llm_provider, self.settings),
            "system_prompt_version": version_of(answerer.rules[target.system_prompt]),
        }

    def close(self) -> None:
        """Release the store, and send waiting spans and metrics."""
        self.calls.close()
        self.searcher.executor.shutdown(cancel_futures=True)
        self.store.close()
        # beside each other: either may wait for a server that does not answer
        sending = Thread(target=self.searcher.metrics.close, name="send-metrics", daemon=True)
        sending.start()
        self.tracer.close()
        sending.join()


def open_services(settings: Settings, embedder: Embedder | None = None) -> Services:
    """Open everything `settings` name. Raises a ConfigurationError that says what to mend.

    `embedder` saves loading the model again where one is at hand.
    """
    hide_logins()
    targets, unusable = load_targets(settings), dict[str, str]()
    Manifest.read(settings.collection_folder)  # before the model: a missing store fails at once
    # before the embedding model: once one model is loaded, no other is looked for in the network
    rules_of = _opened(_rules, settings, targets, unusable)
    readers = _opened(open_readers, settings, targets, unusable)
    stages = _opened(open_stages, settings, targets, unusable)
    entailment = _opened(open_entailment, settings, targets, unusable)
    calls = ModelCalls(settings.llm_concurrency, settings.llm_queue_seconds)
    models = _opened(partial(open_chat_models, calls=calls), settings, targets, unusable)
    embedder = embedder or open_embedder(settings)
    tracer = open_tracer(settings)
    metrics = Metrics(metrics_sender(settings))
    executor = ThreadPoolExecutor(RETRIEVAL_THREADS, thread_name_prefix="retrieve")
    store, terms = _open_store(settings, embedder)
    services = Services(
        settings=settings,
        store=store,
        tracer=tracer,
        answerer=Answerer(
            searcher=Searcher(store, embedder, executor, tracer, stages, metrics, terms),
            vectors=SentenceVectors(embedder),
            models=models,
            rules=rules_of,
            cache=AnswerCache(
                settings.query_cache_size,
                settings.query_cache_ttl_sec,
                enabled=settings.query_cache_enabled,
            ),
            readers=readers,
            entailment=entailment,
        ),
        calls=calls,
        provider_health=ProviderHealth(models, _wanted_models(targets.values())),
        targets=targets,
        unusable=unusable,
    )
    try:
        services.target(None)
    except ConfigurationError:
        services.close()
        raise
    return services


def _opened(
    open_: Callable[[Mapping[str, Target], Settings], Parts],
    settings: Settings,
    targets: dict[str, Target],
    unusable: dict[str, str],
) -> Parts:
    """Return what it opens for the targets; those for which it cannot become unusable."""
    try:
        return open_(targets, settings)
    except ConfigurationError:
        for name, target in list(targets.items()):
            try:
                open_({name: target}, settings)
            except ConfigurationError as error:
                if name == settings.test_target:
                    raise
                log.warning("The target %s cannot be served: %s", name, error)
                unusable[name] = str(error)
                del targets[name]
        return open_(targets, settings)


def _rules(targets: Mapping[str, Target], settings: Settings) -> dict[str, Template]:
    names = {target.system_prompt for target in targets.values()}
    return {name: rules(name, settings.targets_directory) for name in sorted(names)}


def _unindexed(manifest: Manifest, name: str, target: Target) -> str:
    """Return which corpora lack the index that a target asks; empty if none does."""
    corpora = [c.id for c in manifest.corpora if c.id not in manifest.index.corpora]
    if target.vector_search != "hnsw" or not corpora:
        return ""
    return (
        f"{name} asks the index of vectors (VECTOR_SEARCH=hnsw), and {manifest.collection} was "
        f"built without one of {', '.join(corpora)}. Set VECTOR_SEARCH=hnsw in .env and build it "
        "again, which embeds nothing again, or take the setting out."
    )


def _unlike(manifest: Manifest, name: str, stated: Mapping[str, str]) -> str:
    """Return what a target file says of the collection and is not so; empty if all is."""
    origins = manifest.origins.values()
    own: Mapping[str, set[str]] = {
        "algorithm": {manifest.index.algorithm},
        "chroma_collection_name": {manifest.collection},
        "index_name": {manifest.collection},
        "embedding_model": {manifest.embedding.name, manifest.embedding.name.rpartition("/")[2]},
        "pooling": {manifest.embedding.pooling},
        "chunk_size": {str(origin.size) for origin in origins},
        "chunk_overlap": {str(origin.overlap) for origin in origins},
        # as LangChain's classes are called too
        "text_splitter_type": {
            form for o in origins for form in (o.splitter, f"{o.splitter}charactertextsplitter")
        },
    }
    for key, value in stated.items():
        if value.lower() not in {each.lower() for each in own[key]}:
            return (
                f"{name}.txt: {key.upper()}={value} is fixed when a collection is built, and "
                f"{manifest.collection} has {' and '.join(sorted(own[key]))}. Build one with it, "
                "or take the line out."
            )
    return ""


def open_beside(services: Services, settings: Settings) -> Services:
    """Another collection, or version, with the models, tracer and kept answers of `services`.

    Only its store is new: whoever is done with it forgets it, for to close it would close all.
    Raises as `open_services` does.
    """
    searcher = services.searcher
    store, terms = _open_store(settings, searcher.embedder)
    searcher = replace(searcher, store=store, terms=terms)
    answerer = replace(services.answerer, searcher=searcher)
    return replace(services, settings=settings, store=store, answerer=answerer)


def narrow_services(services: Services, corpora: Collection[str]) -> Services:
    """Limit services to some corpora, as if the collection held no others.

    "all" means the ones of `corpora` that it meant before, or every one if there is none.
    """
    from atlas_search.building.write import field_statistics  # who has no keys needs no building

    whole = services.store
    fields = field_statistics(whole.metadata(corpora))
    store = PermittedStore(whole, corpora, fields)
    served = [id_ for id_ in services.default_corpora if id_ in corpora]
    settings = services.settings.model_copy(update={"multi_corpus_metadata": ",".join(served)})
    answerer = replace(services.answerer, searcher=replace(services.searcher, store=store))
    return replace(services, settings=settings, store=store, answerer=answerer)


def _wanted_models(targets: Iterable[Target]) -> dict[str, frozenset[str]]:
    """The models that targets name, by provider."""
    models: dict[str, set[str]] = {}
    for target in targets:
        if target.llm_model:
            models.setdefault(target.llm_provider, set()).add(target.llm_model)
    return {provider: frozenset(names) for provider, names in models.items()}


def _open_store(settings: Settings, embedder: Embedder) -> tuple[LocalStore, TermLeg | None]:
    """The store of a collection, and the leg of its term weights if a model weighs terms."""
    folder = settings.collection_folder
    store = open_store(folder, QdrantPlace.of(settings))
    check_embedder(store.manifest, embedder, settings)
    served_corpora(settings, store)
    if (model := term_model(embedder)) is None:
        return store, None
    weights = TermTable.read(folder, model.fingerprint, model.name, store.text_digests())
    return store, TermLeg(model, weights)


def served_corpora(settings: Settings, store: Store) -> tuple[Corpus, ...]:
    """The corpora that MULTI_CORPUS_METADATA names, in its order; every one if it is empty."""
    names = [name.strip() for name in settings.multi_corpus_metadata.split(",") if name.strip()]
    if not names:
        return store.corpora
    try:
        return known_corpora(store, names)
    except UnknownCorpus as error:
        raise ConfigurationError(f"MULTI_CORPUS_METADATA: {error}") from error


def known_corpora(store: Store, ids: Iterable[str]) -> tuple[Corpus, ...]:
    """The corpora with these ids, each once. Raises UnknownCorpus, listing the known ones."""
    known = {corpus.id: corpus for corpus in store.corpora}
    ids = list(dict.fromkeys(ids))
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        raise UnknownCorpus(
            f'Unknown corpus {shown(unknown)}. Known corpora: {", ".join(known)}; or "all".'
        )
    return tuple(known[id_] for id_ in ids)


def load_targets(settings: Settings) -> dict[str, Target]:
    """Every target by name. Raises ConfigurationError if the default one is not among them."""
    folder = settings.targets_directory
    if not folder.is_dir():
        raise ConfigurationError(
            f"TARGETS_DIRECTORY={folder} is not a folder. Set it to the folder of your target "
            "files, or leave it out for the bundled ones."
        )
    defaults = environment_target()
    names = target_names(folder)
    if settings.test_target not in names:
        raise ConfigurationError(
            f"TEST_TARGET={settings.test_target} is not in {folder}. Known targets: "
            f"{', '.join(names) or 'none'}."
        )
    return {name: load_target(folder, name, defaults) for name in names}


def check_embedder(manifest: Manifest, embedder: Embedder, settings: Settings) -> None:
    """Raise EmbedderMismatch if a collection has the vectors of another model."""
    if manifest.embedding.fingerprint == embedder.fingerprint:
        return
    built = manifest.embedding
    pooling = built.pooling if built.pooling in get_args(PoolingChoice) else ""
    raise EmbedderMismatch(
        f"The collection {manifest.collection} was built with {built.name} ({built.pooling} "
        f"pooling, weights {built.digest[:12]}), and EMBEDDING_MODEL={settings.embedding_model} "
        f"with the other settings gives other vectors. Set EMBEDDING_MODEL={built.name}, "
        f"EMBEDDING_PROVIDER={built.provider}, POOLING={pooling}, "
        f"EMBEDDING_PASSAGE_PREFIX={built.passage_prefix!r} and "
        f"EMBEDDING_RUNTIME={ROUNDED if built.runtime.endswith(ROUNDED) else 'auto'}, or build "
        f"{settings.collection_folder} again with `atlas create` and the model you want."
    )
