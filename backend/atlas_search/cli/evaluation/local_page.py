"""Serving a page to whoever started a command, on this machine alone."""

import secrets
import webbrowser
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import Annotated

import typer
from flask_openapi3.openapi import OpenAPI

from atlas_search.core.errors import ConfigurationError
from atlas_search.server.capacity import networks
from atlas_search.server.labelling import HOST, MAX_BODY
from atlas_search.server.sockets import Limits, Listener

THREADS = 8
DRAIN_SECONDS = 2.0
LIMITS = Limits(connections=100, per_address=100, trusted=networks(""))
_FIRST_PORT, _PORTS = 20_000, 10_000  # below those that systems give to connections

Browser = Annotated[
    bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser")
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, help="Port of the page; the same for the same file if absent"),
]


def new_key() -> str:
    """What opens the page, made anew at each start."""
    return secrets.token_urlsafe(24)


def show_page(app: OpenAPI, key: str, of: Path, port: int | None, *, browser: bool) -> None:
    """Serve until interrupted. Raises ConfigurationError if the port cannot be used.

    A browser keeps drafts by address, so the page `of` a file has the same port at each start, if
    it is free.
    """
    listener = _listener(app, of, port)
    try:
        address = f"http://{HOST}:{listener.port}/#key={key}"
        print(f"The page is at {address}", flush=True)
        with redirection(address) if browser else nullcontext() as opened:
            if opened:
                # in a thread of its own: a browser for the terminal stays there
                Thread(target=webbrowser.open, args=(opened.as_uri(),), daemon=True).start()
            listener.run()
    except KeyboardInterrupt:
        pass
    finally:
        listener.drain(DRAIN_SECONDS)
        listener.close()


@contextmanager
def redirection(address: str) -> Iterator[Path]:
    """A file, of its user alone, that leads to an address; it is removed at the end.

    Everybody on a machine can read with which arguments a browser was started, and the address
    holds the key.
    """
    with NamedTemporaryFile("w", prefix="atlas-", suffix=".html") as file:
        file.write(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
            f'<a href="{address}">The page</a>'
        )
        file.flush()
        yield Path(file.name)


def _listener(app: OpenAPI, of: Path, port: int | None) -> Listener:
    def listen(port: int) -> Listener:
        return Listener(app, HOST, port, threads=THREADS, max_body=2 * MAX_BODY, limits=LIMITS)

    if port is not None:
        try:
            return listen(port)
        except ConfigurationError as error:
            raise ConfigurationError(
                f"--port {port} cannot be used ({error.__cause__}). Give another, or none."
            ) from error
    own = _FIRST_PORT + zlib.crc32(str(of.resolve()).encode()) % _PORTS
    try:
        return listen(own)
    except ConfigurationError:
        return listen(0)
