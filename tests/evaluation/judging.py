"""A judge whose model is a local server that says what a test has it say."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from pydantic import SecretStr

from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.judge import (
    PASSAGE_TOKENS,
    VOTES,
    JudgedQuestion,
    Panel,
    judge_question,
)
from atlas_search.evaluation.judge_model import (
    NAME,
    JudgeModel,
    JudgeSpending,
    KeptReplies,
    Rules,
    rules,
)
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.scored import score
from atlas_search.providers.chat import ModelCalls
from atlas_search.providers.chat_remote import openai_chat
from tests.chat_server import KEY, ChatServer, Request, Told, said
from tests.hash_embedder import HashEmbedder
from tests.openai_server import MODEL
from tests.replies import passage, reply

ALL_RULES: tuple[Rules, ...] = get_args(Rules)
PRICES = Target(llm_price_input=1, llm_price_output=10)
TOOLS = Tools(HashEmbedder())
QUESTION = "What do cows give?"
LABEL = Label("q1", "test", "factual", QUESTION, ("Milk.",), frozenset({"farm.cows"}))


class Script:
    """Replies of the server to each kind of call: in order, the last again and again."""

    def __init__(self, server: ChatServer, **replies: object):
        self.server = server
        self._replies: dict[str, list[object]] = {name: [each] for name, each in replies.items()}
        server.says(self.answer)

    def say(self, kind: Rules, *replies: object) -> None:
        """Texts and answers as they are, all else as JSON."""
        self._replies[kind] = list(replies)

    def requests(self, kind: Rules) -> list[str]:
        """The material of each call of a kind."""
        return [
            request.body["messages"][1]["content"]
            for request in self.server.requests
            if _kind(request) == kind
        ]

    def answer(self, request: Request) -> Told:
        """Choose the reply to a request."""
        replies = self._replies[_kind(request)]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, dict):
            return said(json.dumps(reply))
        return said(reply) if isinstance(reply, str) else reply  # type: ignore[return-value]


def verdicts(*words: str) -> dict[str, object]:
    """A reply with these verdicts, in order."""
    return {
        "verdicts": [
            {"number": number, "verdict": word, "reason": f"{word} on {number}"}
            for number, word in enumerate(words, start=1)
        ]
    }


def guess(question: str, *, noncommittal: bool = False) -> dict[str, object]:
    """A reply with a question."""
    return {"question": question, "noncommittal": noncommittal}


def mark(score: float) -> dict[str, object]:
    """A reply with a mark."""
    return {"score": score, "reason": f"It deserves {score}."}


GOOD: Mapping[str, object] = {
    "statements": {"statements": ["Cows give milk."]},
    "supported": verdicts("yes"),
    "useful": verdicts("yes", "no"),
    "attributed": verdicts("yes"),
    "guess": guess(QUESTION),
    "steps": {"steps": ["Compare.", "Mark."]},
    "mark": mark(10),
}
"""Replies of a judge that works to what is asked of ANSWERED."""

PASSAGES = [
    passage("farm.cows", "Cows give milk."),
    passage("farm.hens", "Hens give eggs."),
]
ANSWERED = reply("ANSWER", "Cows give milk [farm.cows p1].", passages=PASSAGES, question=QUESTION)


@contextmanager
def judge_of(
    server: ChatServer,
    folder: Path,
    *,
    key: str = KEY,
    seconds: float = 20.0,
    votes: int = VOTES,
    prices: Target = PRICES,
    max_cost: float | None = None,
    concurrency: int = 4,
    queue_seconds: float = 20.0,
    passage_tokens: int = PASSAGE_TOKENS,
    tracer: Tracer | None = None,
) -> Iterator[Panel]:
    """A judge that waits for nothing between two tries; what it is told is kept in the folder."""

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    calls = ModelCalls(concurrency, queue_seconds)
    try:
        chat = openai_chat(SecretStr(key), server.address, calls, sleep)
        model = JudgeModel(
            chat,
            MODEL,
            seconds,
            tracer or Tracer("", "test", content=True),
            KeptReplies(folder / NAME),
            JudgeSpending(prices, max_cost),
            server.address,
        )
        yield Panel(model, votes, passage_tokens)
    finally:
        calls.close()


def judge_one(panel: Panel, came: Reply = ANSWERED, label: Label = LABEL) -> JudgedQuestion:
    """Judge one question."""
    return judge_question(panel, TOOLS, score(label, came, TOOLS))


def value_of(question: JudgedQuestion, metric: str) -> tuple[float, str]:
    """A figure and its source."""
    return question.scored.figures[metric], question.scored.sources[metric]


def notes(questions: Sequence[JudgedQuestion]) -> set[str]:
    """Reasons why figures are estimates."""
    return {each.note for one in questions for each in one.judgements if each.note}


def is_of_judge(request: Request) -> bool:
    """Tell if a judge asks."""
    return request.body["messages"][0]["content"] in map(rules, ALL_RULES)


def _kind(request: Request) -> Rules:
    system = request.body["messages"][0]["content"]
    return next(name for name in ALL_RULES if rules(name) == system)
