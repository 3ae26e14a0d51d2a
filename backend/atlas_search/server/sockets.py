"""The socket side of the server: waitress, with bounds on what clients may hold.

Waitress reads and writes in one thread and lends a worker only to a whole request, so a client that
sends slowly costs a socket and no thread; servers with a thread for each connection lose one to
each such client. What waitress lacks is here: times for a request to arrive, a share for each
address, and an end to clients that do not read.

A body is kept until it is whole, before any route sees it. So its headers decide how much is taken:
who has not the right to send files is held to what every other request may carry.
"""

import copy
import errno
import json
import logging
import resource
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, ClassVar, Literal, NamedTuple

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import FileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher
from waitress.utilities import BadRequest

from atlas_search.core.errors import AtlasError, ConfigurationError, ServerBusy
from atlas_search.core.files import not_kept
from atlas_search.server.access.caller import Access, rule_key
from atlas_search.server.access.gate import check_caller
from atlas_search.server.api import TAKES_FORMS
from atlas_search.server.limits import Capacity, Networks, TellRefusal, ignore, owner_of
from atlas_search.server.problems import Problem, headers_of, problem_for, problem_of

AT_ONCE = 4  # large bodies, until they are answered
BODY_RETRY_SECONDS = 10.0
LONGEST_LINE = 4096  # bytes of a line between chunks; waitress looks through all of it each time

Release = Callable[[], None]


class LargeBodies:
    """Places for bodies of up to `most` bytes, for who may send them. None without `access`.

    Their files are in `folder`, so that those of others never want for room in TMPDIR.
    """

    def __init__(self, most: int = 0, access: Access | None = None, folder: Path = Path()):
        self.most = most
        self._folder = folder
        self._access = access
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def may_come(self, rule: str) -> bool:
        """Return True if a route takes large bodies."""
        return self._access is not None and rule in TAKES_FORMS

    def open(self, rule: str, headers: Mapping[str, str]) -> Release:
        """Take a place for who sends these headers, and return what gives it back.

        Raises AtlasError if they may not send one, or no place is free.
        """
        if self._access:
            sent = {f"HTTP_{name}": value for name, value in headers.items()}
            # the address is not known here; the gate looks at it too
            check_caller(self._access.caller(sent | {"REMOTE_ADDR": "127.0.0.1"}), rule)
        if not self._places.acquire(blocking=False):
            raise ServerBusy(f"{AT_ONCE} uploads are arriving. Try again.", BODY_RETRY_SECONDS)
        held = [self._places]

        def release() -> None:
            while held:
                held.pop().release()

        return release

    def file(self) -> Any:
        """A body without bytes, as a file without a name. Raises OSError."""
        self._folder.mkdir(parents=True, exist_ok=True)
        return FileBasedBuffer(TemporaryFile(dir=self._folder))


