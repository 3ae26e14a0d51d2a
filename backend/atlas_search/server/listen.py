"""The socket side of the server: waitress, with bounds on what clients may hold.

Waitress reads and writes in one thread and lends a worker only to a whole request, so a client that
sends slowly costs a socket and no thread; servers with a thread for each connection lose one to
each such client. What waitress lacks is here: times for a request to arrive, a share for each
address, and an end to clients that do not read.
"""

import errno
import logging
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from atlas_search.core.errors import ConfigurationError, ServerBusy
from atlas_search.server.capacity import Capacity, TellRefusal, ignore
from atlas_search.server.channel import Channel
from atlas_search.server.large_bodies import LargeBodies
from atlas_search.server.problems import problem_of
from atlas_search.server.proxies import Networks, owner_of

log = logging.getLogger(__name__)

MAX_HEADER = 32 * 1024  # bytes of a request line and headers
UNREAD_BYTES = 4 * 1024 * 1024  # of a response: its thread waits once so much is not taken
ACCEPTED_AT_ONCE = 16  # connections taken before those that are open get their turn again
BACKLOG = 1024
FILES = 512  # that are no connections: the store, models, temporary files
LOOK_SECONDS = 1.0  # between two looks after what takes too long
RETRY_SECONDS = 5.0


class Limits(NamedTuple):
    """Connections at once: all, of one address that is no trusted proxy; and those proxies."""

    connections: int
    per_address: int
    trusted: Networks


class Listener:
    """A bound port, and the connections to it.

    Port 0 takes a free one; `port` says which. Raises ConfigurationError if the port is taken.
    """

    def __init__(
        self,
        app: Any,
        host: str,
        port: int,
        *,
        threads: int,
        max_body: int,
        limits: Limits,
        tell: TellRefusal = ignore,
        large: LargeBodies | None = None,
    ):
        adjustments = Adjustments(
            host=host,
            port=port,
            threads=threads,
            ident="atlas",
            # lets a stream notice that its client has gone while nothing is being sent
            channel_request_lookahead=1,
            asyncore_use_poll=True,  # `select` fails at the 1024th file
            backlog=BACKLOG,
            max_request_header_size=MAX_HEADER,
            max_request_body_size=max_body,
            outbuf_high_watermark=UNREAD_BYTES,
        )
        # else a line for each client that leaves, and for each request that waits for a thread
        logging.getLogger("waitress").setLevel(logging.WARNING)
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        _allow_files(limits.connections)
        self._map: dict[int, Any] = {}
        self._dispatcher = ThreadedTaskDispatcher()
        self._crowd = _Crowd(self._map, limits)
        self.capacity = Capacity(app, threads, tell)
        try:
            self._servers = [
                _Server(
                    self.capacity, self._map, self._dispatcher, adjustments, listening, self._crowd
                )
                for listening in adjustments.listen
            ]
        except OSError as error:
            wasyncore.close_all(self._map)
            raise ConfigurationError(
                f"Port {port} of {host} cannot be used ({error.strerror}). Set ATLAS_PORT to a "
                "free one."
            ) from error
        for server in self._servers:
            server.large = large or server.large
        self._dispatcher.set_thread_count(threads)
        self.port = int(self._servers[0].effective_port)

    @property
    def connections(self) -> int:
        """Those open now."""
        return len(self._crowd.channels())

    @property
    def refused(self) -> int:
        """Connections for which there was no place."""
        return self._crowd.refused

    def run(self) -> None:
        """Serve until an exception, such as KeyboardInterrupt, or until `close`."""
        while self._map:
            wasyncore.poll2(1.0, self._map)

    def drain(self, seconds: float, until: Callable[[], bool] = lambda: True) -> None:
        """Take nothing new, and send what is being answered; not longer than so many seconds.

        It ends sooner once nothing is being answered and `until` is true.
        """
        for server in self._servers:
            wasyncore.dispatcher.close(server)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for channel in self._crowd.channels():
                if not channel.busy:
                    channel.handle_close()
            if not self._crowd.channels() and until():
                return
            wasyncore.poll2(0.1, self._map)

    def close(self, seconds: float = 1.0) -> None:
        """Drop every connection, and wait so long for the threads. From the thread that ran it."""
        for channel in self._crowd.channels():
            channel.handle_close()
        self._dispatcher.shutdown(timeout=seconds)
        wasyncore.close_all(self._map)

    def stop(self) -> None:
        """End `run` from another thread."""
        self._servers[0].trigger.pull_trigger(lambda: wasyncore.close_all(self._map))


