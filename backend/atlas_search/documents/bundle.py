"""Run bundles: all that is needed to search again as an answer was searched, and what came of it.

A bundle is one JSON file. `atlas_search.documents.bundle` searches again with it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError
from rich.console import Console
from rich.text import Text

from atlas_search.answer.answer import Answer
from atlas_search.answer.compare import search_each
from atlas_search.answer.request import Mode
from atlas_search.core.domain import CheckedPassage, Decision
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import __version__
from atlas_search.core.targets import Target
from atlas_search.search.flow import search
from atlas_search.search.ranking import SCORERS
from atlas_search.search.request import SearchPlan
from atlas_search.search.rerankers import known_rerankers
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.search.scope import ScopeOut
from atlas_search.stores.filters import DOCUMENT_ID, PASSAGE_FIELDS, Condition
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import Store

BUNDLE_VERSION = 1


class _Part(BaseModel):
    # infinite ends of a filter's range are numbers JSON does not have
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class QuestionUsed(_Part):
    """The question as it was searched for: with `standalone` in its place unless that is empty.

    The other fields are those of `SearchPlan`; `as_of` is the day ages are counted from.
    Earlier bundles have no `max_per_document`: the cap was always the target's. Nor have they
    `soft_cap`: every cap was one.
    """

    question: str
    standalone: str
    corpora: tuple[str, ...]
    every_corpus: bool
    filters: Mapping[str, Condition]
    k: int
    fuzzy: bool
    exact: bool
    freshness_days: int
    as_of: date
    require: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_per_document: int | None = None
    soft_cap: bool = True
    mode: Mode


class TargetUsed(_Part):
    """A target by name, with every setting it had."""

    name: str
    settings: Mapping[str, Any]


class CollectionUsed(_Part):
    """The collection that was searched."""

    name: str
    version: str
    content_digest: str


class EmbeddingUsed(_Part):
    """The embedding model, and what makes its vectors comparable."""

    name: str
    fingerprint: str


class RankedUsed(_Part):
    """A kept passage, with the score and signals that placed it."""

    passage_id: str
    score: float
    signals: Mapping[str, float]


class MessageUsed(_Part):
    """One message of the prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


class ConversationUsed(_Part):
    """The numbers of earlier turns that the prompt holds, and that it has no room for."""

    turns: int = 0
    turns_dropped: int = 0


class WrittenBy(_Part):
    """The writer, its attempts and tokens. `fallback` says why it was not the target's model."""

    provider: str
    model: str
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    fallback: str


class BundledAnswer(_Part):
    """The outcome: `text` is empty unless the decision is ANSWER."""

    decision: Decision
    reason: str
    text: str
    markers: tuple[str, ...]


class RunBundle(_Part):
    """One run: the question, what it was asked of, what was found and what was answered.

    `scope` says what was searched; earlier bundles have none. `ranked` are the kept passages, best
    first; `prompt` is empty if no language model was asked. Earlier bundles do not count the turns
    of the `conversation`.
    """

    bundle_version: Literal[1]
    atlas_version: str
    created: AwareDatetime
    qa_id: str
    session_id: str
    trace_id: str
    asked: QuestionUsed
    target: TargetUsed
    collection: CollectionUsed
    embedding: EmbeddingUsed
    scope: ScopeOut | None = None
    ranked: tuple[RankedUsed, ...]
    prompt: tuple[MessageUsed, ...]
    conversation: ConversationUsed = ConversationUsed()
    writer: WrittenBy
    answered: BundledAnswer

    def to_json(self) -> str:
        """The bundle as a file's content."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, place: str) -> Self:
        """Read a bundle. Raises SourceError, naming `place`, for what is none of this version."""
        try:
            content = json.loads(text)
        except ValueError as error:
            raise SourceError(f"{place} is not a run bundle: it is not JSON ({error}).") from error
        version = content.get("bundle_version") if isinstance(content, dict) else None
        if version is None:
            raise SourceError(
                f"{place} is not a run bundle: it has no bundle_version. Export one from an "
                "answer, with the format `bundle`."
            )
        if version != BUNDLE_VERSION:
            raise SourceError(
                f"{place} is a run bundle of version {version}; this Atlas ({__version__}) reads "
                f"{BUNDLE_VERSION}. Replay it with Atlas {content.get('atlas_version', '?')}."
            )
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            raise SourceError(
                f"{place} is a damaged run bundle: {field}: {first['msg']}. Export it again."
            ) from error


def read_bundle(path: Path) -> RunBundle:
    """The bundle in a file. Raises SourceError."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    return RunBundle.from_json(content, str(path))


