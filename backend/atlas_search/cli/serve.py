"""Running the server, and Phoenix beside it."""

import gc
import inspect
import logging
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from httpx2 import HTTPError

from atlas_search.building.maintain import make_empty
from atlas_search.cli.create import COMMANDS
from atlas_search.cli.main import end_process, end_with_this, signal_group, stop_on_signal
from atlas_search.cli.options import CollectionChoice, command_settings
from atlas_search.client import AtlasClient
from atlas_search.core.addresses import bounded_request
from atlas_search.core.errors import UnwritableFolder
from atlas_search.core.files import MEGABYTE, bundled_folder, writing
from atlas_search.core.registry import require
from atlas_search.core.settings import Settings
from atlas_search.documents.references import Base
from atlas_search.integrations.within import client_within
from atlas_search.providers.open import open_embedder
from atlas_search.server.access.caller import Access
from atlas_search.server.access.gate import check_start
from atlas_search.server.app import create_app
from atlas_search.server.collections import ServedCollections, built_collections
from atlas_search.server.feedback.delivery import Feedback
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.limits import MAX_BODY, networks
from atlas_search.server.metrics import Refusals, observe_listener
from atlas_search.server.runs import Runs
from atlas_search.server.serving import Serving
from atlas_search.server.sockets import BoundPort, ConnectionLimits, LargeBodies
from atlas_search.stores.versions import make_folder

DEMO = "atlas_demo"
FIRST = "my_archive"  # the collection of who has none yet


def build_demo() -> None:
    """Build the demo if it is missing, as `atlas create files` would; ends the process if that
    fails. Nothing is written but the collection."""
    build = COMMANDS["files"]
    defaults = {name: p.default for name, p in inspect.signature(build).parameters.items()}
    chosen = {"source": [bundled_folder("samples")], "collection": DEMO, "if_missing": True}
    build(**(defaults | chosen))


log = logging.getLogger(__name__)
STOP_SECONDS = 4.0  # for Phoenix to end
DRAIN_SECONDS = 3.0  # for clients to take what is left to send
THREADS_SECONDS = 0.5  # for requests that no client waits for any more
# between threads that compute: with Python's 5 ms each step of the thread that serves the sockets
# waits so long, and 90 clients that ask for much delay health by 2 s instead of 0.3 s
SWITCH_SECONDS = 0.001
PROBE_SECONDS = 0.5  # between two looks whether Phoenix answers


def _with_collection(settings: Settings) -> Settings:
    """Settings that name a collection, where neither they do nor the demo is there: the only one,
    or, where there is nothing yet, an empty one, so that sources can be added in the page."""
    root = settings.chroma_persist_directory
    built = built_collections(root)
    if "chroma_collection_name" in settings.model_fields_set or DEMO in built or len(built) > 1:
        return settings
    (name,) = built or (FIRST,)
    settings = settings.model_copy(update={"chroma_collection_name": name})
    if built or (root.is_dir() and any(root.iterdir())):
        return settings
    _tell(f"There is no collection in {root} yet. An empty one, {name}, is served:")
    _tell("open the page once its address stands here, and drop your sources on it.")
    with writing(root):
        make_folder(settings.collection_folder, 0o777 & ~settings.umask)
        make_empty(settings.collection_folder, open_embedder(settings))
    return settings


def serve(settings: Settings) -> None:
    """Serve until interrupted or terminated. Raises ConfigurationError before it listens."""
    check_start(settings)
    settings = _with_collection(settings)
    # modules and their functions stay: to look through them for garbage stopped every request for
    # 0.1 s, time and again while spans wait to be sent. What is opened from here on may be closed
    gc.freeze()
    serving = ServedCollections(Serving(settings))
    if settings.embedding_provider == "local":
        serving().services.searcher.embedder.embed_query("The first call compiles kernels.")
    app = create_app(serving)
    runs: Runs = app.extensions["runs"]
    jobs: Jobs = app.extensions["jobs"]
    refusals: Refusals = app.extensions["refusals"]
    feedback: Feedback = app.extensions["feedback"]
    access: Access = app.extensions["access"]
    listener: BoundPort | None = None
    try:
        listener = BoundPort(
            app,
            settings.atlas_host,
            settings.atlas_port,
            threads=settings.atlas_threads,
            max_body=2 * MAX_BODY,  # up to there the application says itself that it is too much
            limits=ConnectionLimits(
                settings.max_connections,
                settings.connections_per_address,
                networks(settings.trusted_proxies),
            ),
            tell=partial(refusals.tell_outside, app),
            large=LargeBodies(_largest_body(settings), access, settings.ingest_root),
        )
        observe_listener(serving().services.searcher.metrics, listener)
        serving.follow()
        feedback.start()
        sys.setswitchinterval(SWITCH_SECONDS)
        _print_addresses(settings, listener.port)
        listener.run()
    except KeyboardInterrupt:
        log.info("Stopping.")
    finally:
        _stop(runs, jobs, listener)
        feedback.close()
        serving.close()


