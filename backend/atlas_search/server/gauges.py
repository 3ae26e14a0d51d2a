"""What the server holds now: asked when somebody reads its metrics."""

from collections.abc import Callable, Mapping, Sequence

from atlas_search.answer.cache import AnswerCache
from atlas_search.core.stop import Turns
from atlas_search.core.telemetry.metrics import Labels, Metrics, Read, Reading, process_readings
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.chat import ModelCalls
from atlas_search.server.collections import Collections
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.listen import Listener
from atlas_search.server.runs import Runs
from atlas_search.stores.manifest import Manifest


def observe_server(metrics: Metrics, collections: Collections, runs: Runs, jobs: Jobs) -> None:
    """Ask from now on what is served, kept and being worked on."""
    # only what belongs to the process: a version that is held here would never be closed
    services = collections(collections.default).services
    calls, turns = services.calls, services.answerer.turns
    metrics.observe("process", process_readings())
    metrics.observe("store", _stored(collections.held))
    metrics.observe("cache", _kept(services.answerer.cache))
    metrics.observe("spans", _spans(services.tracer))
    metrics.observe("server", {"atlas.queue.size": lambda: _queues(calls, turns, runs, jobs)})


def observe_listener(metrics: Metrics, listener: Listener) -> None:
    """Ask from now on for connections, and requests that wait for a thread."""
    capacity = listener.capacity
    metrics.observe(
        "listener",
        {
            "atlas.connections": lambda: [(listener.connections, {})],
            "atlas.requests.refused": lambda: [
                (capacity.refused, {"reason": "threads"}),
                (listener.refused, {"reason": "connections"}),
            ],
            "atlas.queue.size": lambda: _queue(
                "requests", capacity.inside - capacity.waiting, capacity.waiting
            ),
        },
    )


def _queues(calls: ModelCalls, turns: Turns, runs: Runs, jobs: Jobs) -> list[Reading]:
    return [
        (runs.running, {"queue": "answers", "state": "running"}),
        *_queue("model_calls", calls.running, calls.waiting),
        *_queue("turns", turns.running, turns.waiting),
        *_queue("jobs", *jobs.at_work()),
    ]


def _queue(name: str, running: int, waiting: int) -> list[Reading]:
    return [
        (running, {"queue": name, "state": "running"}),
        (waiting, {"queue": name, "state": "waiting"}),
    ]


def _kept(cache: AnswerCache) -> Mapping[str, Read]:
    return {
        "atlas.cache.lookups": lambda: [
            (cache.hits, {"result": "hit"}),
            (cache.misses, {"result": "miss"}),
        ],
        "atlas.cache.answers": lambda: [(cache.kept, {})],
    }


def _spans(tracer: Tracer) -> Mapping[str, Read]:
    return {
        "atlas.spans": lambda: [
            (tracer.exported, {"outcome": "exported"}),
            (tracer.dropped, {"outcome": "dropped"}),
        ],
        "atlas.spans.held": lambda: [
            (tracer.open_spans, {"state": "open"}),
            (tracer.waiting, {"state": "waiting"}),
        ],
    }


def _stored(held: Callable[[], Sequence[Manifest]]) -> Mapping[str, Read]:
    return {
        "atlas.store.documents": lambda: [
            (corpus.documents, _of(manifest, corpus=corpus.id))
            for manifest in held()
            for corpus in manifest.corpora
        ],
        "atlas.store.passages": lambda: [
            (corpus.passages, _of(manifest, corpus=corpus.id))
            for manifest in held()
            for corpus in manifest.corpora
        ],
        "atlas.store.size": lambda: [
            (size, _of(manifest, part=part))
            for manifest in held()
            for part, size in manifest.sizes.items()
        ],
        "atlas.store.version": lambda: [
            (1, _of(manifest, version=manifest.version, embedding=manifest.embedding.name))
            for manifest in held()
        ],
    }


def _of(manifest: Manifest, **labels: str) -> Labels:
    return {"collection": manifest.collection, **labels}
