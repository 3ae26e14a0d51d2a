"""A run from beginning to end: what is asked, by whom, judged and kept."""

import logging
import random
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError, ModelUnavailable, RequestError
from atlas_search.core.registry import DISTRIBUTION
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.asking import (
    Asker,
    ProcessAsker,
    RunTrace,
    Told,
    ask_all,
    no_one,
    run_trace,
    without_kept_answers,
)
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.label_fit import LabelCollection, OpenCollection
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.run import (
    PROCESS,
    EvalRun,
    LabelsUsed,
    RunSpec,
    labels_digest,
    means,
    run_id,
    score_all,
    versions,
)
from atlas_search.evaluation.scored import index_audit
from atlas_search.evaluation.statistics import FloatArray, interval
from atlas_search.providers.chat import Health
from atlas_search.providers.embedding import ROUNDED, Embedder, EmbedderInfo
from atlas_search.providers.open import EXTRACTIVE

SERVER = "server"
"""Whose version of Atlas is asked, among the versions of a run."""


@dataclass(frozen=True)
class Facts:
    """Facts about a target before it is asked, named as in RunSpec.

    `corpora` are those that questions without a choice of their own are asked of; `settings` are
    what answers depend on beside the `options`.
    """

    where: str
    target: str
    composite_target: str
    options: Mapping[str, Any]
    collection: str
    collection_version: str
    corpora: tuple[str, ...]
    settings: Mapping[str, str]
    versions: Mapping[str, str]


class Subject(Protocol):
    """A target that can be asked, and what its replies are judged with."""

    @property
    def facts(self) -> Facts:
        """Return the facts as they were when it was opened."""

    def now(self) -> Facts:
        """Return the facts of this moment. Raises AtlasError."""

    @property
    def tracer(self) -> Tracer:
        """Tracer of the run."""

    def asker(self, spec: RunSpec) -> Asker:
        """Return the asker for a run."""

    def tools(self, k: int | None) -> Tools:
        """Return the tools that its replies are judged with, of `k` passages where that is said."""

    def language_model(self) -> Health:
        """Return whether the language model that it writes with can be used, asked for now."""

    @property
    def documents(self) -> LabelCollection:
        """The documents that labels may be about."""


_SAME = ("target", "options", "where", "collection", "collection_version", "corpora", "settings")
"""What must be as it was for a run to go on."""


@dataclass(frozen=True)
class RunRequest:
    """Request of a run, whoever is asked, named as in RunSpec."""

    today: date
    search_only: bool = False
    k: int | None = None
    limit: int | None = None
    seed: int = 0
    parallel: int = 1
    command: str = ""
    id: str = field(default_factory=run_id)


@dataclass(frozen=True)
class RunQuestions:
    """The questions of a run, and where they are from."""

    path: Path
    split: str
    labels: tuple[Label, ...]

    @property
    def used(self) -> LabelsUsed:
        """Return the labels as a run names them."""
        return LabelsUsed(
            name=self.path.name,
            sha256=labels_digest(self.labels),
            split=self.split,
            questions=len(self.labels),
        )


def choose_questions(
    path: Path, split: str, labels: Sequence[Label], limit: int | None, seed: int
) -> RunQuestions:
    """The questions to ask: all, or `limit` drawn at random, in their order.

    Always the same for the same seed.
    """
    if limit is not None and limit < len(labels):
        drawn = sorted(random.Random(seed).sample(range(len(labels)), limit))
        labels = [labels[place] for place in drawn]
    return RunQuestions(path, split, tuple(labels))


def begin_run(
    folder: RunFolder, subject: Subject, questions: RunQuestions, wanted: RunRequest
) -> RunSpec:
    """Write down what is asked of whom. Raises AtlasError if the folder holds a run already."""
    spec = RunSpec(
        started=datetime.now(UTC), labels=questions.used, **vars(subject.facts), **vars(wanted)
    )
    folder.begin(spec, questions.labels)
    return spec


def check_same(folder: RunFolder, subject: Subject) -> None:
    """Raise AtlasError if a run cannot go on: it would mix what cannot be compared."""
    spec, facts = folder.spec(), subject.facts
    if labels_digest(folder.labels()) != spec.labels.sha256:
        raise AtlasError(
            f"The questions of {folder.path} were changed after it began. Begin a new run."
        )
    for change in changes(spec, facts):
        raise AtlasError(
            f"{folder.path} cannot go on: {change}. Make it as it was, or begin a new run."
        )