def _largest_body(settings: Settings) -> int:
    """Bytes of a request that brings files; some more, so that what is too much is said."""
    return settings.ingest_max_request_mb * MEGABYTE + 2 * MEGABYTE


def _stop(runs: Runs, jobs: Jobs, listener: BoundPort | None) -> None:
    """Let every answer and job end, and its clients hear of it."""
    ending = (runs.close, jobs.close)
    closing = [threading.Thread(target=end, name="close", daemon=True) for end in ending]
    for thread in closing:
        thread.start()
    if listener:
        listener.drain(DRAIN_SECONDS, until=lambda: not any(t.is_alive() for t in closing))
        listener.close(THREADS_SECONDS)
    last = time.monotonic() + DRAIN_SECONDS
    for thread in closing:
        thread.join(max(0, last - time.monotonic()))


@contextmanager
def phoenix_beside(settings: Settings, executable: Path, install: Sequence[str]) -> Iterator[None]:
    """Phoenix while the block runs, which does not wait for it; `install` goes before, if given.

    Traces wait for it too (`core.tracing`). A line is printed once it answers, or if it cannot.
    """
    background = _Background(settings, executable, install)
    background.start()
    try:
        yield
    finally:
        background.stop()


class _Background(threading.Thread):
    """Installs and starts Phoenix. Of its processes one runs at a time, until `stop`."""

    def __init__(self, settings: Settings, executable: Path, install: Sequence[str]):
        super().__init__(name="phoenix", daemon=True)
        self._settings = settings
        self._executable = executable
        self._install = install
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Install, start, and say where Phoenix is once it answers."""
        try:
            if self._install and not self._run_install():
                return
            process = self._begin(lambda: _start_phoenix(self._settings, self._executable))
        except (OSError, UnwritableFolder) as error:
            _tell(f"Phoenix cannot be started: {error}. No traces.")
            return
        address = f"http://127.0.0.1:{self._settings.phoenix_port}"
        while process and process.poll() is None:
            if _answers(f"{address}/healthz"):
                _tell(f"Phoenix is at {address}")
                return
            self._stopped.wait(PROBE_SECONDS)

    def _run_install(self) -> bool:
        """Install Phoenix; return True if it is installed now."""
        if not self._executable.exists():
            _tell("Phoenix is being installed, which takes some minutes. Traces wait for it.")
        process = self._begin(
            lambda: subprocess.Popen(
                self._install, stdin=subprocess.DEVNULL, start_new_session=True
            )
        )
        if not process:
            return False
        code = process.wait()
        if code and not self._stopped.is_set():
            command = shlex.join(self._install)
            _tell(f"Phoenix is not installed: `{command}` ended with {code}. No traces.")
        return code == 0

    def _begin(
        self, start: Callable[[], "subprocess.Popen[bytes]"]
    ) -> "subprocess.Popen[bytes] | None":
        """Start a process; None after `stop`, which ends the last that was started."""
        with self._lock:
            if self._stopped.is_set():
                return None
            self._process = start()
            end_with_this(self._process)
            return self._process

    def stop(self) -> None:
        """End what runs, be it the installation."""
        with self._lock:
            self._stopped.set()
            process = self._process
        if process:
            _end(process)
        self.join()


def _start_phoenix(settings: Settings, executable: Path) -> "subprocess.Popen[bytes]":
    """Begin Phoenix; its log is in its working folder."""
    folder = settings.phoenix_working_dir
    with writing(folder):
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
    end_with_this(process)
    watcher = threading.Thread(target=_watch, args=(process, folder), daemon=True)
    watcher.start()
    return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and those it started: an installation is `make`, a shell and `pip`."""
    if process.poll() is not None:
        return
    signal_group(process, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        signal_group(process, signal.SIGKILL)
        process.wait()


def _answers(url: str) -> bool:
    try:
        return bounded_request("GET", url, timeout=PROBE_SECONDS).is_success
    except HTTPError:
        return False


def _tell(line: str) -> None:
    print(line, flush=True)


def _watch(process: "subprocess.Popen[bytes]", folder: Path) -> None:
    code = process.wait()
    if code > 0:
        log.warning("Phoenix ended with code %d; see %s.", code, folder / "phoenix.log")


def _print_addresses(settings: Settings, port: int) -> None:
    _tell(f"Atlas is at http://{settings.atlas_host}:{port}")
    if settings.phoenix_url:
        _tell(f"Traces go to {settings.phoenix_url}")


PHOENIX_EXECUTABLE = Path(".venv-phoenix/bin/phoenix")


def serve_command() -> None:
    """Serve the page and the API."""
    settings = command_settings()
    stop_on_signal()
    serve(settings)
    end_process(0)


def mcp_command(
    url: Annotated[
        str, typer.Option(help="Ask the server at this address; else the collection is opened here")
    ] = "",
    collection: CollectionChoice = None,
) -> None:
    """Serve MCP on standard input and output to the program that starts this command."""
    require("mcp", "MCP")
    settings = command_settings()
    key, chosen = settings.atlas_api_key.get_secret_value(), collection or ""
    if url:
        with AtlasClient(url, key, chosen) as client:
            _speak_mcp(client, client.base)
    else:
        _speak_mcp_of(settings, key, chosen)
    end_process(0)


def _speak_mcp_of(settings: Settings, key: str, collection: str) -> None:
    """Serve MCP over collections opened in this process."""
    serving = ServedCollections(Serving(settings))
    try:
        app = create_app(serving)
        url = f"http://{settings.atlas_host}:{settings.atlas_port}"
        caller = {"REMOTE_ADDR": "127.0.0.1"}
        client = AtlasClient(url, key, collection, client=client_within(app, caller))
        base = Base(settings.atlas_public_url or url, settings.chroma_collection_name)
        _speak_mcp(client, base.of(collection))
    finally:
        serving.close()


def _speak_mcp(client: AtlasClient, base: str) -> None:
    import anyio
    from mcp.server.stdio import stdio_server

    from atlas_search.integrations.mcp import atlas_server

    server = atlas_server(lambda _: (client, base))

    async def speak() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    with suppress(KeyboardInterrupt):
        anyio.run(speak)


def demo_command(
    serve_it: Annotated[
        bool, typer.Option("--serve/--no-serve", help="Whether to serve it once it is built")
    ] = True,
) -> None:
    """Build the bundled demo collection if it is missing, and serve it."""
    build_demo()
    if serve_it:
        settings = command_settings().model_copy(update={"chroma_collection_name": DEMO})
        stop_on_signal()
        serve(settings)
        end_process(0)
    print(f"It is not served yet: `atlas demo`, or `CHROMA_COLLECTION_NAME={DEMO} atlas serve`.")


def run_command(
    phoenix_executable: Annotated[
        Path, typer.Option(help="The `phoenix` command of its own virtual environment")
    ] = PHOENIX_EXECUTABLE,
    phoenix_install: Annotated[
        str, typer.Option(help="Command that installs Phoenix, run beside the server")
    ] = "",
) -> None:
    """Serve, with Phoenix beside it unless PHOENIX=0; Ctrl-C stops both."""
    settings = command_settings()
    stop_on_signal()
    start = settings.phoenix and not settings.phoenix_collector_endpoint
    install = shlex.split(phoenix_install)
    if settings.phoenix and not start:
        print("No Phoenix is started here: traces go to PHOENIX_COLLECTOR_ENDPOINT.", flush=True)
    if start and not install and not phoenix_executable.exists():
        print(f"No Phoenix at {phoenix_executable}: `make phoenix-venv` installs it. No tracing.")
        start = False
    if start:
        address = f"http://127.0.0.1:{settings.phoenix_port}"
        settings = settings.model_copy(update={"phoenix_collector_endpoint": address})
    beside = phoenix_beside(settings, phoenix_executable.absolute(), install)
    with beside if start else nullcontext():
        serve(settings)
    end_process(0)


def phoenix_command(
    phoenix_executable: Annotated[Path, typer.Option()] = PHOENIX_EXECUTABLE,
) -> None:
    """Run Phoenix alone until Ctrl-C."""
    settings = command_settings()
    stop_on_signal()
    if not phoenix_executable.exists():
        print(
            f"atlas: no Phoenix at {phoenix_executable}: run `make phoenix-venv`.", file=sys.stderr
        )
        sys.exit(1)
    with suppress(KeyboardInterrupt):
        process = _start_phoenix(settings, phoenix_executable.absolute())
        try:
            print(f"Phoenix is at http://127.0.0.1:{settings.phoenix_port}", flush=True)
            process.wait()
        finally:
            _end(process)
