"""A collection whose every text, title, author and file name is marked, traced to a collector."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.telemetry.tracer import Tracer
from tests.chat_server import KEY
from tests.collector import Arrived, Collector, collecting
from tests.hash_embedder import HashEmbedder
from tests.openai_server import OpenAIServer, openai_server
from tests.servers import app_of, wait_for
from tests.tiny import write_sources

MARK = "qzj"
"""Begins every marked word; no other word holds it."""
QUESTION = "Who keeps the qzjquestion ladder of the orchard?"
SOURCES = {
    "hill/qzjfile-ladder.md": "---\ntitle: The qzjtitle ladder\nauthor: Qzjauthor\n---\n"
    "The qzjpassage warden keeps the ladder of the orchard.\n\n"
    "The warden lends the ladder of the orchard in autumn.\n",
    "shore/qzjfile-nets.md": "---\ntitle: The qzjtitle nets\nauthor: Qzjauthor\ndate: 1934\n---\n"
    "The qzjpassage fishers keep the ladder of the orchard dry.\n",
}
ANSWER = "The qzjanswer warden keeps the ladder [hill.qzjfile-ladder p1]."
ASKED: dict[str, Any] = {
    "question": QUESTION,
    "filters": {"author": "Qzjauthor"},
    "exclude": ["qzjexcluded"],
}
HISTORY = [
    {"role": "user", "content": "What is the qzjhistory orchard?"},
    {"role": "assistant", "content": "It is qzjhistory land."},
]


class Orchard:
    """The server's client, the model it asks, the collector of its spans, and the collection."""

    def __init__(self, atlas: Atlas, model: OpenAIServer, collector: Collector):
        self.atlas = atlas
        self.model = model
        self.collector = collector
        self.client: FlaskClient = app_of(atlas).test_client()

    @property
    def tracer(self) -> Tracer:
        return self.atlas.services.tracer

    def post(self, path: str, body: object, **options: Any) -> Any:
        return self.client.post(path, json=body, buffered=True, **options)

    def spans(self) -> list[Arrived]:
        """All that the collector got, once none waits for it."""
        *_, delivery = self.tracer.deliveries  # Phoenix, if there is one, comes first
        wait_for(lambda: not delivery.queue.waiting or None, 60, "the last span")
        return list(self.collector.spans)

    def said(self) -> str:
        """All that they hold, as text in small letters."""
        return "\n".join(span.kept for span in self.spans()).lower()


def build_orchard(folder: Path) -> None:
    sources = write_sources(folder / "sources", SOURCES)
    Atlas.build(sources, folder / "stores" / "orchard", embedder=HashEmbedder())
    targets = folder / "targets"
    targets.mkdir()
    loose = "ANSWER_THRESHOLD=0\nANSWER_LIKELIHOOD=0\n"
    (targets / "quotes.txt").write_text(loose)
    (targets / "model.txt").write_text(f"{loose}LLM_PROVIDER=openai\nLLM_SECONDS=5\n")


@contextmanager
def orchard(folder: Path, **settings: Any) -> Iterator[Orchard]:
    """The built collection, served; the model says ANSWER."""
    with openai_server() as model, collecting() as collector:
        model.says(ANSWER)
        chosen: dict[str, Any] = {
            "targets_directory": folder / "targets",
            "test_target": "quotes",
            "openai_base_url": model.address,
            "openai_api_key": KEY,
            "otel_exporter_otlp_endpoint": collector.address,
            "otel_bsp_schedule_delay": 20,
            "atlas_state_directory": folder / "state",
            "query_cache_enabled": False,
        } | settings
        with Atlas.open(folder / "stores" / "orchard", embedder=HashEmbedder(), **chosen) as atlas:
            yield Orchard(atlas, model, collector)
