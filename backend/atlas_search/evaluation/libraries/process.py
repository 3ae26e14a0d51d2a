"""The process that the libraries run in, and what passes between it and the judge."""

import json
import logging
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atlas_search.core.errors import ConfigurationError, MissingLibrary
from atlas_search.core.stop import Stop
from atlas_search.evaluation.judge_model import NotJudged

VENV = Path(".venv-judges")
INSTALL = (
    "In a checkout `make judges-venv` installs them. Elsewhere make an environment of their own: "
    f"`python3 -m venv {VENV}` and `{VENV}/bin/pip install 'ragas==0.4.3' 'deepeval==4.3.1' "
    "'langchain-community==0.4.1'`, and name its Python in JUDGES_PYTHON"
)

START_SECONDS = 300.0  # the first import on a slow disk; else it takes about 5
ANSWER_SECONDS = 120.0  # of computing between two messages, which takes milliseconds

_WORKER = Path(__file__).with_name("worker.py")
_SETTINGS = {
    "CONFIDENT_TRACING_ENABLED": "0",
    "DEEPEVAL_DISABLE_DOTENV": "1",
    "DEEPEVAL_FILE_SYSTEM": "READ_ONLY",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DEEPEVAL_UPDATE_WARNING_OPT_IN": "0",
    "HF_HUB_OFFLINE": "1",
    "LANGSMITH_TRACING": "false",
    "RAGAS_DO_NOT_TRACK": "true",
}
"""What the libraries read from the environment; of Atlas' own they see nothing, keys above all."""

_log = logging.getLogger(__name__)

Message = Mapping[str, Any]
_ENDED: Message = {"ended": True}
_STOPPED: Message = {"stopped": True}

Ask = Callable[[str, str, int, Callable[[str], bool]], str]
"""Library, prompt, the how manieth time of asking it, and whether a reply is usable, to a reply."""


class Libraries:
    """RAGAS and DeepEval by the Python of their environment. Safe to use from several threads.

    `versions` are theirs, and `refused` the connections that they tried to open. Raises
    MissingLibrary if there is no such Python, and ConfigurationError if they do not start.
    """

    def __init__(self, python: Path):
        if not python.is_file():
            raise MissingLibrary(f"RAGAS and DeepEval are not installed at {python}. {INSTALL}.")
        self.refused: list[str] = []
        self._jobs: dict[int, SimpleQueue[Message]] = {}
        self._lock = Lock()
        self._last = 0
        self._ended = False
        with ExitStack() as opening:
            # DeepEval writes to its home and to where it stands
            folder = opening.enter_context(tempfile.TemporaryDirectory(prefix="atlas-judges-"))
            self._said = opening.enter_context((Path(folder) / "stderr").open("w+"))
            self._process = _start(python, Path(folder), self._said)
            opening.callback(self._end)
            first: SimpleQueue[Message] = SimpleQueue()
            self._reader = Thread(target=self._read, args=(first,), daemon=True)
            self._reader.start()
            self.versions = self._versions(first, python)
            self._closing = opening.pop_all()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process; what it still computes is lost."""
        self._closing.close()

    def carry_out(
        self,
        metric: str,
        sample: Message,
        ask: Ask,
        embed: Callable[[Sequence[str]], NDArray[np.float32]],
        stop: Stop,
    ) -> Message:
        """What a library finds: a `value`, and `decisions`. It asks through `ask` and `embed`, in
        this thread. Raises NotJudged, Cancelled, and what those two raise.
        """
        asked: Counter[str] = Counter()
        with self._job(stop) as (number, inbox):
            self._send(job=number, metric=metric, sample=sample)
            while True:
                message = self._next(inbox, stop)
                if "ask" in message:
                    library, prompt = message["library"], message["ask"]
                    asked[prompt] += 1
                    usable = partial(self._usable, number, inbox, stop)
                    reply = ask(library, prompt, asked[prompt], usable)
                    self._send(job=number, reply=reply)
                elif "embed" in message:
                    self._send(job=number, vectors=embed(message["embed"]).tolist())
                elif "failed" in message:
                    raise NotJudged(f"The library gave no figure ({message['failed']}).")
                else:
                    found: Message = message["found"]
                    return found

    def _usable(self, number: int, inbox: SimpleQueue[Message], stop: Stop, text: str) -> bool:
        self._send(job=number, check=text)
        return bool(self._next(inbox, stop)["usable"])

    @contextmanager
    def _job(self, stop: Stop) -> Iterator[tuple[int, SimpleQueue[Message]]]:
        inbox: SimpleQueue[Message] = SimpleQueue()
        with self._lock:
            self._last += 1
            number = self._last
            self._jobs[number] = inbox
        try:
            with stop.calling(partial(inbox.put, _STOPPED)):
                yield number, inbox
        except BaseException:
            with suppress(NotJudged):  # the process is gone
                self._send(job=number, cancel=True)
            raise
        finally:
            with self._lock:
                del self._jobs[number]

    def _next(self, inbox: SimpleQueue[Message], stop: Stop) -> Message:
        try:
            message = inbox.get(timeout=0 if self._ended and inbox.empty() else ANSWER_SECONDS)
        except Empty:
            message = _ENDED
        stop.check()
        if message is _ENDED:
            raise NotJudged("The process of the libraries ended, or does not answer.")
        return message

    def _send(self, **message: object) -> None:
        assert self._process.stdin
        try:
            with self._lock:
                self._process.stdin.write(json.dumps(message) + "\n")
                self._process.stdin.flush()
        except OSError as error:
            raise NotJudged("The process of the libraries ended, or does not answer.") from error

    def _read(self, first: SimpleQueue[Message]) -> None:
        """Hand each message to who waits for it, in a thread of its own."""
        assert self._process.stdout
        for line in self._process.stdout:
            message = json.loads(line)
            if "refused" in message:
                self.refused.append(message["refused"])
                _log.warning("The libraries may not open a connection: %s", message["refused"])
            elif "versions" in message:
                first.put(message)
            elif inbox := self._jobs.get(message["job"]):  # else it was cancelled
                inbox.put(message)
        self._ended = True
        with self._lock:
            waiting = (first, *self._jobs.values())
        for inbox in waiting:
            inbox.put(_ENDED)

    def _versions(self, first: SimpleQueue[Message], python: Path) -> Mapping[str, str]:
        with suppress(Empty):
            message = first.get(timeout=START_SECONDS)
            if message is not _ENDED:
                versions: Mapping[str, str] = message["versions"]
                return versions
        self._said.seek(0)
        said = self._said.read().strip().splitlines()
        why = f" ({said[-1][:300]})" if said else ""
        raise ConfigurationError(
            f"RAGAS and DeepEval cannot be used with {python}{why}. {INSTALL}."
        )

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not sent yet
                pipe.close()  # type: ignore[union-attr]


def _start(python: Path, folder: Path, said: Any) -> "subprocess.Popen[str]":
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8", **_SETTINGS}
    return subprocess.Popen(
        (python, "-I", "-X", "utf8", _WORKER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        cwd=folder,
        env=environment,
        text=True,
        encoding="utf-8",
        # Ctrl-C is for Atlas, which then ends it
        start_new_session=True,
    )
