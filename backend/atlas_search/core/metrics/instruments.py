"""Every instrument: its name, what it counts, and its labels.

Names follow OpenTelemetry's semantic conventions where they have one, else they begin with `atlas`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["counter", "histogram", "total", "gauge"]
"""A `counter` is added to and a `histogram` given values; a `total`, which only grows, and a
`gauge` are asked when somebody reads them."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 120)
_SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LONG = (1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600)
_CANDIDATES = (0, 1, 5, 10, 25, 50, 100, 150, 200, 300, 400, 500, 1000)
_PASSAGES = (0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50)
# both as the conventions of gen_ai say
_CALLS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216)


@dataclass(frozen=True)
class Instrument:
    """One instrument; `buckets` are the upper bounds of a histogram's, ascending."""

    name: str
    kind: Kind
    unit: str
    labels: tuple[str, ...]
    meaning: str
    buckets: Sequence[float] = ()


_MODEL = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")
_CORPUS = ("collection", "corpus")

INSTRUMENTS: Mapping[str, Instrument] = {
    each.name: each
    for each in (
        Instrument(
            "http.server.request.duration",
            "histogram",
            "s",
            ("http.request.method", "http.route", "http.response.status_code"),
            "Requests, until the last byte was handed over",
            SECONDS,
        ),
        Instrument(
            "atlas.requests.refused",
            "total",
            "{request}",
            ("reason",),
            "Requests for which no thread, and connections for which no place was free",
        ),
        Instrument(
            "atlas.searches",
            "counter",
            "{search}",
            ("target", "outcome"),
            "Searches: `found`, `nothing`, or the error",
        ),
        Instrument(
            "atlas.answers",
            "counter",
            "{answer}",
            ("target", "mode", "decision", "reason", "cached"),
            "Answers by their decision; `ERROR` and `CANCELLED` are those that came to none",
        ),
        Instrument(
            "atlas.answer.duration",
            "histogram",
            "s",
            ("target", "mode", "decision"),
            "What an answer took, waiting for its turn included",
            SECONDS,
        ),
        Instrument(
            "atlas.stage.duration",
            "histogram",
            "s",
            ("operation", "stage"),
            "What a stage of a `search`, an `answer` or a `compare` took",
            _SHORT,
        ),
        Instrument(
            "atlas.corpus.candidates",
            "histogram",
            "{passage}",
            _CORPUS,
            "Candidates of a corpus in one search",
            _CANDIDATES,
        ),
        Instrument(
            "atlas.corpus.kept",
            "histogram",
            "{passage}",
            _CORPUS,
            "Passages of a corpus that one search kept",
            _PASSAGES,
        ),
        Instrument(
            "atlas.corpus.cited",
            "histogram",
            "{citation}",
            _CORPUS,
            "Places of a corpus that one answer cites; declined ones are not counted",
            _PASSAGES,
        ),
        Instrument(
            "gen_ai.client.operation.duration",
            "histogram",
            "s",
            (*_MODEL, "error.type"),
            "Calls of language models; failed ones name their error",
            _CALLS,
        ),
        Instrument(
            "gen_ai.client.token.usage",
            "histogram",
            "{token}",
            (*_MODEL, "gen_ai.token.type"),
            "Tokens of one call: `input` and `output`",
            _TOKENS,
        ),
        Instrument(
            "atlas.cost",
            "counter",
            "{currency}",
            ("target", "provider", "model"),
            "What language models cost, in the currency of the targets' prices",
        ),
        Instrument(
            "atlas.cache.lookups",
            "total",
            "{lookup}",
            ("result",),
            "Questions looked up among the kept answers: `hit` or `miss`",
        ),
        Instrument("atlas.cache.answers", "gauge", "{answer}", (), "Answers that are kept now"),
        Instrument(
            "atlas.queue.size",
            "gauge",
            "{item}",
            ("queue", "state"),
            "What is `running` and what is `waiting`: `answers`, `model_calls`, `turns` at "
            "searching, `requests`, `jobs`",
        ),
        Instrument("atlas.connections", "gauge", "{connection}", (), "Open connections"),
        Instrument(
            "atlas.job.duration",
            "histogram",
            "s",
            ("kind", "state"),
            "Jobs that change a collection, by how they ended",
            _LONG,
        ),
        Instrument(
            "atlas.job.documents",
            "counter",
            "{document}",
            ("collection", "change"),
            "Documents that jobs `added`, `changed` and `removed`",
        ),
        Instrument(
            "atlas.spans",
            "total",
            "{span}",
            ("outcome",),
            "Spans of traces that were `exported` or `dropped`",
        ),
        Instrument(
            "atlas.spans.held",
            "gauge",
            "{span}",
            ("state",),
            "Spans that are `open` (roots alone if none are sent), and those `waiting` to be sent",
        ),
        Instrument(
            "atlas.feedback",
            "counter",
            "{vote}",
            ("name", "value"),
            "Votes on answers",
        ),
        Instrument(
            "atlas.store.documents", "gauge", "{document}", _CORPUS, "Documents of what is served"
        ),
        Instrument(
            "atlas.store.passages", "gauge", "{passage}", _CORPUS, "Passages of what is served"
        ),
        Instrument("atlas.store.size", "gauge", "By", ("collection", "part"), "Its bytes on disk"),
        Instrument(
            "atlas.store.version",
            "gauge",
            "{version}",
            ("collection", "version", "embedding"),
            "1 for the version that is served",
        ),
        Instrument("process.memory.usage", "gauge", "By", (), "Resident memory of the server"),
        Instrument(
            "process.cpu.time", "total", "s", ("cpu.mode",), "Processor time: `user` and `system`"
        ),
        Instrument("process.thread.count", "gauge", "{thread}", (), "Threads of the server"),
        Instrument(
            "process.unix.file_descriptor.count", "gauge", "{file_descriptor}", (), "Open files"
        ),
        Instrument("process.uptime", "gauge", "s", (), "Since the server began"),
    )
}
"""By name."""
