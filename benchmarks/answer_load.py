"""What answers cost beside the model: `python -m benchmarks.answer_load`.

Over the configured collection (the bundled demo, unless the settings say otherwise), with the real
client of OpenAI's protocol and a local server that speaks it:

- the overhead of a whole answer: from the question to the first piece of text at the client,
  without the search itself and without the time the model took for its first piece;
- 64 streams at once for a time, from a model that takes a second for an answer, half of the clients
  leaving early: what is left afterwards, and how memory grew.
"""

import json
import threading
import time
from dataclasses import dataclass
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Annotated

import httpx2
import typer
from waitress.server import create_server

from atlas_search.atlas import Atlas
from atlas_search.evaluation.label_files import load_labels
from atlas_search.providers.chat import ModelCalls
from atlas_search.services import Services
from tests.answer.models import first_token
from tests.answering import chat_model, with_model
from tests.chat_server import ChatServer, Pause, Request, Says
from tests.load import put_under_load
from tests.openai_server import openai_server
from tests.places import ROOT
from tests.servers import app_of

MODEL_SECONDS = 0.2  # for its first piece
QUESTIONS = 60
STAGES = ("embed", "retrieve", "measure", "rank", "select")  # of a search


@dataclass(frozen=True)
class Timed:
    """Milliseconds from the question: to the first text, of the search, and of the whole."""

    first_text: float
    search: float
    whole: float

    @property
    def overhead(self) -> float:
        """What is neither the search nor the model."""
        return self.first_text - self.search - MODEL_SECONDS * 1000


def main(
    seconds: Annotated[float, typer.Option(help="Of the load test")] = 60.0,
    streams: Annotated[int, typer.Option(help="At once")] = 64,
) -> None:
    """Measure and print."""
    with (
        TemporaryDirectory() as state,
        Atlas.open(llm_concurrency=32, atlas_state_directory=state) as atlas,
        openai_server() as server,
    ):
        services, settings = atlas.services, atlas.services.settings
        calls = ModelCalls(settings.llm_concurrency, settings.llm_queue_seconds)
        own = with_model(services, chat_model("openai", server, calls), calls, kept=False)
        try:
            _print_overhead(own, server)
            _print_load(own, server, seconds, streams)
        finally:
            calls.close()


def _print_overhead(services: Services, server: ChatServer) -> None:
    server.says(_slowly)
    app = app_of(Atlas(services))
    waitress = create_server(app, host="127.0.0.1", port=0, threads=16)
    threading.Thread(target=waitress.run, daemon=True).start()
    address = f"http://127.0.0.1:{waitress.effective_port}"
    questions = load_labels(ROOT / "create" / "samples" / "labels.jsonl")
    asked = [label.question for label in questions if label.answerable][: QUESTIONS + 5]
    with httpx2.Client(base_url=address, timeout=30) as client:
        timed = [found for question in asked if (found := _timed(client, question))][5:]
    waitress.close()
    overheads = sorted(found.overhead for found in timed)
    print(f"{len(timed)} answers, the model's first piece after {MODEL_SECONDS * 1000:.0f} ms")
    print(f"  search p50 {median(found.search for found in timed):6.1f} ms")
    print(
        f"  overhead p50 {median(overheads):6.1f} ms, p95 {quantiles(overheads, n=20)[18]:.1f} ms"
    )


def _slowly(request: Request) -> Says:
    return Says(Pause(MODEL_SECONDS), "The court ", "held so ", f"{first_token(request)}.")


def _timed(client: httpx2.Client, question: str) -> Timed | None:
    """Nothing if the question was declined before anything was written."""
    started = time.perf_counter()
    first = 0.0
    body = {"question": question}
    with client.stream("POST", "/api/ask/stream", json=body) as response:
        event = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                event = line[7:]
                if event == "token" and not first:
                    first = _milliseconds(started)
            if line.startswith("data: ") and event == "complete":
                timings = json.loads(line[6:])["timings_ms"]
                search = sum(timings.get(stage, 0.0) for stage in STAGES)
                return Timed(first, search, _milliseconds(started)) if first else None
    return None


def _milliseconds(since: float) -> float:
    return (time.perf_counter() - since) * 1000


def _print_load(services: Services, server: ChatServer, seconds: float, streams: int) -> None:
    load = put_under_load(services, server, seconds, streams)
    first = load.first_token_ms
    print(f"{streams} streams for {seconds:g} s: {load.complete} complete, {load.left} left early")
    print(f"  refused {load.refused}, other problems {len(load.other)} {load.other[:1]}")
    print(f"  first text p50 {median(first):.0f} ms, p95 {quantiles(first, n=20)[18]:.0f} ms")
    print(f"  threads {len(load.threads_before)} before, {len(load.threads_after)} after")
    print(
        f"  left behind: {load.calls_after} calls, {load.spans_after} spans, "
        f"{load.answers_after} answers"
    )
    megabytes = ", ".join(f"{size / 2**20:.0f}" for size in load.resident)
    print(f"  memory after each quarter: {megabytes} MB")


if __name__ == "__main__":
    typer.run(main)
