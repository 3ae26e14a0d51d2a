"""Where traces go: Phoenix, and beside it any server that takes OTLP, as the settings say."""

import base64

import pytest
from pydantic import SecretStr

from atlas_search.core.addresses import otlp_at, phoenix_problem, read_headers, without_login
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.telemetry.tracer import Tracer
from tests.collector import collecting

QUICK = 0.05  # seconds between two batches


def test_a_collector_gets_the_spans_their_links_and_where_they_are_from() -> None:
    with collecting() as collector:
        also = otlp_at(collector.address, "", {"x-team": "readers"})
        tracer = Tracer("", "shelf", content=True, also=also, delay=QUICK)
        with tracer.root("ask", "CHAIN") as root:
            root.set(kept=3, share=0.5)
            with tracer.span("search", "RETRIEVER") as inner:
                inner.input("Who keeps the lamp?")
        search, ask = sorted(collector.wait(2), key=lambda span: span.name.startswith("ask"))
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


def test_phoenix_and_another_server_get_the_same_spans_and_each_its_own_headers() -> None:
    with collecting() as phoenix, collecting() as other:
        also = otlp_at("", f"{other.address}/own/path", {"x-key": "for the other alone"})
        address = f"{phoenix.address}/"
        tracer = Tracer(address, "shelf", content=True, key="oil", also=also, delay=QUICK)
        with tracer.root("ask", "CHAIN"):
            pass
        assert phoenix.wait(1)[0].span_id == other.wait(1)[0].span_id
        tracer.close()
        assert (tracer.exported, tracer.dropped, tracer.waiting) == (2, 0, 0)
    ((own_path, own), (path, others)) = (phoenix.requests[0], other.requests[0])
    assert (own_path, path) == ("/v1/traces", "/own/path")
    assert (own["authorization"], others["x-key"]) == ("Bearer oil", "for the other alone")
    assert "x-key" not in own
    assert "authorization" not in others


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
    login = base64.b64encode(b"keeper:lamp oil").decode()
    assert collector.requests[0][1]["authorization"] == f"Basic {login}"
    (delivery,) = tracer.deliveries
    assert delivery.destination.shown == collector.address
    assert "lamp" not in repr(delivery.destination)


ENDPOINT = {"otel_exporter_otlp_endpoint": "http://collector:4318/"}


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (ENDPOINT, "http://collector:4318/v1/traces"),
        (ENDPOINT | {"otel_exporter_otlp_traces_endpoint": "http://traces/in"}, "http://traces/in"),
    ],
)
def test_the_settings_are_those_of_opentelemetry(settings: dict[str, str], url: str) -> None:
    headers = "Authorization=Bearer%20abc,x-team = readers "
    destination = load_settings(**settings, otel_exporter_otlp_headers=headers).otlp_destination
    assert destination
    assert destination.url == url
    assert destination.headers == {"authorization": "Bearer abc", "x-team": "readers"}
    assert load_settings().otlp_destination is None


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
    assert {"Bearer abc=lamp", "abc=lamp", "oil field"} <= {*settings.header_secrets}


@pytest.mark.parametrize(
    "name",
    [
        "PHOENIX_COLLECTOR_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    ],
)
@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("http://[::1", "is malformed"),
        ("http://host:99999", "is malformed"),
        ("localhost:6006", "does not begin with http:// or https://"),
        ("ftp://keeper:open sesame@collector", "does not begin with http:// or https://"),
        ("https://anna:open sesame@host/a b", "holds blanks"),
    ],
)
def test_an_address_that_is_none_is_named_with_its_setting_and_without_its_password(
    monkeypatch: pytest.MonkeyPatch, name: str, address: str, fault: str
) -> None:
    monkeypatch.setenv(name, address)
    with pytest.raises(ConfigurationError) as refused:
        load_settings()
    assert str(refused.value).startswith(name)
    assert f"the address {fault}" in str(refused.value)
    assert "sesame" not in str(refused.value)


@pytest.mark.parametrize("address", ["http://[::1", "http://a:b@[::1"])
def test_phoenix_at_no_address_is_said_to_have_none(address: str) -> None:
    assert phoenix_problem(address).startswith("Phoenix's address is malformed (")
