"""Redactions of spans: `contacts`, and those of other packages, which may fail."""

import json
import logging
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from atlas_search.core.addresses import otlp_at
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry import redaction
from atlas_search.core.telemetry.names import Ids
from atlas_search.core.telemetry.redaction import (
    FAILED,
    Redaction,
    contacts,
    mask_contacts,
    open_redactions,
)
from atlas_search.core.telemetry.span import describe_call
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.testing import RedactionContract
from tests.collector import Arrived, collecting

KEY = "abcdefghij0123456789ABCDEFGHIJ0123456789"
PRIVATE = {
    "Write to mary.lamb+farm@post.example.org today": "mary.lamb",
    "mary@example.co.nz": "mary@",
    "Ring +64 21 555 0142 now": "555 0142",
    "Ring 0049 (30) 901820 now": "901820",
    "(030) 901 820 77": "901 820",
    "030/9018 2077": "9018 2077",
    "call 555-010-4477": "010-4477",
    "my key is sk-proj-abcDEF123456_7890xyz": "abcDEF123456",
    "atlas_0a1b2c3d_00112233445566778899aabbccddeeff": "00112233",
    "the header Authorization: Bearer abcdef.ghijkl": "abcdef.ghijkl",
    "api_key = hunter2hunter2": "hunter2",
    'password: "correct-horse"': "correct-horse",
    f"{KEY}": KEY,
    "https://mary:lamb-4@host.example/x": "lamb-4",
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2": "SflKxw",
    "-----BEGIN PRIVATE KEY-----\nMIIB\nAAAA\n-----END PRIVATE KEY-----": "MIIB",
}
KEPT = (
    "The Act of 1953-06-12, s 10(1), came into force on 1 July 1954 at 10:30.",
    "legislation_nz.defamation-act-1992 p12",
    "The price rose from 1,200,000 to 3 400 000 pounds (12-15 per cent).",
    "12.06.1953, 2024-05-31T12:30:00Z, [1993] AC 534, 2 Ch 123-456",
    "ISBN 978-3-16-148410-0",
    "A secret ballot and a token of esteem; the password was lost.",
    "550e8400-e29b-41d4-a716-446655440000",
)


class TestContacts(RedactionContract):
    @pytest.fixture
    def redact(self) -> Redaction:
        return contacts(Settings())

    @pytest.fixture
    def private(self) -> Mapping[str, str]:
        return PRIVATE


@pytest.mark.parametrize("text", KEPT)
def test_a_text_that_only_looks_private_stays(text: str) -> None:
    assert mask_contacts(text) == text


def test_each_kind_is_named() -> None:
    text = f"mary@example.org, +64 21 555 0142 and {KEY}"
    assert mask_contacts(text) == "[email], [phone] and [key]"


def arrived(*redactions: Redaction) -> Arrived:
    """A span as it is sent, with texts everywhere."""
    with collecting() as collector:
        also = otlp_at(collector.address, "", {})
        tracer = Tracer("", "x", content=True, also=also, redactions=redactions, delay=0.05)
        ids = Ids(session_id="lamp-session")
        with suppress(ValueError), tracer.root("ask", "CHAIN", ids) as span:
            span.input("the lamp")
            span.output({"lamp": ["a lamp", {"deep": "lämp lamp"}], "count": 3})
            messages = [{"role": "user", "content": "lamp?"}]
            describe_call(span, "openai", "gpt", messages, temperature=0.0, max_tokens=9)
            span.warn("no lamp")
            span.set(words=["lamp", "oil"])
            raise ValueError("the lamp broke")
        (found,) = collector.wait(1)
        tracer.close()
    return found


def test_every_text_is_redacted_and_what_a_span_is_stays() -> None:
    span = arrived(lambda text: text.replace("lamp", "[x]"))
    kind, session = span.attributes["openinference.span.kind"], span.attributes["session.id"]
    assert (kind, session) == ("CHAIN", "lamp-session")
    assert span.attributes["gen_ai.conversation.id"] == "lamp-session"
    assert span.attributes["llm.input_messages.0.message.role"] == "user"
    assert json.loads(span.attributes["output.value"]) == {
        "[x]": ["a [x]", {"deep": "lämp [x]"}],
        "count": 3,
    }
    assert span.status == "the [x] broke"
    assert [dict(values) for _, values in span.events] == [
        {"message": "no [x]"},
        {"exception.type": "ValueError", "exception.message": "the [x] broke"},
    ]
    assert "lamp" not in span.kept.replace("lamp-session", "")


def test_json_is_read_before_it_is_redacted() -> None:
    span = arrived(lambda text: text.replace("lämp", "[x]"))  # JSON escapes it
    assert json.loads(span.attributes["output.value"])["lamp"][1] == {"deep": "[x] lamp"}


def test_redactions_are_applied_in_their_order() -> None:
    span = arrived(lambda text: text.replace("lamp", "oil"), lambda text: text.replace("oil", "-"))
    assert span.attributes["input.value"] == "the -"


@pytest.mark.parametrize("fault", ["raises", "gives none"])
def test_a_redaction_that_fails_lets_no_text_out(
    fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(text: str) -> str:
        if "lamp" in text and fault == "raises":
            raise RuntimeError(f"cannot redact {text}")
        return None if "lamp" in text else text  # type: ignore[return-value]

    with caplog.at_level(logging.DEBUG, "atlas_search"):
        span = arrived(broken)
    assert span.attributes["input.value"] == FAILED
    assert span.attributes["output.value"] == FAILED
    assert span.attributes["openinference.span.kind"] == "CHAIN"
    assert span.status == FAILED
    assert "lamp" not in span.kept.replace("lamp-session", "")
    failures = [text for text in caplog.messages if "TRACE_REDACT" in text]
    assert len(failures) == 1
    assert "lamp" not in caplog.text


def test_another_package_offers_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "shy-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shy\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[atlas_search.redactions]\nshy = shy:factory\n")
    (tmp_path / "shy.py").write_text("def factory(settings):\n    return lambda text: '...'\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(redaction, "REDACTIONS", Registry("atlas_search.redactions", "", {}))
    (shy,) = open_redactions(Settings(trace_redact="shy"))
    assert shy("anything") == "..."


def test_names_are_looked_up_in_order_and_unknown_ones_refused() -> None:
    assert open_redactions(Settings()) == ()
    assert open_redactions(Settings(trace_redact=" contacts ,")) == (mask_contacts,)
    with pytest.raises(ConfigurationError, match=r"TRACE_REDACT=all: .* Known: contacts\."):
        open_redactions(Settings(trace_redact="all"))
