"""Run bundles: all that is needed to search again as an answer was searched, and what came of it.

A bundle is one JSON file. `atlas_search.output.replay` searches again with it.
"""

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from atlas_search.answer.answer import Answer
from atlas_search.answer.request import Mode
from atlas_search.core.domain import Decision
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import __version__
from atlas_search.output.search_document import ScopeOut
from atlas_search.stores.filters import Condition
from atlas_search.stores.manifest import Manifest

BUNDLE_VERSION = 1


class _Part(BaseModel):
    # infinite ends of a filter's range are numbers JSON does not have
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


class QuestionUsed(_Part):
    """The question as it was searched for: with `standalone` in its place unless that is empty.

    The other fields are those of `SearchRequest`; `as_of` is the day ages are counted from.
    Earlier bundles have no `max_per_document`: the cap was always the target's.
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
    """How many earlier turns the prompt holds, and how many it has no room for."""

    turns: int = 0
    turns_dropped: int = 0


class WrittenBy(_Part):
    """Who wrote, in how many attempts. `fallback` says why it was not the target's model."""

    provider: str
    model: str
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    fallback: str


class Answered(_Part):
    """What came of it: `text` is empty unless the decision is ANSWER."""

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
    answered: Answered

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
        found = content.get("bundle_version") if isinstance(content, dict) else None
        if found is None:
            raise SourceError(
                f"{place} is not a run bundle: it has no bundle_version. Export one from an "
                "answer, with the format `bundle`."
            )
        if found != BUNDLE_VERSION:
            raise SourceError(
                f"{place} is a run bundle of version {found}; this Atlas ({__version__}) reads "
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
        scope=ScopeOut.model_validate(answer.scope.to_dict()),
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
        answered=Answered(
            decision=answer.outcome.decision,
            reason=answer.outcome.code,
            text=answer.text,
            markers=tuple(citation.marker for citation in answer.citations),
        ),
    )


def _question_of(answer: Answer) -> QuestionUsed:
    search = answer.request.search
    return QuestionUsed(
        question=search.question,
        standalone=answer.standalone,
        corpora=search.corpora,
        every_corpus=search.every_corpus,
        filters=search.filters,
        k=search.limit,
        fuzzy=search.fuzzy,
        exact=search.exact,
        freshness_days=search.freshness_days,
        as_of=search.today,
        require=search.require,
        exclude=search.exclude,
        max_per_document=search.max_per_document,
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