class Request(HTTPRequestParser):  # type: ignore[misc]
    """A request of waitress's, bounded by who sends it."""

    adj: Any
    completed: bool
    path = "/"
    """Of a request that cannot be read, too: Waitress logs it if its client leaves."""

    def __init__(self, adjustments: Any, large: LargeBodies):
        super().__init__(adjustments)
        self._large = large
        self._refused: Problem | None = None
        self._release: Release = lambda: None
        self.is_large = False

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the headers, and take a place if a large body follows."""
        super().parse_header(header_plus)
        rule = rule_key(self.command, self.path)
        most = int(self.adj.max_request_body_size)
        if not (self.chunked or self.content_length >= most) or not self._large.may_come(rule):
            return
        try:
            self._release = self._large.open(rule, self.headers)
        except AtlasError as error:
            self._refused = problem_of(error, self.path)
            return
        self.is_large = True
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = max(most, self._large.most)
        self.body_rcv.buf = self._large.file()

    def received(self, data: bytes) -> int:
        """Parse more of a request; one with an error takes all, and gives its place back."""
        try:
            consumed = int(super().received(data))
        except OSError as error:
            place = "INGEST_ROOT" if self.is_large else "TMPDIR"
            self._refused = problem_of(not_kept("The body", place, error), self.path)
            self.error = self._refused
            self.completed = True
        if self.chunked and not self.completed and self._line() > LONGEST_LINE:
            self.error, self.completed = BadRequest("A line between chunks is too long"), True
        if self.error:
            if self._refused:
                self.error = self._refused
            self.close()
            consumed = len(data)
        if self.completed:
            self.expect_continue = False  # or a body would be asked for, and waited for
        return consumed

    def _line(self) -> int:
        """Return the bytes between two chunks, as far as they have come."""
        return len(self.body_rcv.control_line) + len(self.body_rcv.trailer)

    def close(self) -> None:
        with suppress(OSError):  # of a full disk, which does not take its last bytes either
            super().close()
        self._release()


Phase = Literal["busy", "silent", "header", "body", "refused", "idle"]
"""Busy with answering; nothing sent yet; half a header; half a body; refused; between requests."""

PIPELINED = 4  # requests that may wait behind another; browsers send none
PIECE = 1024  # bytes parsed before they are counted: of 8192, 200 small requests took 10 ms


class Channel(HTTPChannel):  # type: ignore[misc]
    """A channel of waitress's, with an owner and times. Only the sockets' thread closes it.

    After a refusal, what its client still sends is thrown away for a while: closing a socket with
    bytes that nobody has read resets it, and the refusal would be lost to who sends before reading.
    """

    will_close: bool
    close_when_flushed: bool
    HEADER_SECONDS: ClassVar[float] = 15.0
    BODY_SECONDS: ClassVar[float] = 30.0
    LARGE_BYTES: ClassVar[int] = 100_000  # a second, on average, of a large body beyond that time
    IDLE_SECONDS: ClassVar[float] = 75.0  # proxies keep theirs for 60 s, and must close first
    SEND_SECONDS: ClassVar[float] = 30.0
    SEND_BYTES: ClassVar[int] = 64 * 1024  # that a client takes in SEND_SECONDS, if so many wait

    def __init__(self, server: Any, sock: Any, addr: tuple[Any, ...], adj: Any, map: Any = None):
        self.owner = owner_of(addr[0])
        self._served = False
        self._sent = 0
        self._waiting: tuple[float, int] | None = None  # since when, and sent until then
        self._parsed: tuple[Phase, object, float] = ("silent", None, 0.0)
        self._newest: Request | None = None
        # twice the largest body: who sends too much often sends not much more
        self._spare = 2 * max(adj.max_request_body_size, server.large.most)
        super().__init__(server, sock, addr, adj, map=map)

    def parser_class(self, adj: Any) -> Request:
        self._newest = Request(adj, self.server.large)
        return self._newest

    @property
    def refused(self) -> bool:
        """Return True once a request was refused: nothing after it is taken."""
        return self._newest is not None and self._newest.error is not None

    @property
    def busy(self) -> bool:
        """Return True while a request is being answered, or its answer being sent."""
        return bool(self.requests or self.total_outbufs_len)

    @property
    def has_unread(self) -> bool:
        """Return True if bytes of the client are waiting to be read, and not to be thrown away."""
        try:
            return not self.refused and bool(
                self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            )
        except OSError:
            return False

    @property
    def phase(self) -> Phase:
        if self.busy:
            return "busy"
        if self.refused:
            return "refused"
        if self.request is not None:
            return "body" if self.request.headers_finished else "header"
        return "idle" if self._served else "silent"

    @property
    def since(self) -> float:
        """The time when that `phase` began, as `time.time()`; for a part of a request, as seen."""
        phase = self.phase
        if phase == "silent":
            return float(self.creation_time)
        if phase in ("header", "body", "refused") and self._parsed[:2] == (phase, self.request):
            return self._parsed[2]
        return float(self.last_activity)

    def is_overdue(self, now: float) -> bool:
        """Return True if the connection is to be closed. Called every second."""
        return self._stalls(now) or now - self._see(now) > self._patience()

    def _see(self, now: float) -> float:
        """Note what the client is doing; return when it began."""
        phase = self.phase
        if self._parsed[:2] != (phase, self.request):
            self._parsed = (phase, self.request, now)
        return now if phase == "busy" else self.since

    def _patience(self) -> float:
        match self.phase:
            case "body" if self.request and self.request.is_large:
                return self.BODY_SECONDS + float(
                    self.request.body_bytes_received / self.LARGE_BYTES
                )
            case "body" | "refused":
                return self.BODY_SECONDS
            case "idle":
                return self.IDLE_SECONDS
            case _:
                return self.HEADER_SECONDS

    def _stalls(self, now: float) -> bool:
        """Check for bytes that waited for SEND_SECONDS, of which the client took too few."""
        if not self.total_outbufs_len:
            self._waiting = None
            return False
        if self._waiting is None:
            self._waiting = now, self._sent
        since, sent = self._waiting
        if now - since < self.SEND_SECONDS:
            return False
        self._waiting = now, self._sent
        return self._sent - sent < self.SEND_BYTES

    def send(self, data: bytes, do_close: bool = True) -> int:
        sent = int(super().send(data, do_close=do_close))
        self._sent += sent
        return sent

    def received(self, data: bytes) -> bool:
        """Parse what has come. Who asks for too much at once is not read any more."""
        for start in range(0, len(data), PIECE):
            if self.refused:
                self._spare -= len(data) - start
                self.will_close |= self._spare < 0
                return False
            super().received(data[start : start + PIECE])
            if len(self.requests) > 1 + PIPELINED:
                self.will_close = True
                return False
        return bool(data)

    def handle_write(self) -> None:
        """Send what waits. A refusal is followed by the end of what is sent, not of the socket."""
        if self.refused and self.close_when_flushed and not self.will_close:
            self._flush_exception(self._flush_some)
            if not self.total_outbufs_len:
                self.close_when_flushed = False
                with suppress(OSError):  # gone
                    self.socket.shutdown(socket.SHUT_WR)
            if not self.will_close:
                return
        super().handle_write()

    def del_channel(self, map: Any = None) -> None:
        """Forget a connection that is closed. Half a request gives its place and its file back."""
        super().del_channel(map)
        if self.request is not None:
            self.request.close()

    def service(self) -> None:
        self._served = True
        super().service()

    class error_task_class(ErrorTask):  # type: ignore[misc]
        """A task that reports a bad request as every other error is reported."""

        def execute(self) -> None:
            error = self.request.error
            if isinstance(error, Problem):
                problem = error
            else:
                detail = f"{error.body}."
                problem = problem_for(error.reason, error.code, detail, self.request.path)
            body = json.dumps(problem.model_dump(exclude_none=True)).encode()
            self.status = f"{problem.status} {problem.title}"
            self.response_headers.append(("Content-Type", "application/problem+json"))
            self.response_headers += headers_of(problem)
            self.set_close_on_finish()
            self.content_length = len(body)
            self.write(body)


log = logging.getLogger(__name__)

MAX_HEADER = 32 * 1024  # bytes of a request line and headers
UNREAD_BYTES = 4 * 1024 * 1024  # of a response: its thread waits once so much is not taken
ACCEPTED_AT_ONCE = 16  # connections taken before those that are open get their turn again
BACKLOG = 1024
FILES = 512  # that are no connections: the store, models, temporary files
LOOK_SECONDS = 1.0  # between two looks after what takes too long
BUSY_RETRY_SECONDS = 5.0


class ConnectionLimits(NamedTuple):
    """Bounds on open connections: in all, and of one address that is no `trusted` proxy."""

    connections: int
    per_address: int
    trusted: Networks


class BoundPort:
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
        limits: ConnectionLimits,
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
            # waitress would take them all away; `ForwardedFor` takes those of clients
            clear_untrusted_proxy_headers=False,
        )
        # else a line for each client that leaves, and for each request that waits for a thread
        logging.getLogger("waitress").setLevel(logging.WARNING)
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        _allow_files(limits.connections)
        self._map: dict[int, Any] = {}
        self._dispatcher = ThreadedTaskDispatcher()
        self._crowd = _Crowd(self._map, limits)
        self.capacity = Capacity(app, threads, tell, limits.trusted)
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
        """The number of open connections."""
        return len(self._crowd.channels())

    @property
    def refused(self) -> int:
        """The number of connections for which there was no place."""
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
        # a request that ends just now may wake the loop first, which closes all and the trigger
        with suppress(OSError):
            self._servers[0].trigger.pull_trigger(lambda: wasyncore.close_all(self._map))


class _Server(TcpWSGIServer):  # type: ignore[misc]
    """A server of waitress's that lets in or refuses each connection at once: none waits unseen."""

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
        """Return True while connections are accepted; once a second look after those open."""
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
        """Go on listening, whatever happened to one connection."""
        log.exception("A connection could not be let in.")

    def handle_accept(self) -> None:
        """Accept the connections that wait, though not so many that others starve."""
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

    def __init__(self, map_: dict[int, Any], limits: ConnectionLimits):
        self._map = map_
        self._limits = limits
        self.refused = 0

    def channels(self) -> list[Channel]:
        """The open connections that are not about to be closed."""
        return [
            each
            for each in list(self._map.values())
            if isinstance(each, Channel) and not each.will_close
        ]

    def has_room(self, owner: str) -> bool:
        """Return True if one more of `owner` may come in. An idle one may be closed for it."""
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
    error = ServerBusy("Too many connections are open. Try again.", BUSY_RETRY_SECONDS)
    body = problem_of(error, "").model_dump_json(exclude_none=True).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\nRetry-After: {BUSY_RETRY_SECONDS:.0f}\r\n"
        "Connection: close\r\n"
    )
    return f"{head}\r\n".encode() + body


_REFUSAL = _refusal()


def _allow_files(connections: int) -> None:
    """Raise this process's bound on open files to what so many connections need, if it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needs = connections + FILES
    if soft == resource.RLIM_INFINITY or soft >= needs:
        return
    allowed = needs if hard == resource.RLIM_INFINITY else min(needs, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needs:
        log.warning("Only %d files may be open (ulimit -n); MAX_CONNECTIONS needs more.", allowed)