def changes(spec: RunSpec, facts: Facts) -> Iterator[str]:
    """Yield a clause for each thing that is not as it was when a run began."""
    pairs = {name: (getattr(spec, name), getattr(facts, name)) for name in _SAME}
    pairs["version of Atlas"] = (_own_versions(spec.versions), _own_versions(facts.versions))
    for name, (then, now) in pairs.items():
        if then != now:
            yield f"{name} was {_shown(then, now)} and is {_shown(now, then)}"


def _own_versions(versions: Mapping[str, str]) -> dict[str, str]:
    """Return the versions of Atlas here and on the server.

    A library may be another and answer the same.
    """
    return {name: versions[name] for name in (DISTRIBUTION, SERVER) if name in versions}


def _shown(value: object, other: object) -> str:
    """A value; of a mapping what the other one has otherwise."""
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        unlike = sorted(name for name in {*value, *other} if value.get(name) != other.get(name))
        return ", ".join(f"{name}={value.get(name)}" for name in unlike)
    return str(value)


@dataclass(frozen=True)
class RunOutcome:
    """A run as far as it came: `missing` counts questions that were not asked.

    An interrupt `stopped` it. `changed` says what was not as before when all were asked,
    `troubles` what else failed, or could not be read and was asked again.
    """

    run: EvalRun
    missing: int
    stopped: bool
    changed: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def fallbacks(self) -> int:
        """Answers that the sources' own sentences gave in place of a language model."""
        answers = (one.reply.answer for one in self.run.scored)
        return sum(answer is not None and answer.fallback is not None for answer in answers)

    @property
    def complete(self) -> bool:
        """Return whether every question has a reply with all figures it can have."""
        return not (self.stopped or self.missing or self.run.failed or self.run.lacking)


def carry_out(
    folder: RunFolder, subject: Subject, *, parallel: int | None = None, told: Told = no_one
) -> RunOutcome:
    """Ask what has no reply yet, or one that failed, `parallel` at once; write all figures.

    Where all figures are there, they stay as they are, a judge's too; else all are computed anew.
    An interrupt ends the asking, and what came back has figures. Raises AtWork if another
    process is at work on the folder.
    """
    spec = folder.spec()
    with (
        folder.held(),
        folder.naming("run"),
        run_trace(subject.tracer, spec.id) as trace,
    ):
        damaged = folder.set_aside_damage()
        due = missing(folder)
        stopped = _ask(folder, subject, due, trace, parallel or spec.parallel, told)
        _write_figures(folder, subject, spec, asked={label.id for label in due})
        run = folder.load()
        trace.describe(spec.composite_target, len(run.scored), means(run.scored))
    return RunOutcome(
        run,
        spec.labels.questions - len(run.scored),
        stopped,
        () if stopped else _changed(spec, subject),
        tuple(f"Asked again, for it could not be read: {each}" for each in damaged),
    )


def so_far(folder: RunFolder) -> RunOutcome:
    """Return what can be read of a run, without asking anything."""
    damaged: list[str] = []
    run = folder.load(lambda error: damaged.append(str(error)))
    return RunOutcome(
        run,
        run.spec.labels.questions - len(run.scored),
        stopped=False,
        troubles=tuple(dict.fromkeys(damaged)),
    )


def _write_figures(
    folder: RunFolder, subject: Subject, spec: RunSpec, asked: Collection[str]
) -> None:
    """Write the figures of all questions, if one lacks some or has another reply since."""
    labels, replies = folder.labels(), folder.replies()
    scored = folder.load(lambda _: None).scored  # without what cannot be read
    known = {one.label.id for one in scored if not one.lacking} - set(asked)
    if any(id_ in replies and id_ not in known for id_ in (label.id for label in labels)):
        folder.finish(score_all(labels, replies.values(), subject.tools(spec.k)))


def missing(folder: RunFolder) -> list[Label]:
    """The questions that have no reply, or one that failed."""
    came = {id_ for id_, reply in folder.replies().items() if not reply.error}
    return [label for label in folder.labels() if label.id not in came]


def _changed(spec: RunSpec, subject: Subject) -> tuple[str, ...]:
    try:
        return tuple(changes(spec, subject.now()))
    except AtlasError as error:
        return (f"it does not say ({error})",)


