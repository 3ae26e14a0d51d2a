"""Rewriting a follow-up into a question that can be searched for by itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from atlas_search.answer.check.markers import MarkedSentence
from atlas_search.answer.check.phrases import is_refusal
from atlas_search.answer.check.support import numbers_missing, numbers_of
from atlas_search.answer.follow_up import FollowUp, read_follow_up
from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.write.call_model import call_model
from atlas_search.answer.write.prompt import count_tokens, remember
from atlas_search.core.domain import MARKER_LIKE, ChatTurn
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.language.languages import fold
from atlas_search.language.text import words
from atlas_search.providers.chat import ChatModel, Message
from atlas_search.search.query import parse_query

MAX_CHARACTERS = 1000
MAX_TOKENS = 200

_WHOLLY_QUOTED = re.compile('^["“]([^"“”]*)["”]$')
# what only begins a sentence is no name, unless it is in capitals or owns something
_NAME = re.compile(r"(?:(?<![.?!] )(?<!^)|(?=[A-Z]{2}|\w+['’]s\b))\b[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"”’)\]]+", re.IGNORECASE)
_STEM = 4  # letters that two forms of a name share: `Canada`, `Canadian`


@dataclass(frozen=True)
class Standalone:
    """The question a follow-up became, empty if it was left as it is; `note` says why it was.

    `read_as` is the question it is read as by rule, whether or not it is searched for; empty if
    none is sure. `leans_on` is what of the question that is searched for points to something it
    does not say.
    """

    question: str = ""
    note: str = ""
    read_as: str = ""
    leans_on: str = ""


def condense(run: AnswerRun) -> Standalone:
    """Rewrite the follow-up as a question of its own, where the request or the target wants that.

    Whatever goes wrong leaves the question as it was asked, with a note.
    """
    follow_up = read_follow_up(run.question, run.request.history)
    offered = _check(follow_up.question, run).question if follow_up.question else ""
    wanted = run.request.read_follow_ups
    if wanted is False:
        return Standalone(read_as=offered)
    leans_on = follow_up.pointer or (run.question if offered else "")
    if not run.request.history or not (wanted or run.target.condense_followups):
        return Standalone(note=_unsaid(follow_up), read_as=offered, leans_on=leans_on)
    with run.stage("condense", run.question) as stage:
        model = run.model if run.target.condense_followups else None
        standalone = _by_model(run, model) if model else Standalone(offered, _unsaid(follow_up))
        stage.done(standalone)
        leans_on = "" if standalone.question or (model and not standalone.note) else leans_on
        return replace(standalone, read_as=offered, leans_on=leans_on)


def _unsaid(follow_up: FollowUp) -> str:
    if not follow_up.pointer:
        return ""
    return f"The question was not rewritten: it is not clear what “{follow_up.pointer}” points to."


def _by_model(run: AnswerRun, model: ChatModel) -> Standalone:
    turns, _ = remember(run.request.history, run.target.chat_memory_tokens, count_tokens)
    conversation = "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
    messages = (
        Message("system", prompt("condense").template),
        Message("user", f"{conversation}\n\nLast question: {run.question}"),
    )
    filled = Filled("condense", prompt("condense"), {"question": run.question})
    try:
        done = call_model(
            run, model, messages, filled=filled, max_tokens=MAX_TOKENS, temperature=0.0
        )
    except (ModelUnavailable, ModelRefused) as error:
        return Standalone(note=f"The question was not rewritten: {error}")
    return _check(done.text, run)


def _check(written: str, run: AnswerRun) -> Standalone:
    """Accept the rewriting if it is one question, differs from the last and brings nothing new."""
    lines = written.strip().splitlines()
    if (
        len(lines) != 1
        or len(lines[0]) > MAX_CHARACTERS
        or is_refusal([MarkedSentence(lines[0], ())])
    ):
        return Standalone(note="The question was not rewritten: no question came of it.")
    text = _WHOLLY_QUOTED.sub(r"\1", lines[0].strip())
    if not parse_query(text).words:
        return Standalone(note="The question was not rewritten: what came of it asks for nothing.")
    if text == run.question:
        return Standalone()
    if new := invention(text, run.question, run.request.history):
        return Standalone(note=f"The question was not rewritten: the rewriting {new}.")
    return Standalone(text)


def invention(written: str, question: str, history: Sequence[ChatTurn]) -> str:
    """Return a clause on what `written` adds to the question and the history; empty if nothing.

    For example `names “Menzies”, which nobody mentioned`.
    """
    if marker := MARKER_LIKE.search(written):
        return f"holds the citation “{marker.group()}”, and a question cites nothing"
    context = "\n".join([question, *(turn.content for turn in history)])
    for address in _ADDRESS.findall(written):
        if fold(address) not in fold(context):
            return f"holds the address “{address}”, which nobody mentioned"
    known = {word.folded[:_STEM] for word in words(context)}
    for name in _NAME.findall(written):
        if any(word.folded[:_STEM] not in known for word in words(name)):
            return f"names “{name}”, which nobody mentioned"
    for number in numbers_missing(written, [numbers_of(context)]):
        return f"gives the number “{number}”, which nobody mentioned"
    return ""
