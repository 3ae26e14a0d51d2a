"""Who writes the answer: the extractive writer, or a language model behind `ChatModel`."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from atlas_search.core.stop import Stop


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a model is called. No call, its retries included, takes longer than `seconds`.

    `schema` is the JSON schema of the text to write, for a provider that takes one.
    """

    model: str
    temperature: float
    max_tokens: int
    seconds: float
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a model read and wrote; zero where no language model ran."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """The tokens of both calls."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, slots=True)
class Ended:
    """The last item of a stream that came to its end.

    `model` is what the server says it ran. `reason` is `length` if `max_tokens` cut the text, and
    `filtered` if the provider withheld it.
    """

    usage: Usage
    model: str
    reason: Literal["stop", "length", "filtered"]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a model can be used. If not, `detail` says why and what to do."""

    ready: bool
    detail: str = ""


class ChatModel(Protocol):
    """A language model behind a provider. Safe to use from several threads.

    Calls wait for their turn behind earlier ones. They raise ModelRefused where trying again
    cannot help, ModelUnavailable where it can, and Cancelled at once when `stop` is set.
    """

    name: str
    default_model: str

    def stream(
        self, messages: Sequence[Message], options: ChatOptions, stop: Stop
    ) -> Generator[str | Ended, None, None]:
        """The text in pieces as they come, then Ended. Closing the iterator ends the call.

        A connection that is lost on the way raises ModelUnavailable; text may have come before.
        """

    def health(self, model: str) -> Health:
        """Whether the provider can be reached and takes the key, asked for now (some seconds)."""
