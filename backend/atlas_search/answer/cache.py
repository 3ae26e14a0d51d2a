"""Keeping answers for the same question, as long as nothing they depend on has changed."""

import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import replace

from cachetools import TTLCache

from atlas_search.answer.answer import Answer
from atlas_search.answer.request import AnswerPlan

MOST_ASKERS = 100  # of one answer, the last; who is forgotten is told that the answer is new


class AnswerCache:
    """At most `size` answers, each for `seconds`. Safe to use from several threads.

    Left out are answers to a conversation, which are for that conversation only, and those that
    another attempt may better: blocked and unsupported ones, those a fallback wrote, and those not
    judged in full.
    """

    def __init__(self, size: int, seconds: float, *, enabled: bool = True):
        self.enabled = enabled
        self._answers: TTLCache[Hashable, tuple[Answer, deque[str]]] = TTLCache(size, seconds)
        self._lock = threading.Lock()
        self.hits = 0
        self.misses = 0

    @property
    def kept(self) -> int:
        """Answers that are kept now."""
        with self._lock:
            self._answers.expire()
            return len(self._answers)

    def get(self, request: AnswerPlan, state: str) -> Answer | None:
        """Return the answer to the same request in the same `Answerer.state`, if it is kept.

        It is a `cache_hit`, `as_new` for who has not been given it before.
        """
        if request.history:
            return None
        with self._lock:
            entry = self._answers.get(key_of(request, state))
            self.hits += entry is not None
            self.misses += entry is None
            if entry is None:
                return None
            answer, askers = entry
            is_new = request.asker not in askers
            if is_new:
                askers.append(request.asker)
            return replace(answer, cache_hit=True, as_new=is_new)

    def put(self, answer: Answer, state: str) -> None:
        """Keep an answer."""
        passing = (
            answer.outcome.decision == "BLOCK"
            or answer.outcome.code == "unsupported"
            or answer.writer.fallback
            or any(sentence.support == "not_judged" for sentence in answer.verification.sentences)
        )
        if self.enabled and not passing and not answer.request.history:
            with self._lock:
                askers = deque([answer.request.asker], MOST_ASKERS)
                self._answers[key_of(answer.request, state)] = answer, askers

    def clear(self) -> int:
        """Forget all answers and return their number."""
        with self._lock:
            self._answers.expire()
            count = len(self._answers)
            self._answers.clear()
            return count


def key_of(request: AnswerPlan, state: str) -> Hashable:
    """Return all that decides an answer; blanks and the case of the first letter decide nothing.

    Other capitals do, as they make names: in small letters 7 of the 184 questions on the demo have
    other passages or another text, 2 of them another decision. By their first letters none has.
    """
    search = request.search
    question = " ".join(search.question.split())
    fields = vars(search) | {
        "question": question[:1].lower() + question[1:],
        "filters": tuple(sorted(search.filters.items())),
    }
    plan = (request.mode, request.clarify, request.target_name, request.target)
    return (*plan, state, *fields.values())