def bundle_of(answer: Answer, manifest: Manifest) -> RunBundle:
    """The run that came to `answer`; `manifest` is that of the version it was searched in."""
    request = answer.request
    return RunBundle(
        bundle_version=BUNDLE_VERSION,
        atlas_version=__version__,
        created=answer.created,
        qa_id=request.qa_id,
        session_id=request.session_id,
        trace_id=answer.trace_id,
        asked=_question_of(answer),
        target=TargetUsed(
            name=request.target_name, settings=request.target.model_dump(mode="json")
        ),
        collection=CollectionUsed(
            name=manifest.collection,
            version=manifest.version,
            content_digest=manifest.content_digest,
        ),
        embedding=EmbeddingUsed(
            name=manifest.embedding.name, fingerprint=manifest.embedding.fingerprint
        ),
        scope=ScopeOut.model_validate(answer.scope),
        ranked=tuple(
            RankedUsed(
                passage_id=item.passage.id, score=item.ranked.score, signals=item.ranked.signals
            )
            for item in answer.result.passages
        ),
        prompt=tuple(
            MessageUsed(role=message.role, content=message.content)
            for message in answer.context.messages
        ),
        conversation=ConversationUsed(
            turns=answer.context.turns, turns_dropped=answer.context.turns_dropped
        ),
        writer=_writer(answer),
        answered=BundledAnswer(
            decision=answer.outcome.decision,
            reason=answer.outcome.code,
            text=answer.text,
            markers=tuple(citation.marker for citation in answer.citations),
        ),
    )


_SHARED = QuestionUsed.model_fields.keys() & {field.name for field in fields(SearchPlan)}
"""What a bundle keeps of a plan as it is."""


def _question_of(answer: Answer) -> QuestionUsed:
    search = answer.request.search
    own: dict[str, Any] = {name: getattr(search, name) for name in _SHARED}
    return QuestionUsed(
        **own,
        standalone=answer.standalone,
        k=search.limit,
        as_of=search.today,
        mode=answer.request.mode,
    )


def _writer(answer: Answer) -> WrittenBy:
    writer = answer.writer
    return WrittenBy(
        provider=writer.provider,
        model=writer.model,
        attempts=writer.attempts,
        prompt_tokens=writer.usage.prompt_tokens,
        completion_tokens=writer.usage.completion_tokens,
        fallback=writer.fallback.code if writer.fallback else "",
    )


TOLERANCE = 1e-6
"""Scores that differ by more count as changed."""


@dataclass(frozen=True)
class UnsharedPassage:
    """A passage that only one of the runs kept: its rank there, from 1, and its score.

    `exists` is false if the collection no longer holds it.
    """

    passage_id: str
    rank: int
    score: float
    exists: bool = True


@dataclass(frozen=True)
class ChangedPassage:
    """A passage that both runs kept, with another rank or score."""

    passage_id: str
    old_rank: int
    new_rank: int
    old_score: float
    new_score: float

    @property
    def moved(self) -> bool:
        """True if its rank is another."""
        return self.old_rank != self.new_rank

    @property
    def rescored(self) -> bool:
        """True if its scores differ by more than TOLERANCE."""
        return abs(self.old_score - self.new_score) > TOLERANCE


