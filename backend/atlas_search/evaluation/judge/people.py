"""How far a judge and people agree on the answers that both judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.reply import Reply, without_markers
from atlas_search.evaluation.scored import Scored
from atlas_search.evaluation.statistics.agreement import cohen_kappa

Scale = Literal["thumb", "accuracy", "relevance", "corpus_fidelity"]

MEANT: Mapping[Scale, str] = {
    "thumb": "answer_correctness",
    "accuracy": "answer_correctness",
    "relevance": "answer_relevancy",
    "corpus_fidelity": "faithfulness",
}
"""The figure of the judge that says what people say on a scale."""

_Key = tuple[str, str, str]

APPROVED = 0.5
"""From here on a figure is the judge's yes."""


@dataclass(frozen=True)
class PersonVote:
    """Whether one person approves of an answer, on each scale where that was said.

    The answer is known by its ids, or by its question and text.
    """

    session_id: str
    qa_id: str
    question: str
    answer: str
    approves: Mapping[Scale, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Agreement:
    """Cohen's kappa of a judge's figure and people's votes on a scale, of `count` votes.

    `kappa` is None where all are the same, and chance would agree as well. `agreeing` is a share.
    """

    scale: Scale
    metric: str
    count: int
    agreeing: float
    kappa: float | None


def approval(mark: int) -> bool | None:
    """What a mark from 1 to 5 says: 4 and 5 approve; 3 says neither."""
    return None if mark == 3 else mark > 3


def agreement_with_people(scored: Iterable[Scored], votes: Sequence[PersonVote]) -> list[Agreement]:
    """The agreement on each scale that someone used for a figure that the judge gave."""
    known: dict[_Key, list[PersonVote]] = {}
    for vote in votes:
        for key in _keys(vote.session_id, vote.qa_id, vote.question, vote.answer):
            known.setdefault(key, []).append(vote)
    pairs: dict[Scale, list[tuple[bool, bool]]] = {}
    for one in scored:
        for vote in _votes_on(one.reply, known):
            for scale, approves in vote.approves.items():
                if one.sources.get(MEANT[scale]) == "judge":
                    said = one.figures[MEANT[scale]] >= APPROVED
                    pairs.setdefault(scale, []).append((said, approves))
    return [_agreement(scale, pairs[scale]) for scale in MEANT if scale in pairs]


def _votes_on(reply: Reply, known: Mapping[_Key, Sequence[PersonVote]]) -> list[PersonVote]:
    """The votes on an answer, each once."""
    answer = reply.answer
    if answer is None or not reply.answered:
        return []
    keys = _keys(answer.session_id, answer.qa_id, answer.question, reply.text)
    return list({id(vote): vote for key in keys for vote in known.get(key, ())}.values())


def _keys(session_id: str, qa_id: str, question: str, answer: str) -> list[_Key]:
    """What an answer is known by; by its texts only where they are kept."""
    texts = [("text", _fold(question), _fold(answer))] if question and answer else []
    return [("id", session_id, qa_id), *texts]


def _fold(text: str) -> str:
    return without_markers(text).casefold()


def _agreement(scale: Scale, pairs: Sequence[tuple[bool, bool]]) -> Agreement:
    judge, people = ([str(said) for said in each] for each in zip(*pairs, strict=True))
    agreeing = sum(a == b for a, b in pairs) / len(pairs)
    try:
        kappa = cohen_kappa(judge, people)
    except RequestError:
        kappa = None
    return Agreement(scale, MEANT[scale], len(pairs), agreeing, kappa)
