"""Which bodies may be large: the files that an administrator sends, a few at once.

A body is kept until it is whole, before any route sees it. So its headers decide how much is taken,
and who has not the right to send files is held to what every other request may carry.
"""

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from waitress.parser import HTTPRequestParser
from waitress.utilities import BadRequest

from atlas_search.core.errors import AtlasError, ServerBusy
from atlas_search.server.access.caller import Access
from atlas_search.server.access.gate import check_caller
from atlas_search.server.access.rules import rule_key
from atlas_search.server.bodies import TAKES_FORMS
from atlas_search.server.problems import Problem, problem_of

AT_ONCE = 4  # large bodies, until they are answered
RETRY_SECONDS = 10.0
LONGEST_LINE = 4096  # bytes of a line between chunks; waitress looks through all of it each time

Release = Callable[[], None]


@dataclass(frozen=True)
class Refused:
    """In the place of an error of waitress's."""

    problem: Problem


class LargeBodies:
    """Who may send a body of up to `most` bytes, and how many do. Nobody without `access`."""

    def __init__(self, most: int = 0, access: Access | None = None):
        self.most = most
        self._access = access
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def may_come(self, rule: str) -> bool:
        """Whether a route takes any."""
        return self._access is not None and rule in TAKES_FORMS

    def open(self, rule: str, authorization: str) -> Release:
        """Take a place; what gives it back. Raises AtlasError if they may not, or none is free."""
        if self._access:
            check_caller(self._access.caller(authorization), rule)
        if not self._places.acquire(blocking=False):
            raise ServerBusy(f"{AT_ONCE} uploads are arriving. Try again.", RETRY_SECONDS)
        held = [self._places]

        def release() -> None:
            while held:
                held.pop().release()

        return release


class Request(HTTPRequestParser):  # type: ignore[misc]
    """Waitress's, bounded by who sends it."""

    adj: Any
    completed: bool
    path = "/"
    """Of a request that cannot be read, too: Waitress logs it if its client leaves."""

    def __init__(self, adjustments: Any, large: LargeBodies):
        super().__init__(adjustments)
        self._large = large
        self._refused: Refused | None = None
        self._release: Release = lambda: None
        self.is_large = False

    def parse_header(self, header_plus: bytes) -> None:
        """See the class it overrides."""
        super().parse_header(header_plus)
        rule = rule_key(self.command, self.path)
        most = int(self.adj.max_request_body_size)
        if not (self.chunked or self.content_length >= most) or not self._large.may_come(rule):
            return
        try:
            self._release = self._large.open(rule, self.headers.get("AUTHORIZATION", ""))
        except AtlasError as error:
            self._refused = Refused(problem_of(error, self.path))
            return
        self.is_large = True
        self.adj = copy.copy(self.adj)
        self.adj.max_request_body_size = max(most, self._large.most)

    def received(self, data: bytes) -> int:
        """See the class it overrides."""
        consumed = int(super().received(data))
        if self.chunked and not self.completed and self._line() > LONGEST_LINE:
            self.error, self.completed = BadRequest("A line between chunks is too long"), True
        if self.error:
            self.expect_continue = False  # or the body would be asked for, and waited for
            if self._refused:
                self.error = self._refused
            self.release()
        return consumed

    def _line(self) -> int:
        """Bytes of what is between two chunks, as far as it has come."""
        return len(self.body_rcv.control_line) + len(self.body_rcv.trailer)

    def release(self) -> None:
        """Give its place back."""
        self._release()

    def close(self) -> None:
        """See the class it overrides."""
        super().close()
        self.release()
