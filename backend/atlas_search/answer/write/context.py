"""The prompt: rules, remembered turns, and the passages as quoted material."""

from collections.abc import Sequence
from itertools import accumulate
from string import Template

from atlas_search.answer.answer import Context
from atlas_search.answer.prompts import prompt
from atlas_search.answer.write.memory import remember
from atlas_search.answer.write.quotation import attribute, opening_of
from atlas_search.answer.write.token_count import count_tokens
from atlas_search.core.domain import ChatTurn, Passage
from atlas_search.core.targets import Target
from atlas_search.providers.chat import Message

# what could pass for the end of a quotation, or the beginning of another
_TAG = opening_of(["passage"])


def context_of(
    question: str,
    passages: Sequence[Passage],
    history: Sequence[ChatTurn],
    rules: Template,
    target: Target,
    absent: Sequence[str] = (),
) -> Context:
    """What a model is given before it is told what to write: the best passages within
    `context_tokens` (the first in any case), and the newest turns within `chat_memory_tokens`. It
    is told what of the question is `absent` from all passages."""
    blocks = [render(p, f"[{number}]") for number, p in enumerate(passages, start=1)]
    used = list(accumulate(count_tokens(blocks)))
    fitting = max(1, sum(tokens <= target.context_tokens for tokens in used))
    memory = remember(history, target.chat_memory_tokens, count_tokens)
    return Context(
        messages=(
            Message("system", rules.substitute(citation_limit=target.citation_limit)),
            *(Message(turn.role, turn.content) for turn in memory.turns),
            Message("user", _user(question, blocks[:fitting], absent)),
        ),
        passages=len(blocks[:fitting]),
        passages_dropped=len(blocks[fitting:]),
        passage_tokens=used[fitting - 1] if used else 0,
        turns=len(memory.turns),
        turns_dropped=memory.dropped,
        turn_tokens=memory.tokens,
    )


def ending_in(messages: Sequence[Message], asked: str) -> tuple[Message, ...]:
    """The same prompt, with what is asked for at its end."""
    *before, last = messages
    return (*before, Message(last.role, f"{last.content}\n\n{asked.strip()}"))


def repair(
    messages: Sequence[Message], draft: str, problems: Sequence[str], passages: Sequence[Passage]
) -> tuple[Message, ...]:
    """The same prompt, with a draft that could not be verified and the reasons."""
    listed = "\n".join(f"- {problem}" for problem in problems)
    for number, passage in enumerate(passages, start=1):
        listed = listed.replace(passage.marker, f"[{number}]")
    numbers = ", ".join(map(str, range(1, len(passages) + 1)))
    complaint = prompt("repair").substitute(problems=listed, numbers=numbers)
    return (*messages, Message("assistant", draft), Message("user", complaint))


def render(passage: Passage, token: str) -> str:
    """One passage behind its `token`, delimited so that its text cannot end the quotation."""
    about = {"corpus": passage.corpus, "date": passage.date, "title": passage.title}
    attributes = "".join(f' {name}="{attribute(value)}"' for name, value in about.items() if value)
    text = _TAG.sub("‹", passage.text)
    return f"<passage{attributes}>\n{token} {text}\n</passage>"


def _user(question: str, blocks: Sequence[str], absent: Sequence[str]) -> str:
    said = f"No passage speaks of: {', '.join(absent)}. State nothing of it." if absent else ""
    return "\n\n".join(filter(None, [*blocks, said, f"Question: {question}"]))