@dataclass(frozen=True)
class Replay:
    """The changes since a run. `notes` are differences in the collection, scope and models.

    `then` and `now` count the kept passages. `entered` and `changed` are in order of their rank
    now, `left` of their rank then.
    """

    notes: tuple[str, ...]
    then: int
    now: int
    entered: tuple[UnsharedPassage, ...]
    left: tuple[UnsharedPassage, ...]
    changed: tuple[ChangedPassage, ...]

    @property
    def identical(self) -> bool:
        """True if the same passages were kept, with the same ranks and scores."""
        return not (self.entered or self.left or self.changed)


def replay(searcher: Searcher, bundle: RunBundle) -> Replay:
    """Search again as `bundle` says, in the collection as it is now.

    Corpora that are gone are left out, settings that are unknown ignored, both with a note. Raises
    SourceError for a target that cannot be used, and what the search raises.
    """
    target, about_target = _target(bundle)
    passages = _search(SearchRun(searcher, _request(searcher, bundle, target), target), bundle)
    notes = [*_notes(searcher, bundle), *about_target, *_missing_stage(searcher, target)]
    return _compare(searcher.store, bundle, passages, notes)


def print_replay(console: Console, replayed: Replay) -> None:
    """Print each change on a line."""
    for line in _lines(replayed):
        console.print(Text(line), soft_wrap=True)


def _target(bundle: RunBundle) -> tuple[Target, list[str]]:
    """The target as it was, with a note on settings that came or went since."""
    then = bundle.target.settings
    gone = [name for name in then if name not in Target.model_fields]
    new = [name for name in Target.model_fields if name not in then]
    known = {name: value for name, value in then.items() if name not in gone}
    try:
        target = Target.model_validate(known)
    except ValidationError as error:
        first = error.errors()[0]
        raise SourceError(
            f"The target {bundle.target.name} of the run cannot be used: "
            f"{first['loc'][0]}={first['input']!r}: {first['msg']}. "
            f"Replay it with Atlas {bundle.atlas_version}."
        ) from error
    if target.reranker not in known_rerankers():
        raise SourceError(
            f"The target {bundle.target.name} of the run cannot be used: "
            f"reranker={target.reranker!r}: there is no such reranker here. Install the package "
            f"it came from, or replay it with Atlas {bundle.atlas_version}."
        )
    notes = []
    if gone:
        notes.append(f"Settings that Atlas no longer has are ignored: {', '.join(gone)}.")
    if new:
        notes.append(f"Settings the run did not have are at their defaults: {', '.join(new)}.")
    return target, notes


def _request(searcher: Searcher, bundle: RunBundle, target: Target) -> SearchPlan:
    question = bundle.asked
    known = _corpora(searcher.store)
    own: dict[str, Any] = {name: getattr(question, name) for name in _SHARED} | {
        "question": question.standalone or question.question,
        "corpora": tuple(corpus for corpus in question.corpora if corpus in known),
        "max_per_document": question.max_per_document or target.max_passages_per_document,
    }
    return SearchPlan(**own, limit=question.k, today=question.as_of)


def _search(run: SearchRun, bundle: RunBundle) -> list[CheckedPassage]:
    if not run.request.corpora:
        return []
    if bundle.asked.mode == "answer":
        return list(search(run).passages)
    results = search_each(run).values()
    passages = [item for result in results for item in result.passages]
    return sorted(passages, key=lambda item: (-item.ranked.score, item.passage.row))


def _notes(searcher: Searcher, bundle: RunBundle) -> Iterator[str]:
    """The differences in what was searched, apart from the target's settings."""
    then, now = bundle.collection, searcher.store.manifest
    if bundle.atlas_version != __version__:
        yield f"The run was made by Atlas {bundle.atlas_version}; this is {__version__}."
    if then.name != now.collection:
        yield f"The run searched the collection {then.name}; this is {now.collection}."
    if then.content_digest != now.content_digest:
        yield f"The collection has other content: version {now.version}, then {then.version}."
    elif then.version != now.version:
        yield f"The collection has the same content in version {now.version}, then {then.version}."
    if bundle.embedding.fingerprint != searcher.embedder.fingerprint:
        name = searcher.embedder.info.name
        yield f"The embedding model is another: {name}, then {bundle.embedding.name}."
    yield from _scope_notes(searcher.store, bundle)


