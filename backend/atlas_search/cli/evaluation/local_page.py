"""Serving a page to whoever started a command, on this machine alone."""

import secrets
import webbrowser
import zlib
from pathlib import Path
from typing import Annotated

import typer
from flask_openapi3.openapi import OpenAPI

from atlas_search.core.errors import ConfigurationError
from atlas_search.server.labelling.app import HOST, MAX_BODY
from atlas_search.server.listen import Limits, Listener
from atlas_search.server.proxies import networks

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
        if browser:
            webbrowser.open(address)
        listener.run()
    except KeyboardInterrupt:
        pass
    finally:
        listener.drain(DRAIN_SECONDS)
        listener.close()


def _listener(app: OpenAPI, of: Path, port: int | None) -> Listener:
    def listen(port: int) -> Listener:
        return Listener(app, HOST, port, threads=THREADS, max_body=2 * MAX_BODY, limits=LIMITS)

    if port is not None:
        return listen(port)
    own = _FIRST_PORT + zlib.crc32(str(of.resolve()).encode()) % _PORTS
    try:
        return listen(own)
    except ConfigurationError:
        return listen(0)
