"""A language model that writes one sentence whenever it is allowed to."""

import re
import threading
from collections.abc import Generator, Sequence

from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatOptions, Ended, Health, Message, Usage

TOKEN = re.compile(r"^(\[(?:\d+|[^\[\]\s]+ p\d+)\]) ", re.MULTILINE)
"""At the beginning of a line of the prompt: those of the passages, a number or a place."""


class SlowModel:
    """See ChatModel. It remembers how far it came, and the prompts it was given."""

    name = "openai"
    default_model = "slow"

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.written = 0
        self.ended = threading.Event()
        self.fault: Exception | None = None
        self.marker = ""
        self.prompts: list[Sequence[Message]] = []

    def stream(
        self, messages: Sequence[Message], options: ChatOptions, stop: Stop
    ) -> Generator[str | Ended, None, None]:
        self.prompts.append(messages)
        found = TOKEN.findall("\n".join(message.content for message in messages))
        tokens = [*dict.fromkeys(found), *found][:5]
        try:
            with stop.calling(self.go.release):
                for token in tokens:
                    assert self.go.acquire(timeout=30)
                    stop.check()
                    if self.fault:
                        raise self.fault
                    self.written += 1
                    said = f"A local authority cannot sue. {self.marker or token}"
                    yield f'{{"text": "{said}", "passages": []}}\n'
            yield Ended(Usage(len(messages), self.written), "slow", "stop")
        finally:
            self.ended.set()

    def health(self, model: str) -> Health:
        return Health(ready=True)