def _scope_notes(store: Store, bundle: RunBundle) -> Iterator[str]:
    question, corpora = bundle.asked, _corpora(store)
    gone = [corpus for corpus in question.corpora if corpus not in corpora]
    new = [corpus for corpus in corpora if corpus not in question.corpora]
    fields = {*store.manifest.fields, DOCUMENT_ID, *PASSAGE_FIELDS}
    unknown = [field for field in question.filters if field not in fields]
    if gone:
        yield f"Corpora that are no longer in the collection: {', '.join(gone)}."
    if new and question.every_corpus:
        yield f"Corpora the run did not search, nor does this: {', '.join(new)}."
    if unknown:
        yield f"Filters on fields that no document has any more: {', '.join(unknown)}."


def _missing_stage(searcher: Searcher, target: Target) -> Iterator[str]:
    stage = (target.reranker, target.rerank_model)
    if target.reranker not in SCORERS and stage not in searcher.stages:
        yield (
            f"The model of the reranker {target.reranker} is not open, so it did not read the "
            "passages again. Name it in a target file, with RERANKER and RERANK_MODEL."
        )


def _corpora(store: Store) -> list[str]:
    return [corpus.id for corpus in store.corpora]


def _compare(
    store: Store, bundle: RunBundle, passages: Sequence[CheckedPassage], notes: Sequence[str]
) -> Replay:
    old = _ranks((item.passage_id, item.score) for item in bundle.ranked)
    new = _ranks((item.passage.id, item.ranked.score) for item in passages)
    both = [
        ChangedPassage(id_, old[id_].rank, kept.rank, old[id_].score, kept.score)
        for id_, kept in new.items()
        if id_ in old
    ]
    return Replay(
        notes=tuple(notes),
        then=len(old),
        now=len(new),
        entered=tuple(kept for id_, kept in new.items() if id_ not in old),
        left=tuple(
            replace(kept, exists=bool(store.corpus_holding_passage(id_)))
            for id_, kept in old.items()
            if id_ not in new
        ),
        changed=tuple(change for change in both if change.moved or change.rescored),
    )


def _ranks(passages: Iterable[tuple[str, float]]) -> dict[str, UnsharedPassage]:
    return {
        id_: UnsharedPassage(id_, rank, score)
        for rank, (id_, score) in enumerate(passages, start=1)
    }


def _lines(replayed: Replay) -> Iterator[str]:
    yield from (f"Note: {note}" for note in replayed.notes)
    if replayed.identical:
        yield f"Nothing changed: the same {replayed.now} passages, ranks and scores."
        return
    moved = sum(change.moved for change in replayed.changed)
    rescored = sum(change.rescored for change in replayed.changed)
    yield (
        f"{replayed.then} passages then, {replayed.now} now: {len(replayed.entered)} entered, "
        f"{len(replayed.left)} left, {moved} moved, {rescored} with another score."
    )
    for kept in replayed.entered:
        yield f"  entered  {kept.rank}.  {kept.passage_id}  {kept.score:.6f}"
    for kept in replayed.left:
        gone = "" if kept.exists else "  no longer in the collection"
        yield f"  left     {kept.rank}.  {kept.passage_id}  {kept.score:.6f}{gone}"
    for change in replayed.changed:
        ranks = (
            f"{change.old_rank}. → {change.new_rank}." if change.moved else f"{change.new_rank}."
        )
        scores = f"{change.old_score:.6f} → {change.new_score:.6f}"
        yield f"  {'moved' if change.moved else 'score':<7}  {ranks}  {change.passage_id}  {scores}"
