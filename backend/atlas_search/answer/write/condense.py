"""Rewriting a follow-up into a question that can be searched for by itself."""

import re
from dataclasses import dataclass

from atlas_search.answer.check.refusals import is_refusal
from atlas_search.answer.prompts import prompt
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.write.call_model import call_model
from atlas_search.answer.write.memory import remember
from atlas_search.answer.write.token_count import count_tokens
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.providers.chat import ChatModel, Message
from atlas_search.search.query import parse_query

MAX_CHARACTERS = 1000
MAX_TOKENS = 200

# what a question begins with, or holds, that leans on the one before it
_LEANS = re.compile(
    r"^(?:and|but|or|so|then|what about|how about|why(?: not)?\?|which one|who else)\b|"
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|there|then|"
    r"the (?:same|former|latter|other)|such)\b",
    re.IGNORECASE,
)
_WHOLLY_QUOTED = re.compile('^["“]([^"“”]*)["”]$')


@dataclass(frozen=True)
class Standalone:
    """The question a follow-up became, empty if it was left as it is; `note` says why it was."""

    question: str = ""
    note: str = ""


def condense(run: AnswerRun) -> Standalone:
    """The follow-up as a question of its own, where the target wants that.

    Whatever goes wrong leaves the question as it was asked, with a note.
    """
    if not (run.target.condense_followups and run.request.history):
        return Standalone()
    with run.tracer.span("condense", "CHAIN") as span:
        span.input(run.question)
        found = _by_model(run, run.model) if run.model else _by_rule(run)
        span.output(found.question or run.question)
        if found.note:
            span.warn(found.note)
        return found


def _by_rule(run: AnswerRun) -> Standalone:
    """The last question before it, put in front of one that leans on it."""
    earlier = [turn.content.strip() for turn in run.request.history if turn.role == "user"]
    if not earlier or not _LEANS.search(run.question):
        return Standalone(note="The question stands alone.")
    return _check(f"{earlier[-1]} {run.question}", run.question)


def _by_model(run: AnswerRun, model: ChatModel) -> Standalone:
    memory = remember(run.request.history, run.target.chat_memory_tokens, count_tokens)
    said = "\n".join(f"{turn.role}: {turn.content}" for turn in memory.turns)
    messages = (
        Message("system", prompt("condense").template),
        Message("user", f"{said}\n\nLast question: {run.question}"),
    )
    try:
        done = call_model(run, model, messages, max_tokens=MAX_TOKENS, temperature=0.0)
    except (ModelUnavailable, ModelRefused) as error:
        return Standalone(note=f"The question was not rewritten: {error}")
    return _check(done.text, run.question)


def _check(written: str, question: str) -> Standalone:
    """What was written, if it can be a question and is another one than was asked."""
    lines = written.strip().splitlines()
    if len(lines) != 1 or len(lines[0]) > MAX_CHARACTERS or is_refusal(lines[0]):
        return Standalone(note="The question was not rewritten: no question came of it.")
    text = _WHOLLY_QUOTED.sub(r"\1", lines[0].strip())
    if not parse_query(text).words:
        return Standalone(note="The question was not rewritten: what came of it asks for nothing.")
    return Standalone() if text == question else Standalone(text)
