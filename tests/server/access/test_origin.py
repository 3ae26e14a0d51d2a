"""Requests that another site's page has a browser send, and names that are not the server's."""

from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from flask_openapi3.openapi import OpenAPI
from pydantic import ValidationError

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings
from atlas_search.services import Services
from tests.servers import app_of

EVIL = "https://evil.example"
WIKI = "https://wiki.example.org"
QUESTION = '{"question": "Who gives wool?"}'


def client_with(services: Services, **changes: str) -> FlaskClient:
    """A client of a server whose settings differ."""
    return app_with(services, **changes).test_client()


def app_with(services: Services, **changes: str) -> OpenAPI:
    """The application with settings that differ."""
    settings = Settings(**(services.settings.model_dump() | changes))
    changed = Atlas(replace(services, settings=settings))
    return app_of(changed)


@pytest.fixture(scope="module")
def client(farm_client: FlaskClient) -> FlaskClient:
    return farm_client


@pytest.fixture(scope="module")
def services(farm: Atlas) -> Services:
    return farm.services


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "text/plain; application/json",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/problem+json",
        "application/jsonp",
        "",
    ],
)
def test_a_body_that_is_not_said_to_be_json_is_refused(client: FlaskClient, kind: str) -> None:
    response = client.post("/api/ask", data=QUESTION, content_type=kind)
    assert response.status_code == 415
    assert response.mimetype == "application/problem+json"
    assert "Content-Type: application/json" in response.get_json()["detail"]


@pytest.mark.parametrize("kind", ["application/json;charset=utf-8", "Application/JSON"])
def test_a_charset_and_capitals_do_not_matter(client: FlaskClient, kind: str) -> None:
    assert client.post("/api/search", data=QUESTION, content_type=kind).status_code == 200


def test_a_route_that_reads_no_body_takes_none_of_another_kind(client: FlaskClient) -> None:
    sent = {"data": "x=1", "content_type": "text/plain"}
    assert client.post("/api/cache/clear", **sent).status_code in (403, 415)
    assert client.delete("/api/ask/none", **sent).status_code == 415
    assert client.delete("/api/ask/none").status_code == 404


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/corpora", "/api/live", "/nothing"])
@pytest.mark.parametrize(
    "host",
    [
        "evil.test",
        "evil.test:8000",
        "localhost.evil.test",
        "evil@localhost",
        "localhost, evil.test",
        "localhost:8000:1",
        "10.1.2.3",
        "[::2]",
        "[",
    ],
)
def test_a_name_that_is_not_the_servers_is_refused(
    client: FlaskClient, path: str, host: str
) -> None:
    response = client.get(path, headers={"Host": host})
    assert response.status_code == 421
    assert "ATLAS_ALLOWED_HOSTS" in response.get_json()["detail"]


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1:8000", "[::1]:8000", "[0:0:0:0:0:0:0:1]", ""],
)
def test_local_names_are_the_servers_with_any_port(client: FlaskClient, host: str) -> None:
    assert client.get("/api/live", headers={"Host": host}).status_code == 200


def test_the_names_of_the_settings_are_the_servers(services: Services) -> None:
    client = client_with(
        services,
        atlas_public_url="https://Atlas.Example.org:8443/search/",
        atlas_allowed_hosts="atlas, [2001:db8::7]",
        atlas_host="192.168.1.5",
    )
    for host in ("atlas.example.org", "atlas:8000", "[2001:DB8:0::7]:80", "192.168.1.5:8000"):
        assert client.get("/api/live", headers={"Host": host}).status_code == 200, host
    for host in ("192.168.1.6", "example.org", "atlas.example.org.evil.test"):
        assert client.get("/api/live", headers={"Host": host}).status_code == 421, host


@pytest.mark.parametrize("address", ["192.168.1.5", "Atlas.Example.org", "[2001:DB8:0::7]"])
@pytest.mark.parametrize("inside", ["127.0.0.1", "0.0.0.0"])
def test_the_address_under_which_others_reach_it_is_the_servers(
    services: Services, inside: str, address: str
) -> None:
    client = client_with(services, atlas_host=inside, atlas_address=address)
    for host, status in ((f"{address}:8000", 200), ("evil.test", 421)):
        assert client.get("/api/live", headers={"Host": host}).status_code == status, host


