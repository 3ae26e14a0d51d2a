"""Rewriting a follow-up into a question that can be searched for by itself."""

import re
from dataclasses import asdict, dataclass, field, replace

from atlas_search.answer.answerer import Answerer
from atlas_search.answer.check.refusals import is_refusal
from atlas_search.answer.prompts import prompt
from atlas_search.answer.request import AskRequest
from atlas_search.answer.write.memory import remember
from atlas_search.answer.write.token_count import count_tokens
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatModel, ChatOptions, Message, Usage
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


@dataclass(frozen=True)
class Standalone:
    """The question a follow-up became, empty if it was left as it is; `note` says why it was.

    `usage` is what rewriting took.
    """

    question: str = ""
    note: str = ""
    usage: Usage = field(default_factory=Usage)


def condense(answerer: Answerer, request: AskRequest, stop: Stop) -> Standalone:
    """The follow-up as a question of its own, where the target wants that.

    Whatever goes wrong leaves the question as it was asked, with a note.
    """
    if not (request.target.condense_followups and request.history):
        return Standalone()
    with answerer.searcher.tracer.span("condense", "CHAIN") as span:
        span.input(request.search.question)
        model = answerer.models.get(request.target.llm_provider)
        found = _by_model(model, answerer, request, stop) if model else _by_rule(request)
        span.output(found.question or request.search.question)
        if found.note:
            span.warn(found.note)
        return found


def _by_rule(request: AskRequest) -> Standalone:
    """The last question before it, put in front of one that leans on it."""
    question = request.search.question
    earlier = [turn.content.strip() for turn in request.history if turn.role == "user"]
    if not earlier or not _LEANS.search(question):
        return Standalone(note="The question stands alone.")
    return _checked(f"{earlier[-1]} {question}", question)


def _by_model(model: ChatModel, answerer: Answerer, request: AskRequest, stop: Stop) -> Standalone:
    target, question = request.target, request.search.question
    memory = remember(request.history, target.chat_memory_tokens, count_tokens)
    said = "\n".join(f"{turn.role}: {turn.content}" for turn in memory.turns)
    messages = (
        Message("system", prompt("condense").template),
        Message("user", f"{said}\n\nLast question: {question}"),
    )
    options = ChatOptions(answerer.model_name(target), 0.0, MAX_TOKENS, target.llm_seconds)
    with answerer.searcher.tracer.span("generate", "LLM") as span:
        span.model(model.name, options.model, [asdict(message) for message in messages])
        try:
            answer = model.complete(messages, options, stop)
        except (ModelUnavailable, ModelRefused) as error:
            return Standalone(note=f"The question was not rewritten: {error}")
        usage = answer.ended.usage
        span.usage(usage.prompt_tokens, usage.completion_tokens)
        span.output(answer.text)
    return replace(_checked(answer.text, question), usage=usage)


def _checked(written: str, question: str) -> Standalone:
    """What was written, if it can be a question and is another one than was asked."""
    lines = written.strip().splitlines()
    if len(lines) != 1 or len(lines[0]) > MAX_CHARACTERS or is_refusal(lines[0]):
        return Standalone(note="The question was not rewritten: no question came of it.")
    text = lines[0].strip().strip('"“”')
    if not parse_query(text).words:
        return Standalone(note="The question was not rewritten: what came of it asks for nothing.")
    return Standalone() if text == question else Standalone(text)
