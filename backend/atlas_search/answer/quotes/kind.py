"""A kind of answer: what of a question leads to it, and what an answer needs."""

import re
from collections.abc import Callable
from dataclasses import dataclass

Held = Callable[[str, str, str], bool]


@dataclass(frozen=True)
class AnswerKind:
    """A kind of answer: its name, what of a question `leads` to it, and what is `needed`.

    What is needed is a pattern of the sentence, or takes the sentence, all the evidence it was
    taken from, and the question.
    """

    name: str
    leads: re.Pattern[str]
    needed: re.Pattern[str] | Held

    def held(self, sentence: str, evidence: str, question: str) -> bool:
        """Whether a sentence holds an answer of this kind."""
        if isinstance(self.needed, re.Pattern):
            return bool(self.needed.search(sentence))
        return self.needed(sentence, evidence, question)


ANYTHING = AnswerKind("anything", re.compile(""), re.compile(""))


def leads(pattern: str) -> re.Pattern[str]:
    """What of a question leads to a kind, whatever its case."""
    return re.compile(pattern, re.IGNORECASE)
