"""The log: lines of JSON with the ids of their question, without secrets or quotations."""

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search import Atlas
from atlas_search.core.logs import HIDDEN, LONGEST, JsonLines, TextLines, log_context, note_in_log
from atlas_search.core.telemetry.tracer import Tracer
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import Recorded
from tests.servers import app_of
from tests.tiny import FARM, build_tiny, write_sources

KEY = "zebra-key-of-a-provider"
QUESTION = "Do sheep give wool?"


class Broken(HashEmbedder):
    """Fails in a way that nobody expects, and repeats what it was asked."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        raise RuntimeError(f"{text} {KEY}")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """All that is logged, as JSON."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines([KEY]))
    root = logging.getLogger()
    root.addHandler(handler)
    yield written
    root.removeHandler(handler)


def record(message: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("atlas_search.x", logging.WARNING, "", 0, message, args, None)


def failed(lines: TextLines, message: str = "It failed.") -> str:
    """A line about an exception that has a cause."""
    try:
        try:
            raise KeyError(QUESTION, KEY)
        except KeyError as error:
            raise ValueError(QUESTION) from error
    except ValueError:
        caught = record(message)
        caught.exc_info = sys.exc_info()
        return lines.format(caught)


def test_a_line_of_json_says_when_what_and_of_which_question() -> None:
    with log_context(qa_id="q1", session_id="s1"):
        note_in_log(trace_id="0af7")
        line = json.loads(JsonLines().format(record("Two\n“lines” of %s", "wool")))
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "WARNING",
        "logger": "atlas_search.x",
        "message": "Two\n“lines” of wool",
        "qa_id": "q1",
        "session_id": "s1",
        "trace_id": "0af7",
    }


def test_outside_of_a_question_no_ids_are_said() -> None:
    note_in_log(trace_id="0af7")
    assert json.loads(JsonLines().format(record("m"))).keys() == {
        "time",
        "level",
        "logger",
        "message",
    }


def test_a_line_within_a_span_names_it() -> None:
    tracer = Tracer("", "test", content=True)
    with tracer.root("ask", "CHAIN") as span:
        line = json.loads(JsonLines().format(record("m")))
    assert line["trace_id"] == span.trace_id
    assert len(line["span_id"]) == 16
    tracer.close()


@pytest.mark.parametrize("kind", [TextLines, JsonLines])
def test_no_secret_is_written(kind: type[TextLines]) -> None:
    lines = kind([KEY, "", "abc"])
    assert HIDDEN in lines.format(record("The key %s of abc", KEY))
    text = lines.format(record("The key %s of abc", KEY)) + failed(lines, f"{KEY} failed.")
    assert KEY not in text
    assert f"'{HIDDEN}'" in text
    assert "of abc" in text  # too short to be hidden


@pytest.mark.parametrize("kind", [TextLines, JsonLines])
def test_where_content_is_kept_back_exceptions_have_kinds_and_places(kind: type[TextLines]) -> None:
    text = failed(kind(content=False))
    assert QUESTION not in text
    assert KEY not in text
    assert text.rindex("KeyError") < text.rindex("ValueError")
    assert "test_logs.py" in text


def test_long_messages_and_exceptions_are_cut() -> None:
    assert len(json.loads(JsonLines().format(record("x" * 100_000)))["message"]) == LONGEST
    try:
        raise ValueError("y" * 100_000 + " at its end")
    except ValueError:
        caught = record("m")
        caught.exc_info = sys.exc_info()
    exception = json.loads(JsonLines().format(caught))["exception"]
    assert len(exception) == LONGEST
    assert exception.endswith("at its end")


def test_a_fault_in_an_answer_is_logged_with_the_ids_of_its_trace(
    tmp_path: Path, log: io.StringIO
) -> None:
    build_tiny(write_sources(tmp_path / "source", FARM), tmp_path / "farm", HashEmbedder())
    with Atlas.open(tmp_path / "farm", embedder=Broken()) as atlas:
        recorded = Recorded(atlas.services.tracer)
        client = app_of(atlas).test_client()
        body = {"question": QUESTION, "qa_id": "q1", "session_id": "s1"}
        assert client.post("/api/ask", json=body).status_code == 500
    written = [json.loads(line) for line in log.getvalue().splitlines()]
    line, *_ = [each for each in written if each["message"] == "Unexpected error at /api/ask"]
    assert (line["qa_id"], line["session_id"]) == ("q1", "s1")
    assert line["trace_id"] == f"{recorded.root('ask').context.trace_id:032x}"
    assert QUESTION in line["exception"]
    assert KEY not in line["exception"]


EVERYTHING = """
import logging, sys, threading, warnings
from atlas_search.core.logs import set_up_logs
from atlas_search.core.settings import load_settings
settings = load_settings()
set_up_logs(settings)
key = settings.mistral_api_key.get_secret_value()
logging.getLogger("atlas_search.x").info("Begun with %s", key)
warnings.warn("An old call")
def fails(): raise RuntimeError("in a thread")
thread = threading.Thread(target=fails)
thread.start()
thread.join()
raise RuntimeError("in the main thread")
"""


def run(tmp_path: Path, **environment: str) -> list[str]:
    """Lines that a process which logs, warns and fails writes to stderr."""
    done = subprocess.run(
        [sys.executable, "-c", EVERYTHING],
        env={**os.environ, "MISTRAL_API_KEY": KEY, **environment},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert KEY not in done.stderr
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("level", "levels"),
    [
        ("INFO", ["INFO", "WARNING", "CRITICAL", "CRITICAL"]),
        pytest.param("ERROR", ["CRITICAL", "CRITICAL"], marks=pytest.mark.thorough),
    ],
)
def test_every_line_of_a_process_is_json_where_that_is_wanted(
    tmp_path: Path, level: str, levels: list[str]
) -> None:
    output = run(tmp_path, ATLAS_LOG_FORMAT="json", ATLAS_LOG_LEVEL=level)
    lines = [json.loads(line) for line in output]
    assert [line["level"] for line in lines] == levels
    *others, in_thread, in_main = lines
    assert "in a thread" in in_thread["exception"]
    assert "in the main thread" in in_main["exception"]
    if others:
        assert others[0]["message"] == f"Begun with {HIDDEN}"
        assert "An old call" in others[1]["message"]


def test_lines_of_text_are_for_people(tmp_path: Path) -> None:
    assert run(tmp_path)[0].endswith(f" INFO atlas_search.x: Begun with {HIDDEN}")


@pytest.mark.parametrize("kind", [TextLines, JsonLines])
def test_no_caller_ends_a_line_or_commands_a_terminal_and_no_link_is_told(
    kind: type[TextLines],
) -> None:
    forged = "Unexpected error at /api/shared/s3cret-T0ken\n2026 ERROR forged \x1b[2J\x9b\u2028"
    line = kind().format(record("%s", forged))
    assert "s3cret" not in line
    assert line.isprintable()
