"""Running the server, and Phoenix beside it."""

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import waitress
from waitress.server import BaseWSGIServer, MultiSocketServer

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.server.app import create_app
from atlas_search.server.serving import Serving

log = logging.getLogger(__name__)
STOP_SECONDS = 10.0


def serve(settings: Settings) -> None:
    """Serve until interrupted or terminated. Raises ConfigurationError before it listens."""
    serving = Serving(settings)
    if settings.embedding_provider == "local":
        serving().services.searcher.embedder.embed_query("The first call compiles kernels.")
    app = create_app(serving, problem=lambda: serving.problem)
    try:
        try:
            server = waitress.create_server(
                app,
                host=settings.atlas_host,
                port=settings.atlas_port,
                threads=settings.atlas_threads,
                ident="atlas",
                # lets a stream notice that its client has gone while nothing is being sent
                channel_request_lookahead=1,
            )
        except OSError as error:
            raise ConfigurationError(
                f"Port {settings.atlas_port} of {settings.atlas_host} cannot be used "
                f"({error.strerror}). Set ATLAS_PORT to a free one."
            ) from error
        serving.follow()
        _print_addresses(settings, server)
        server.run()
    except KeyboardInterrupt:
        log.info("Stopping.")
    finally:
        app.extensions["runs"].close()
        serving.close()


@contextmanager
def phoenix(settings: Settings, executable: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Phoenix as a process of its own while the block runs; its log is in its working folder.

    It is not waited for: spans are sent again until it answers.
    """
    folder = settings.phoenix_working_dir
    folder.mkdir(parents=True, exist_ok=True)
    environment = {
        **os.environ,
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(settings.phoenix_port),
        "PHOENIX_GRPC_PORT": "0",  # not used; a fixed one lets only one Phoenix run
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_LOG_MIGRATIONS": "false",
    }
    for name in ("PHOENIX_COLLECTOR_ENDPOINT", "PHOENIX_PUBLIC_URL"):
        environment.pop(name, None)
    with (folder / "phoenix.log").open("ab") as log_file:
        process = subprocess.Popen(
            [executable, "serve"],
            env=environment,
            stdout=log_file,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches this process, which ends Phoenix in order
        )
    watcher = threading.Thread(target=_watch, args=(process, folder), daemon=True)
    watcher.start()
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def stop_on_signal() -> None:
    """Let SIGTERM and SIGINT stop everything in order.

    SIGINT too: a shell starts background commands with it ignored. SIGHUP is a closed terminal.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, interrupt)


def _watch(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    code = process.wait()
    if code > 0:
        log.warning("Phoenix ended with code %d; see %s.", code, folder / "phoenix.log")


def _print_addresses(settings: Settings, server: BaseWSGIServer | MultiSocketServer) -> None:
    port = getattr(server, "effective_port", settings.atlas_port)
    print(f"Atlas is at http://{settings.atlas_host}:{port}", flush=True)
    if settings.phoenix_url:
        print(f"Phoenix is at {settings.phoenix_url}", flush=True)
    sys.stdout.flush()
