"""The prompt: rules, remembered turns, and the passages as quoted material."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from backend.answer.memory import Memory
from backend.domain import Passage
from backend.llm import Message


@cache
def system_prompt() -> str:
    """The rules every model is given."""
    return (files("backend.answer") / "prompts" / "system.txt").read_text(encoding="utf-8")


def messages(question: str, passages: Sequence[Passage], memory: Memory) -> tuple[Message, ...]:
    """System rules, remembered turns, then the passages with the question."""
    blocks = "\n\n".join(render(passage) for passage in passages)
    return (
        Message("system", system_prompt()),
        *(Message(turn.role, turn.content) for turn in memory.turns),
        Message("user", f"{blocks}\n\nQuestion: {question}"),
    )


def render(passage: Passage) -> str:
    """One passage with its marker, delimited so that its text cannot end the quotation."""
    about = ", ".join(part for part in (passage.corpus, passage.title, passage.date) if part)
    inside = f"{passage.marker} ({' '.join(about.split())})\n{passage.text}"
    return f"<passage>\n{inside.replace('<', '‹').replace('>', '›')}\n</passage>"
