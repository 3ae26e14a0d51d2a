"""One connection: what it waits for, since when, and whether that is too long."""

import json
import socket
from typing import Any, ClassVar, Literal

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from atlas_search.server.large_bodies import Refused, Request
from atlas_search.server.problems import headers_of, problem_for
from atlas_search.server.proxies import owner_of

Phase = Literal["busy", "silent", "header", "body", "idle"]
"""Busy with answering; nothing sent yet; half a header; half a body; between two requests."""

PIPELINED = 4  # requests that may wait behind another; browsers send none
PIECE = 1024  # bytes parsed before they are counted: of 8192, 200 small requests took 10 ms


class Channel(HTTPChannel):  # type: ignore[misc]
    """Waitress's, with an owner and with times. Only the thread of the sockets closes it."""

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
        super().__init__(server, sock, addr, adj, map=map)

    def parser_class(self, adj: Any) -> Request:
        """See the class it overrides."""
        return Request(adj, self.server.large)

    @property
    def busy(self) -> bool:
        """Whether a request is being answered, or its answer being sent."""
        return bool(self.requests or self.total_outbufs_len)

    @property
    def has_unread(self) -> bool:
        """Whether bytes of the client are waiting to be read."""
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:
            return False

    @property
    def phase(self) -> Phase:
        """What the client is doing."""
        if self.busy:
            return "busy"
        if self.request is not None:
            return "body" if self.request.headers_finished else "header"
        return "idle" if self._served else "silent"

    @property
    def since(self) -> float:
        """When the client began with that, as `time.time()`; for a part of a request, as seen."""
        phase = self.phase
        if phase == "silent":
            return float(self.creation_time)
        if phase in ("header", "body") and self._parsed[:2] == (phase, self.request):
            return self._parsed[2]
        return float(self.last_activity)

    def is_overdue(self, now: float) -> bool:
        """Whether to close it. Called every second."""
        return self._stalls(now) or now - self._see(now) > self._patience()

    def _see(self, now: float) -> float:
        """Note what the client is doing; since when."""
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
            case "body":
                return self.BODY_SECONDS
            case "idle":
                return self.IDLE_SECONDS
            case _:
                return self.HEADER_SECONDS

    def _stalls(self, now: float) -> bool:
        """Whether bytes have been waiting for SEND_SECONDS, of which the client took too few."""
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
        """See the class it overrides."""
        sent = int(super().send(data, do_close=do_close))
        self._sent += sent
        return sent

    def received(self, data: bytes) -> bool:
        """See the class it overrides. Who asks for too much at once is not read any more."""
        for start in range(0, len(data), PIECE):
            super().received(data[start : start + PIECE])
            if len(self.requests) > 1 + PIPELINED:
                self.will_close = True
                return False
        return bool(data)

    def handle_close(self) -> None:
        """See the class it overrides. Half a request gives its place back."""
        if self.request is not None:
            self.request.release()
        super().handle_close()

    def service(self) -> None:
        """See the class it overrides."""
        self._served = True
        super().service()

    class error_task_class(ErrorTask):  # type: ignore[misc]
        """Says what is wrong with a request as every other error is said."""

        def execute(self) -> None:
            """Write it."""
            error = self.request.error
            if isinstance(error, Refused):
                problem = error.problem
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