def _ask(
    folder: RunFolder,
    subject: Subject,
    due: Sequence[Label],
    trace: RunTrace,
    parallel: int,
    told: Told,
) -> bool:
    """Ask; whether an interrupt ended it."""
    try:
        asker = subject.asker(folder.spec())
        ask_all(asker, due, trace, folder.add, parallel=parallel, told=told)
    except KeyboardInterrupt:
        return True
    return False


def judging_tools(embedder: Embedder, corpora: Sequence[str], k: int) -> Tools:
    """The usual ones, for questions that were to bring `k` passages, with figures at that depth."""
    usual = Tools(embedder, corpora=tuple(corpora), limit=k)
    return replace(usual, depths=tuple(sorted({*usual.depths, k})))


@dataclass(frozen=True)
class ProcessSubject:
    """Subject in this process; `target` is the name of one of the collection's targets."""

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
    def documents(self) -> LabelCollection:  # noqa: D102
        return OpenCollection(self.atlas)


def model_settings(embedder: EmbedderInfo) -> dict[str, str]:
    """Return what a run says of the embedding model, and which library runs it if that is known."""
    runtime, *_ = embedder.runtime.split() or [""]  # without its version, which is among others
    runtime = ROUNDED if embedder.runtime.endswith(ROUNDED) else runtime
    return {
        "embedding_provider": embedder.provider,
        "embedding_model": embedder.name,
        "embedding_digest": embedder.digest,
        "pooling": embedder.pooling,
        **({"embedding_runtime": runtime} if runtime else {}),
    }


_log = logging.getLogger(__name__)


def check_index_is_here(where: str) -> None:
    """Raise RequestError unless the run asks a collection that is open in this process."""
    if where != PROCESS:
        raise RequestError(
            f"--audit-index reads every vector of a collection, and {where} does not give them. "
            "Run it without --url where the collection is, or leave --audit-index out."
        )


def with_index_audit(folder: RunFolder, subject: Subject, outcome: RunOutcome) -> RunOutcome:
    """The outcome with the recall of the index, which is kept with the run.

    As many passages are compared as a search of all corpora draws from each. A run that was
    interrupted, or asks a server, is not audited. What fails of it is a trouble of the outcome, and
    named in the reports.
    """
    if outcome.stopped or not isinstance(subject, ProcessSubject):
        return outcome
    _, target = subject.atlas.services.target(subject.target)
    try:
        with folder.naming("audit"):
            questions = [label.question for label in folder.labels()]
            depth = target.large_retrieval_size_all_corpus
            spec = folder.audited(*index_audit(subject.atlas, questions, depth))
    except Exception as error:
        if not isinstance(error, AtlasError):
            _log.exception("The index cannot be audited.")
        failed = f"The index was not audited: {folder.troubles().get('audit', error)}"
        return replace(outcome, troubles=(*outcome.troubles, failed))
    return replace(outcome, run=replace(outcome.run, spec=spec))


def require_language_model(subject: Subject) -> None:
    """Raise RequestError for a target without one, ModelUnavailable if it cannot be used now."""
    facts = subject.facts
    provider = facts.options["llm_provider"]
    if provider == EXTRACTIVE:
        raise RequestError(
            f"The target {facts.target} answers in the sources' own sentences. Name one with a "
            "language model, or leave out --require-llm."
        )
    health = subject.language_model()
    if not health.ready:
        raise ModelUnavailable(
            f"The language model of {facts.target} cannot be used: {health.detail}"
        )


_PERCENTILES = (50, 95)

Ends = tuple[float, float]
"""Between what a value lies in 95 of 100 samples like it."""


@dataclass(frozen=True)
class Spread:
    """The median and the 95th percentile of `count` values with their intervals."""

    p50: float
    p95: float
    count: int
    p50_interval: Ends
    p95_interval: Ends


@dataclass(frozen=True)
class Operations:
    """Time, tokens and money that the questions of a run took; None where nothing is known.

    Intervals are by the bootstrap over the questions, as those of figures.

    `seconds` are those the asker waited, `stages_ms` the milliseconds of each stage as whoever
    answered measured them, in the order in which they come. `tokens_per_second` are those written
    in a second of a question that a language model wrote for, searching included. `cost_per_100`
    is in the currency of the target's prices. Of kept answers (`cache_hits`, a share) only the
    `seconds` count. `retried` questions were asked more than once, `fallbacks` were not answered
    by the target's language model.
    """

    questions: int
    failed: int
    retried: int
    fallbacks: int
    cache_hits: float
    seconds: Spread | None
    stages_ms: dict[str, Spread]
    prompt_tokens: int
    completion_tokens: int
    tokens_per_second: float | None
    cost_per_100: float | None
    tokens_per_second_interval: Ends | None = None
    cost_per_100_interval: Ends | None = None


