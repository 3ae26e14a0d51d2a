"""What a local model says to the prompts of RAGAS and DeepEval."""

import json
from collections.abc import Mapping, Sequence
from typing import Literal

from tests.chat_server import ChatServer, Request, Told, said
from tests.evaluation.judging import QUESTION

Kind = Literal["statements", "supported", "useful", "attributed", "guess", "steps", "mark"]
"""Named as Atlas' own kinds of calls are, for each has its like."""

_SIGNS: Mapping[Kind, str] = {
    "statements": '"title": "StatementGeneratorOutput"',
    "supported": '"title": "NLIStatementOutput"',
    "useful": '"title": "ContextPrecisionOutput"',
    "attributed": '"title": "ContextRecallOutput"',
    "guess": '"title": "AnswerRelevanceOutput"',
    "steps": "generate 3-4 concise evaluation steps",
    "mark": "Given the following evaluation steps",
}


def supported(*verdicts: int) -> dict[str, object]:
    """RAGAS' verdicts on statements, in order."""
    return {
        "statements": [
            {"statement": f"Statement {n}.", "reason": f"{verdict} on {n}", "verdict": verdict}
            for n, verdict in enumerate(verdicts, start=1)
        ]
    }


def attributed(*verdicts: int) -> dict[str, object]:
    """RAGAS' verdicts on what a reference says, in order."""
    return {
        "classifications": [
            {"statement": f"Sentence {n}.", "reason": f"{verdict} on {n}", "attributed": verdict}
            for n, verdict in enumerate(verdicts, start=1)
        ]
    }


def useful(verdict: int) -> dict[str, object]:
    """RAGAS' verdict on a passage."""
    return {"reason": f"It is {verdict}.", "verdict": verdict}


def guess(question: str, *, noncommittal: int = 0) -> dict[str, object]:
    """The question that RAGAS has guessed."""
    return {"question": question, "noncommittal": noncommittal}


def mark(score: float) -> dict[str, object]:
    """A mark for DeepEval."""
    return {"score": score, "reason": f"It deserves {score}."}


GOOD: Mapping[Kind, Sequence[object]] = {
    "statements": [{"statements": ["Cows give milk."]}],
    "supported": [supported(1)],
    "useful": [useful(1), useful(0)],
    "attributed": [attributed(1)],
    "guess": [guess(QUESTION)],
    "steps": [{"steps": ["Compare.", "Mark."]}],
    "mark": [mark(10)],
}
"""What is said of ANSWERED in `judging` that works."""


class LibraryScript:
    """Says to each kind of prompt what it is told, in order, the last again and again."""

    def __init__(self, server: ChatServer):
        self.server = server
        self._replies = {kind: list(replies) for kind, replies in GOOD.items()}
        server.says(self.answer)

    def say(self, kind: Kind, *replies: object) -> None:
        """Texts and answers as they are, all else as JSON."""
        self._replies[kind] = list(replies)

    def asked(self, kind: Kind) -> list[str]:
        """The prompts of a kind so far."""
        return [each.prompt for each in self.server.requests if kind_of(each) == kind]

    def answer(self, request: Request) -> Told:
        """What is said to a request."""
        replies = self._replies[kind_of(request)]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, dict):
            return said(json.dumps(reply))
        return said(reply) if isinstance(reply, str) else reply  # type: ignore[return-value]


def kind_of(request: Request) -> Kind:
    """What a prompt asks for."""
    return next(kind for kind, sign in _SIGNS.items() if sign in request.prompt)
