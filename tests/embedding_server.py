"""Local servers of OpenAI's `/v1/embeddings`, as Text Embeddings Inference bounds its requests."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tests.chat_server import KEY, Reply, Request, Told, serving
from tests.mistral_server import embedding, embeddings
from tests.openai_server import OpenAIServer, refusal

MODEL = "tiny-embed"
MOST = 32


class EmbeddingServer(OpenAIServer):
    """Gives `embedding` of each text after `delay` seconds; `turn` makes it another model.

    `at_once` are the most requests that it had at one time.
    """

    def __init__(self, address: str):
        super().__init__(address)
        self.delay = 0.0
        self.turn = 1
        self.at_once = 0
        self._now = 0
        self._lock = threading.Lock()

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request, without those that find out which model it is."""
        sent = [request.body["input"] for request in self.requests]
        return [texts for texts in sent if "miller" not in texts[0]]

    def answer(self, request: Request) -> Told:
        """See ChatServer."""
        if request.path != "/v1/embeddings" or request.body["model"] != MODEL:
            return refusal(404, "There is no such model.", "model_not_found")
        if len(request.body["input"]) > MOST:
            return Reply(413, {"message": f"batch size > maximum allowed batch size {MOST}"})
        with self._lock:
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        time.sleep(self.delay)
        with self._lock:
            self._now -= 1
        vectors = [embedding(text)[:: self.turn] for text in request.body["input"]]
        return Reply(200, embeddings(vectors))


@contextmanager
def embedding_servers(count: int) -> Iterator[list[EmbeddingServer]]:
    """So many running servers."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(EmbeddingServer)) for _ in range(count)]


def settings_of(*servers: EmbeddingServer | str, **more: str) -> dict[str, str]:
    """The environment in which these servers embed."""
    addresses = [each if isinstance(each, str) else each.address for each in servers]
    return {
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_MODEL": MODEL,
        "EMBEDDING_URLS": ", ".join(addresses),
        "OPENAI_API_KEY": KEY,
        **more,
    }