class _Server(TcpWSGIServer):  # type: ignore[misc]
    """Waitress's, but every connection is let in or refused at once: none waits unseen."""

    channel_class = Channel

    def __init__(
        self,
        app: Any,
        map_: dict[int, Any],
        dispatcher: ThreadedTaskDispatcher,
        adjustments: Adjustments,
        listening: Sequence[Any],
        crowd: "_Crowd",
    ):
        self._crowd = crowd
        self._next_look = 0.0
        self.large = LargeBodies()
        super().__init__(
            app, map_, dispatcher=dispatcher, adj=adjustments, sockinfo=tuple(listening)
        )

    def readable(self) -> bool:
        """Always, and once a second look after the connections."""
        now = time.time()
        if now >= self._next_look:
            self._next_look = now + LOOK_SECONDS
            self.maintenance(now)
        return bool(self.accepting)

    def maintenance(self, now: float) -> None:
        """Close what took too long."""
        for channel in list(self.active_channels.values()):
            if channel.is_overdue(now):
                channel.will_close = True

    def handle_error(self) -> None:
        """Go on listening whatever happened to one connection."""
        log.exception("A connection could not be let in.")

    def handle_accept(self) -> None:
        """Let in what waits, though not so much that others starve."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted = self.accept()
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE):
                    self._crowd.make_room()
                return
            if accepted is None:
                return
            self._let_in(*accepted)

    def _let_in(self, connection: socket.socket, address: tuple[Any, ...]) -> None:
        if not self._crowd.has_room(owner_of(address[0])):
            self._crowd.refused += 1
            _refuse(connection)
            return
        with suppress(OSError):  # gone again
            self.set_socket_options(connection)
            self.channel_class(self, connection, address, self.adj, map=self._map)

    def set_socket_options(self, connection: socket.socket) -> None:
        """Let the system notice clients that vanish without a word, or never read."""
        super().set_socket_options(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            milliseconds = int(Channel.SEND_SECONDS * 1000)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)


class _Crowd:
    """All connections. Who is idle goes when another needs the place."""

    def __init__(self, map_: dict[int, Any], limits: Limits):
        self._map = map_
        self._limits = limits
        self.refused = 0

    def channels(self) -> list[Channel]:
        """Those open now, and not about to be closed."""
        return [
            each
            for each in list(self._map.values())
            if isinstance(each, Channel) and not each.will_close
        ]

    def has_room(self, owner: str) -> bool:
        """Whether one more of `owner` may come in. An idle one may be closed for it."""
        channels = self.channels()
        own = [channel for channel in channels if channel.owner == owner]
        if len(own) >= self._limits.per_address and not self._limits.trusted.hold(owner):
            return _close_idle(own)
        return len(channels) < self._limits.connections or self.make_room()

    def make_room(self) -> bool:
        """Close an idle connection of the address that has most of them, if any has."""
        idle = [channel for channel in self.channels() if not channel.busy]
        if not idle:
            return False
        [(owner, _)] = Counter(channel.owner for channel in idle).most_common(1)
        return _close_idle([channel for channel in idle if channel.owner == owner])


def _close_idle(channels: Sequence[Channel]) -> bool:
    """Close that which has been idle longest; whether there was one. Half a request goes last.

    One whose bytes have arrived but have not been read yet is not idle.
    """
    idle = [channel for channel in channels if not channel.busy]
    for channel in sorted(idle, key=lambda each: (each.request is not None, each.since)):
        if not channel.has_unread:
            # not here and now: the next connection would get its file number, and with that
            # what was seen on the old one in the same look at all of them
            channel.will_close = True
            return True
    return False


def _refuse(connection: socket.socket) -> None:
    """Say so as far as that can be done without waiting."""
    with connection, suppress(OSError):
        connection.setblocking(False)
        connection.send(_REFUSAL)


def _refusal() -> bytes:
    error = ServerBusy("Too many connections are open. Try again.", RETRY_SECONDS)
    body = problem_of(error, "").model_dump_json(exclude_none=True).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: {RETRY_SECONDS:.0f}\r\nConnection: close\r\n"
    )
    return f"{head}\r\n".encode() + body


_REFUSAL = _refusal()


def _allow_files(connections: int) -> None:
    """Raise this process's bound on open files to what so many connections need, if it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + FILES
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning("Only %d files may be open (ulimit -n); MAX_CONNECTIONS needs more.", allowed)
