"""What streams cost those who search beside them: `python -m benchmarks.load`.

Over the configured collection (the bundled demo, unless the settings say otherwise), with a server
in a process of its own: clients that search alone, then beside streams whose readers vanish, stall
and return, first from a slow local model, then quoted from the sources. Prints the time of a
search, and what the server holds afterwards.
"""

import os
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated

import typer

from atlas_search.core.settings import load_settings
from atlas_search.evaluation.label_files import load_labels
from tests.answer.models import first_token
from tests.chat_server import KEY, ChatServer, Pause, Request, Says
from tests.crowd import Crowd, Footprint, crowd, footprint
from tests.openai_server import openai_server
from tests.places import ROOT
from tests.servers import ATLAS, running

SETTLE_SECONDS = 8.0  # a client that went away has two to come back


def main(
    seconds: Annotated[float, typer.Option(help="Of each part")] = 30.0,
    streams: Annotated[int, typer.Option(help="At once")] = 64,
    searching: Annotated[int, typer.Option(help="Clients that search")] = 8,
) -> None:
    """Measure and print."""
    labels = load_labels(ROOT / "create" / "samples" / "labels.jsonl")
    questions = [label.question for label in labels if label.answerable]
    with tempfile.TemporaryDirectory() as folder, openai_server() as model:
        model.says(_slowly)
        for target in ("slow", "quoted"):
            environment = _environment(Path(folder), model, target, streams + searching)
            with running(*ATLAS, "serve", environment=environment, folder=Path(folder)) as server:
                address, process = server.address("Atlas"), server.process.pid
                part = partial(crowd, address, questions, searching=searching)
                part(streaming=streams, seconds=3.0)  # opens what stays open
                before = _settled(process)
                alone = part(streaming=0, seconds=seconds)
                beside = part(streaming=streams, seconds=seconds)
                _print(target, alone, beside, before, _settled(process))


def _environment(folder: Path, model: ChatServer, target: str, clients: int) -> dict[str, str]:
    targets = folder / "targets"
    targets.mkdir(exist_ok=True)
    (targets / "slow.txt").write_text("LLM_PROVIDER=openai\n")
    (targets / "quoted.txt").write_text("LLM_PROVIDER=extractive\n")
    settings = load_settings()
    return {
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "CHROMA_PERSIST_DIRECTORY": str(settings.chroma_persist_directory),
        "CHROMA_COLLECTION_NAME": settings.chroma_collection_name,
        "QUERY_CACHE_ENABLED": "0",
        "ATLAS_PORT": "0",
        "ATLAS_LOG_LEVEL": "ERROR",
        "CONNECTIONS_PER_ADDRESS": str(3 * clients),
        "TARGETS_DIRECTORY": str(targets),
        "TEST_TARGET": target,
        "OPENAI_BASE_URL": model.address,
        "OPENAI_API_KEY": KEY,
        "LLM_CONCURRENCY": "64",
    }


def _slowly(request: Request) -> Says:
    words = [f"word{number} " for number in range(18)]
    token = first_token(request)
    return Says(*(part for word in [*words, f"{token}."] for part in (Pause(0.2), word)))


def _settled(process: int) -> Footprint:
    time.sleep(SETTLE_SECONDS)
    return footprint(process)


def _print(target: str, alone: Crowd, beside: Crowd, before: Footprint, after: Footprint) -> None:
    print(f"Answers {target}; streams {dict(beside.streams)}; statuses {dict(beside.statuses)}")
    for name, found in (("alone", alone), ("beside the streams", beside)):
        times = [1000 * each for each in found.searches]
        print(
            f"  search {name}: {len(times)}, p50 {median(times):.0f} ms, "
            f"p95 {quantiles(times, n=20)[18]:.0f} ms"
        )
    ratio = quantiles(beside.searches, n=20)[18] / quantiles(alone.searches, n=20)[18]
    print(f"  p95 is {ratio:.2f} times that without streams")
    for name, held in (("before", before), ("after", after)):
        megabytes = held.resident >> 20
        print(f"  {name}: {held.threads} threads, {held.files} files, {megabytes} MB", flush=True)


if __name__ == "__main__":
    typer.run(main)