def operations(run: EvalRun) -> Operations:
    """Return what the questions of a run took. Those that failed count as `failed` alone."""
    replies = [one.reply for one in run.scored]
    came = [reply for reply in replies if not reply.error]
    kept = [reply for reply in came if reply.answer and reply.answer.cache_hit]
    fresh = [reply for reply in came if not (reply.answer and reply.answer.cache_hit)]
    answers = [reply.answer for reply in fresh if reply.answer]
    tokens, costs = _tokens_and_seconds(fresh), _costs(fresh)
    return Operations(
        questions=len(replies),
        failed=len(replies) - len(came),
        retried=sum(reply.tries > 1 for reply in replies),
        fallbacks=sum(answer.fallback is not None for answer in answers),
        cache_hits=len(kept) / len(came) if came else 0.0,
        seconds=_spread([reply.seconds for reply in came]),
        stages_ms=_stages(fresh),
        prompt_tokens=sum(answer.usage.prompt_tokens for answer in answers),
        completion_tokens=sum(answer.usage.completion_tokens for answer in answers),
        tokens_per_second=_ratio(tokens),
        cost_per_100=_ratio(costs),
        tokens_per_second_interval=_ratio_interval(tokens),
        cost_per_100_interval=_ratio_interval(costs),
    )


def _stages(replies: Sequence[Reply]) -> dict[str, Spread]:
    values: dict[str, list[float]] = {}
    for reply in replies:
        for stage, milliseconds in reply.timings_ms.items():
            values.setdefault(stage, []).append(milliseconds)
    return {stage: spread for stage, found in values.items() if (spread := _spread(found))}


def _tokens_and_seconds(replies: Iterable[Reply]) -> list[tuple[float, float]]:
    """Return the tokens and seconds of each question that a language model wrote for."""
    return [
        (reply.answer.usage.completion_tokens, reply.seconds)
        for reply in replies
        if reply.answer and reply.answer.usage.completion_tokens
    ]


def _costs(replies: Iterable[Reply]) -> list[tuple[float, float]]:
    """100 times the cost of each question, and 1; empty unless a cost is known.

    Who needed no model cost nothing.
    """
    costs = [reply.answer.usage.cost for reply in replies if reply.answer]
    known = any(cost is not None for cost in costs)
    return [(100 * (cost or 0.0), 1.0) for cost in costs] if known else []


def _ratio(pairs: Sequence[tuple[float, float]]) -> float | None:
    """The sum of the first ones / that of the second ones."""
    below = sum(second for _, second in pairs)
    return sum(first for first, _ in pairs) / below if below else None


def _ratio_interval(pairs: Sequence[tuple[float, float]]) -> Ends | None:
    if _ratio(pairs) is None:
        return None
    above, below = np.array(pairs, dtype=float).T
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = interval(lambda drawn: (drawn @ above) / (drawn @ below), len(pairs))
    return float(low), float(high)


def _spread(values: Sequence[float]) -> Spread | None:
    if not values:
        return None
    p50, p95 = np.percentile(values, _PERCENTILES)
    (low50, low95), (high50, high95) = interval(_percentiles(values), len(values)).tolist()
    return Spread(float(p50), float(p95), len(values), (low50, high50), (low95, high95))


def _percentiles(values: Sequence[float]) -> Callable[[FloatArray], FloatArray]:
    """The percentiles of samples, given how often each value was drawn, as NumPy has them."""
    ordered, order, count = np.sort(values), np.argsort(values, kind="stable"), len(values)

    def percentiles(drawn: FloatArray) -> FloatArray:
        reached = np.cumsum(drawn[:, order], axis=1)
        found = []
        for percent in _PERCENTILES:
            place, part = divmod(percent / 100 * (count - 1), 1)
            below = ordered[(reached <= place).sum(axis=1)]
            above = ordered[(reached <= min(place + 1, count - 1)).sum(axis=1)]
            found.append(below + part * (above - below))
        return np.stack(found, axis=1)

    return percentiles
