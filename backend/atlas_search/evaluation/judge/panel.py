"""Asking several times where something is decided: what most of the votes say counts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

from pydantic import BaseModel

from atlas_search.answer.write.prompt import count_tokens
from atlas_search.core.errors import RequestError
from atlas_search.documents.search import RankedPassageOut
from atlas_search.evaluation.judge.ask import JudgeModel, Task
from atlas_search.evaluation.judge.forms import Mark, Verdicts
from atlas_search.evaluation.judge.libraries.process import Libraries
from atlas_search.evaluation.judge.prompts import Rules
from atlas_search.evaluation.judge.quoting import join, quote_passages
from atlas_search.evaluation.judge.verdict import DRAW, Decision, NotJudged, Refused

VOTES = 3
PASSAGE_TOKENS = 16_000
"""Tokens of passages in one call, unless one passage has more."""

_TOKENS, _TOKENS_OF_VERDICT = 200, 120  # of a reply
_TOKENS_OF_MARK = 400

Form = TypeVar("Form", bound=BaseModel)


@dataclass(frozen=True)
class Panel:
    """A model that is asked `votes` times; it is shown `passage_tokens` of passages at once.

    With `libraries` their metrics judge, which ask once and show what they show.
    Raises RequestError for an even number of votes, which may end in a draw.
    """

    model: JudgeModel
    votes: int = VOTES
    passage_tokens: int = PASSAGE_TOKENS
    libraries: Libraries | None = None

    def __post_init__(self) -> None:  # noqa: D105
        if self.votes < 1 or self.votes % 2 == 0:
            raise RequestError("The judge's votes are an odd number: 1, 3 or 5.")

    def ask_all(
        self, task: Task, form: type[Form], check: Callable[[Form], None] = lambda _: None
    ) -> list[Form]:
        """The replies that are of the form asked for. Raises NotJudged if most are not.

        What the provider refuses is not asked again.
        """
        replies: list[Form] = []
        for vote in range(1, self.votes + 1):
            try:
                replies.append(self.model.ask(task, form, check, vote))
            except Refused:
                raise
            except NotJudged as error:
                why = error
        if len(replies) < self.majority:
            raise why
        return replies

    @property
    def majority(self) -> int:
        """How many votes decide."""
        return self.votes // 2 + 1

    def decide(self, rules: Rules, material: str, about: Sequence[str]) -> list[Decision]:
        """Yes or no on each numbered thing in the material. Raises NotJudged where votes draw."""
        tokens = _TOKENS + _TOKENS_OF_VERDICT * len(about)
        replies = self.ask_all(
            Task(rules, material, tokens),
            Verdicts,
            lambda reply: reply.check_numbers(len(about)),
        )
        return [self._decide(number, each, replies) for number, each in enumerate(about, start=1)]

    def mark(self, rules: Rules, material: str) -> Decision:
        """The median of the marks, from 0 to 1."""
        marks = self.ask_all(Task(rules, material, _TOKENS_OF_MARK), Mark)
        middle = median(mark.score for mark in marks)
        nearest = min(marks, key=lambda mark: abs(mark.score - middle))
        agreement = Counter(mark.score for mark in marks).most_common(1)[0][1] / len(marks)
        return Decision("the answer", middle / 10, agreement, nearest.reason)

    def groups(self, passages: Sequence[RankedPassageOut]) -> list[list[RankedPassageOut]]:
        """Passages, each whole, in as few calls as their tokens allow, in order."""
        groups: list[list[RankedPassageOut]] = []
        room = 0
        tokens = count_tokens([each.text for each in passages])
        for passage, size in zip(passages, tokens, strict=True):
            if not groups or size > room:
                groups.append([])
                room = self.passage_tokens
            groups[-1].append(passage)
            room -= size
        return groups

    def decide_by_any(
        self,
        rules: Rules,
        material: str,
        about: Sequence[str],
        passages: Sequence[RankedPassageOut],
    ) -> tuple[list[Decision], int]:
        """What one group of passages says yes to is decided so; and how many groups there were."""
        found = [
            self.decide(rules, join((material, quote_passages(group))), about)
            for group in self.groups(passages)
        ]
        best = [max(each, key=lambda one: one.verdict) for each in zip(*found, strict=True)]
        return best, len(found)

    def _decide(self, number: int, about: str, replies: Sequence[Verdicts]) -> Decision:
        said = [one for reply in replies for one in reply.verdicts if one.number == number]
        (verdict, count), *_ = Counter(one.verdict for one in said).most_common()
        if count < self.majority:
            raise NotJudged(DRAW)
        reason = next(one.reason for one in said if one.verdict == verdict)
        return Decision(about, float(verdict == "yes"), count / len(said), reason)
