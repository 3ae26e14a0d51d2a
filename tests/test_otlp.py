"""Traces go to any server that takes OTLP, and to Phoenix beside it."""

import base64

import pytest
from pydantic import SecretStr

from atlas_search.core.addresses import otlp_at, phoenix_problem, read_headers, without_login
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.logs import TextLines
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.telemetry.tracer import Tracer
from tests.collector import Collector, collecting

QUICK = 0.05  # seconds between two batches


def traced(collector: Collector, headers: dict[str, str] | None = None) -> Tracer:
    also = otlp_at(collector.address, "", headers or {})
    return Tracer("", "shelf", content=True, also=also, delay=QUICK)


def test_a_collector_gets_the_spans_their_links_and_where_they_are_from() -> None:
    with collecting() as collector:
        tracer = traced(collector, {"x-team": "readers"})
        with tracer.root("ask", "CHAIN") as root:
            root.set(kept=3, share=0.5)
            with tracer.span("search", "RETRIEVER") as inner:
                inner.input("Who keeps the lamp?")
        search, ask = sorted(collector.wait(2), key=lambda span: span.name == "ask")
        tracer.close()
    assert (ask.name, ask.parent_id, ask.trace_id) == ("ask", "", root.trace_id)
    assert (search.parent_id, search.trace_id) == (ask.span_id, ask.trace_id)
    assert ask.attributes == {"openinference.span.kind": "CHAIN", "kept": 3, "share": 0.5}
    assert search.attributes["input.value"] == "Who keeps the lamp?"
    assert ask.resource["service.name"] == "atlas"
    assert ask.resource["openinference.project.name"] == "shelf"
    path, headers = collector.requests[0]
    assert path == "/v1/traces"
    assert headers["content-type"] == "application/x-protobuf"
    assert headers["x-team"] == "readers"


def test_phoenix_and_another_server_both_get_them_and_each_its_own_headers() -> None:
    with collecting() as phoenix, collecting() as other:
        also = otlp_at("", f"{other.address}/own/path", {"x-key": "for the other alone"})
        tracer = Tracer(f"{phoenix.address}/", "shelf", content=True, also=also, delay=QUICK)
        with tracer.root("ask", "CHAIN"):
            pass
        assert phoenix.wait(1)[0].span_id == other.wait(1)[0].span_id
        tracer.close()
        assert (tracer.exported, tracer.dropped, tracer.waiting) == (2, 0, 0)
    assert [path for path, _ in other.requests] == ["/own/path"]
    assert [path for path, _ in phoenix.requests] == ["/v1/traces"]
    assert "x-key" not in phoenix.requests[0][1]


def test_a_phoenix_that_asks_for_a_key_gets_it() -> None:
    with collecting() as phoenix, collecting() as other:
        also = otlp_at(other.address, "", {})
        tracer = Tracer(phoenix.address, "x", content=True, key="oil", also=also, delay=QUICK)
        with tracer.root("ask", "CHAIN"):
            pass
        phoenix.wait(1)
        other.wait(1)
        tracer.close()
    assert phoenix.requests[0][1]["authorization"] == "Bearer oil"
    assert "authorization" not in other.requests[0][1]


def test_one_that_hangs_keeps_nothing_from_the_other() -> None:
    with collecting("hang") as phoenix, collecting() as other:
        also = otlp_at(other.address, "", {})
        tracer = Tracer(phoenix.address, "shelf", content=True, also=also, delay=QUICK)
        for _ in range(3):
            with tracer.root("ask", "CHAIN"):
                pass
        other.wait(3)
        tracer.close()
        assert (tracer.exported, tracer.dropped) == (3, 3)


def test_a_login_in_the_address_becomes_a_header_and_is_shown_nowhere() -> None:
    with collecting() as collector:
        host = collector.address.removeprefix("http://")
        tracer = Tracer(f"http://keeper:lamp%20oil@{host}", "shelf", content=True, delay=QUICK)
        with tracer.root("ask", "CHAIN"):
            pass
        collector.wait(1)
        tracer.close()
    sent = base64.b64encode(b"keeper:lamp oil").decode()
    assert collector.requests[0][1]["authorization"] == f"Basic {sent}"
    (delivery,) = tracer.deliveries
    assert delivery.destination.shown == collector.address
    assert "lamp" not in repr(delivery.destination)


def test_the_settings_are_those_of_opentelemetry() -> None:
    settings = load_settings(
        otel_exporter_otlp_endpoint="http://collector:4318/",
        otel_exporter_otlp_headers="Authorization=Bearer%20abc,x-team = readers ",
    )
    destination = settings.otlp_destination
    assert destination
    assert destination.url == "http://collector:4318/v1/traces"
    assert destination.headers == {"authorization": "Bearer abc", "x-team": "readers"}
    assert load_settings().otlp_destination is None
    own = load_settings(
        otel_exporter_otlp_endpoint="http://collector:4318",
        otel_exporter_otlp_traces_endpoint="http://traces:4318/in",
    ).otlp_destination
    assert own
    assert own.url == "http://traces:4318/in"


@pytest.mark.parametrize(
    "text", ["a lamp without a sign", "x=1,lamp", "bad name=lamp", "x=lamp%0a"]
)
def test_headers_that_are_none_are_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(ValueError, match="name=value"):
        read_headers(text)
    with pytest.raises(ConfigurationError) as refused:
        load_settings(otel_exporter_otlp_headers=text)
    assert "OTEL_EXPORTER_OTLP_HEADERS" in str(refused.value)
    assert "lamp" not in str(refused.value)


def test_an_address_that_is_refused_is_shown_without_its_password() -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_settings(otel_exporter_otlp_endpoint="ftp://keeper:lamp@collector")
    assert "ftp://collector" in str(refused.value)
    assert "lamp" not in str(refused.value)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://a:b@host:1/x?y=1", "http://host:1/x?y=1"),
        ("http://host:1/x@y", "http://host:1/x@y"),
        ("http://a:b@[host", "http://[host"),
        ("", ""),
    ],
)
def test_an_address_loses_its_login_alone(address: str, shown: str) -> None:
    assert without_login(address) == shown


def test_each_value_of_the_headers_is_a_secret_of_its_own() -> None:
    headers = SecretStr("authorization=Bearer%20abc%3Dlamp,x-team=oil%20field")
    settings = Settings(otel_exporter_otlp_headers=headers)
    written = TextLines(settings.header_secrets)._hide("Bearer abc=lamp; abc=lamp; oil field")
    assert written == "[hidden]; [hidden]; [hidden]"


ADDRESSES = (
    "PHOENIX_COLLECTOR_ENDPOINT",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)


@pytest.mark.parametrize("name", ADDRESSES)
@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("http://[::1", "is malformed"),
        ("http://host:99999", "is malformed"),
        ("localhost:6006", "does not begin with http:// or https://"),
        ("https://anna:open sesame@host/a b", "holds blanks"),
    ],
)
def test_an_address_that_is_none_is_named_with_its_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str, fault: str
) -> None:
    monkeypatch.setenv(name, address)
    with pytest.raises(ConfigurationError) as told:
        load_settings()
    assert str(told.value).startswith(name)
    assert f"the address {fault}" in str(told.value)
    assert "sesame" not in str(told.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://a:b@[::1"])
def test_phoenix_at_no_address_is_said_to_have_none(address: str) -> None:
    assert phoenix_problem(address).startswith("Phoenix's address is malformed (")
