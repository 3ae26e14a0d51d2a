"""What somebody says of an answer."""

from collections.abc import Mapping
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from atlas_search.server.schemas.requests import Identifier

MOST_TAGS = 20
LONGEST_TAG = 64  # characters
LONGEST_COMMENT = 4000
MOST_PARTS = 1000  # passages, or citations, of one request

Thumb = Literal["up", "down"]
Relevance = Literal["relevant", "irrelevant"]
Backing = Literal["supports", "does_not_support"]
Scale = Literal["relevance", "accuracy", "corpus_fidelity", "clarity"]
SCALES: tuple[Scale, ...] = get_args(Scale)

K = TypeVar("K")
V = TypeVar("V")

_KEPT_CONTROLS = "\n\t"


def plain(text: str) -> str:
    """Without the characters that command a terminal, and which some databases refuse."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in lines if c in _KEPT_CONTROLS or not _is_control(c)).strip()


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character < "\xa0"


def _tags(tags: list[str] | None) -> list[str] | None:
    """Each tag once, on one line."""
    if tags is None:
        return None
    given = (" ".join(plain(tag).split()) for tag in tags)
    return list(dict.fromkeys(tag for tag in given if tag))


Mark = Annotated[int, Field(ge=1, le=5)]
Tag = Annotated[str, Field(max_length=LONGEST_TAG)]
Tags = Annotated[list[Tag], Field(max_length=MOST_TAGS)]
Comment = Annotated[str, Field(max_length=LONGEST_COMMENT), AfterValidator(plain)]


class Vote(BaseModel):
    """All that somebody says of an answer now; empty if nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    thumb: Thumb | None = None
    scores: dict[Scale, int] = Field(default_factory=dict)
    tags: list[str] = Field(default_factory=list)
    comment: str = ""
    passages: dict[str, Relevance] = Field(default_factory=dict)
    citations: dict[int, Backing] = Field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said, or all was withdrawn."""
        return self == Vote()


class ScoresBody(BaseModel):
    """Marks from 1, the worst, to 5; null withdraws one."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    relevance: Mark | None = Field(None, description="Whether it answers what was asked")
    accuracy: Mark | None = Field(None, description="Whether it is right")
    corpus_fidelity: Mark | None = Field(None, description="Whether it says what the sources say")
    clarity: Mark | None = Field(None, description="Whether it is clear")


class FeedbackBody(BaseModel):
    """What is said of an answer. An absent field stays as it was; null withdraws it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    qa_id: Identifier
    user_id: Identifier | None = Field(
        None, description="Who says it, where no keys are used; with a key it is the key's owner"
    )
    thumb: Thumb | None = None
    scores: ScoresBody | None = None
    tags: Annotated[Tags | None, AfterValidator(_tags)] = None
    comment: Comment | None = None
    passages: dict[str, Relevance | None] | None = Field(
        None, max_length=MOST_PARTS, description="By the id of a passage of the answer"
    )
    citations: dict[str, Backing | None] | None = Field(
        None, max_length=MOST_PARTS, description="By the number of a citation, from 1"
    )


def changed(vote: Vote, body: FeedbackBody) -> Vote:
    """A vote after what a body says."""
    given = body.model_fields_set
    scores = body.scores.model_dump(exclude_unset=True) if body.scores else None
    citations = (
        {int(number): said for number, said in body.citations.items()}
        if body.citations is not None
        else None
    )
    return Vote(
        thumb=body.thumb if "thumb" in given else vote.thumb,
        scores=_merge(vote.scores, scores) if "scores" in given else vote.scores,
        tags=(body.tags or []) if "tags" in given else vote.tags,
        comment=(body.comment or "") if "comment" in given else vote.comment,
        passages=_merge(vote.passages, body.passages) if "passages" in given else vote.passages,
        citations=_merge(vote.citations, citations) if "citations" in given else vote.citations,
    )


def new_marks(before: Vote, after: Vote) -> list[tuple[str, str]]:
    """What is said now that was not said before, as name and value; no tags and no comment."""
    marks: list[tuple[str, str]] = []
    if after.thumb and after.thumb != before.thumb:
        marks.append(("thumb", after.thumb))
    marks += [(name, str(score)) for name, score in _new(before.scores, after.scores)]
    marks += [("passage", said) for _, said in _new(before.passages, after.passages)]
    marks += [("citation", said) for _, said in _new(before.citations, after.citations)]
    return marks


def _new(before: Mapping[K, V], after: Mapping[K, V]) -> list[tuple[K, V]]:
    return [(name, said) for name, said in after.items() if before.get(name) != said]


def _merge(before: dict[K, V], change: Mapping[K, V | None] | None) -> dict[K, V]:
    """What was said with the change to it; null takes one entry, or all, away."""
    if change is None:
        return {}
    return {name: said for name, said in {**before, **change}.items() if said is not None}
