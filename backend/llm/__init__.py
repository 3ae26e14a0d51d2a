"""Who writes the answer: one file per provider behind the `Provider` protocol."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from backend.domain import CheckedPassage


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Prompt:
    """What a provider is given. `messages` is the rendered prompt for chat models.

    `passages` are the same passages unrendered, best first; `term_weights` the idf of the
    question's terms; `sentence_limit` the most sentences wanted.
    """

    question: str
    passages: tuple[CheckedPassage, ...]
    term_weights: Mapping[str, float]
    messages: tuple[Message, ...]
    sentence_limit: int


@dataclass(frozen=True)
class Usage:
    """Tokens a provider read and wrote; zero for providers that run no language model."""

    prompt_tokens: int
    completion_tokens: int


class Provider(Protocol):
    """Writes answers. Safe to use from several threads."""

    name: str
    model: str

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield the answer in whole sentences, each with its citation markers.

        Nothing is yielded if the passages hold no answer.
        """

    def usage(self, prompt: Prompt, answer: str) -> Usage:
        """Tokens used for `answer`."""
