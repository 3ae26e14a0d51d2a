"""Keeping answers for the same question, as long as nothing they depend on has changed."""

import threading
from collections.abc import Hashable

from cachetools import TTLCache

from atlas_search.answer.answer import Answer
from atlas_search.answer.request import AnswerPlan


class AnswerCache:
    """At most `size` answers, each for `seconds`. Safe to use from several threads.

    Left out are answers to a conversation, which are for that conversation only, and those that
    another attempt may better: blocked and unsupported ones, those a fallback wrote, and those not
    judged in full.
    """

    def __init__(self, size: int, seconds: float, *, enabled: bool = True):
        self._enabled = enabled
        self._answers: TTLCache[Hashable, Answer] = TTLCache(size, seconds)
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    @property
    def enabled(self) -> bool:
        return self._enabled

    @property
    def kept(self) -> int:
        """Answers that are kept now."""
        with self._lock:
            self._answers.expire()
            return len(self._answers)

    def get(self, request: AnswerPlan, state: str) -> Answer | None:
        """Return the answer to the same request in the same `Answerer.state`, if it is kept."""
        if request.history:
            return None
        with self._lock:
            answer = self._answers.get(key_of(request, state))
            self.hits += answer is not None
            self.misses += answer is None
            return answer

    def put(self, answer: Answer, state: str) -> None:
        """Keep an answer."""
        passing = (
            answer.outcome.decision == "BLOCK"
            or answer.outcome.code == "unsupported"
            or answer.writer.fallback
            or any(sentence.support == "not_judged" for sentence in answer.verification.sentences)
        )
        if self._enabled and not passing and not answer.request.history:
            with self._lock:
                self._answers[key_of(answer.request, state)] = answer

    def clear(self) -> int:
        """Forget all answers and return their number."""
        with self._lock:
            self._answers.expire()
            count = len(self._answers)
            self._answers.clear()
            return count


def key_of(request: AnswerPlan, state: str) -> Hashable:
    """Return all that decides an answer; blanks in a question and the case of its first letter
    decide nothing.

    Other capitals do, as they make names: in small letters 7 of the 184 questions on the demo have
    other passages or another text, 2 of them another decision. By their first letters none has.
    """
    search = request.search
    question = " ".join(search.question.split())
    return (
        question[:1].lower() + question[1:],
        request.mode,
        request.clarify,
        request.target_name,
        request.target,
        state,
        search.corpora,
        search.every_corpus,
        search.limit,
        search.today,
        tuple(sorted(search.filters.items())),
        search.freshness_days,
        search.exact,
        search.fuzzy,
        search.require,
        search.exclude,
        search.max_per_document,
        search.soft_cap,
    )
