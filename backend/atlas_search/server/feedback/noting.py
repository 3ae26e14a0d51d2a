"""Answers on their way into the file: no answer waits for the disk, and none fails for it."""

import logging
import threading
from collections import deque
from typing import NamedTuple

from atlas_search.answer.answer import Answer
from atlas_search.core.errors import ConfigurationError
from atlas_search.server.feedback.rated import rated
from atlas_search.server.feedback.store import FeedbackStore

MOST_WAITING = 1000  # answers; of more, while the disk hangs, the oldest cannot be rated

log = logging.getLogger(__name__)


class _Waiting(NamedTuple):
    answer: Answer
    owner: str
    content: bool


class Noting:
    """Writes answers into the store from a thread of its own, which ends when none is left."""

    def __init__(self, store: FeedbackStore):
        self._store = store
        self._waiting: deque[_Waiting] = deque(maxlen=MOST_WAITING)
        self._writing = threading.Lock()
        self._told = False

    def note(self, answer: Answer, owner: str, *, content: bool) -> None:
        """Let an answer of `owner`'s be rated; with `content` its texts are kept. Never fails."""
        self._waiting.append(_Waiting(answer, owner, content))
        try:
            threading.Thread(target=self.flush, name="rateable", daemon=True).start()
        except RuntimeError:  # no more threads; the next vote or answer writes it
            log.warning("No thread is free to note answers; they can be rated later.")

    def flush(self) -> None:
        """Have all that was noted before in the file when it returns, or a line in the log."""
        with self._writing:
            taken = []
            while self._waiting:
                taken.append(self._waiting.popleft())
            if not taken:
                return
            try:
                self._store.add(rated(one.answer, one.owner, content=one.content) for one in taken)
                self._told = False
            except ConfigurationError as error:
                if not self._told:
                    log.warning("Answers cannot be rated until this is mended: %s", error)
                self._told = True
            except Exception:
                log.exception("%d answers cannot be rated.", len(taken))
