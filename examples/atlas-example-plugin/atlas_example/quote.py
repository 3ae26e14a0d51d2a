"""A chat model that quotes the first sentence of the first passage."""

import re
from collections.abc import Generator, Sequence

from atlas_search.core.settings import Settings
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Health, Message, ModelCalls, Usage

_PASSAGE = re.compile(r"<passage.*?>\n(\[.*?\]) (.*?[.!?])(?=\s)", re.DOTALL)


class Quote:
    name = "quote"
    default_model = "first-sentence"

    def __init__(self, settings: Settings, calls: ModelCalls) -> None:
        """A model behind a network would make its calls through `calls`."""

    def stream(
        self, messages: Sequence[Message], options: ChatOptions, stop: Stop
    ) -> Generator[str | Ended, None, None]:
        found = _PASSAGE.search(messages[-1].content)
        answer = f"{found[2].strip()} {found[1]}" if found else "The passages do not say."
        for word in re.findall(r"\S+\s*", answer):
            stop.check()
            yield word
        stop.check()
        yield Ended(Usage(), options.model, "stop")

    def health(self, model: str) -> Health:
        return Health(ready=True)