@pytest.mark.parametrize("everywhere", ["0.0.0.0", "::"])
def test_a_server_that_listens_everywhere_has_every_address_but_not_every_name(
    services: Services, everywhere: str
) -> None:
    client = client_with(services, atlas_host=everywhere)
    for host, status in (("10.1.2.3:8000", 200), ("[fe80::1]", 200), ("evil.test", 421)):
        assert client.get("/api/live", headers={"Host": host}).status_code == status, host


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost:8001"},
        {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost", "Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    ],
)
@pytest.mark.parametrize(
    "request_line",
    ["GET /api/config", "GET /api/ask/x/stream", "POST /api/cache/clear", "OPTIONS /api/ask"],
)
def test_a_page_of_another_origin_is_refused(
    client: FlaskClient, request_line: str, headers: dict[str, str]
) -> None:
    method, path = request_line.split()
    response = client.open(path, method=method, headers=headers)
    assert response.status_code == 403
    assert "ATLAS_ALLOWED_ORIGINS" in response.get_json()["detail"]
    assert not [name for name, _ in response.headers if name.startswith("Access-Control")]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost"},
        {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "document",
        },
    ],
)
def test_the_own_page_a_program_and_a_link_are_let_in(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    assert client.get("/api/config", headers=headers).status_code == 200


def test_a_form_of_another_page_is_no_link(client: FlaskClient) -> None:
    headers = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert client.post("/api/cache/clear", headers=headers).status_code == 403
    assert client.post("/api/ask", json={}, headers=headers).status_code == 403


def test_behind_a_proxy_the_public_address_is_the_own_origin(services: Services) -> None:
    client = client_with(services, atlas_public_url="https://atlas.example.org/search/")
    headers = {"Host": "127.0.0.1:8000", "Origin": "https://atlas.example.org"}
    assert client.get("/api/config", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("atlas_allowed_hosts", "https://atlas.example.org"),
        ("atlas_allowed_hosts", "atlas:8000"),
        ("atlas_allowed_hosts", "*"),
        ("atlas_allowed_origins", "wiki.example.org"),
        ("atlas_allowed_origins", f"{WIKI}/page"),
        ("atlas_allowed_origins", "*"),
        ("atlas_allowed_origins", "null"),
    ],
)
def test_what_is_no_host_or_origin_is_no_setting(name: str, value: str) -> None:
    with pytest.raises(ValidationError, match=r"is not an? (host|origin)"):
        Settings(**{name: value})


def test_an_allowed_origin_asks_and_reads(services: Services) -> None:
    client = client_with(services, atlas_allowed_origins=f"https://other.example, {WIKI}")
    headers = {"Origin": WIKI, "Sec-Fetch-Site": "cross-site"}
    answer = client.post(
        "/api/search", data=QUESTION, headers=headers | {"Content-Type": "application/json"}
    )
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == WIKI
    assert "Retry-After" in answer.headers["Access-Control-Expose-Headers"]
    assert "Origin" in answer.headers["Vary"]
    refusal = client.get("/api/passages/none", headers=headers)
    assert refusal.status_code == 404
    assert refusal.headers["Access-Control-Allow-Origin"] == WIKI
    assert client.get("/api/config", headers={"Origin": EVIL}).status_code == 403
    assert client.get("/api/config").headers["Vary"] == "Origin"
    method = {
        "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    preflight = client.options("/api/config/reranker", headers={"Origin": WIKI} | method)
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == WIKI
    assert "PUT" in preflight.headers["Access-Control-Allow-Methods"]
    for header in ("Content-Type", "Atlas-Collection"):
        assert header in preflight.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in preflight.headers
    refusal = client.options("/api/config/reranker", headers={"Origin": EVIL} | method)
    assert refusal.status_code == 403
    assert "Access-Control-Allow-Origin" not in refusal.headers
