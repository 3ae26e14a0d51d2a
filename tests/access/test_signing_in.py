"""Who is let in: with a key, without one, and where a server may listen."""

from datetime import date
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.cli.main import main
from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import RULES, check_listening
from atlas_search.server.access.keys import add_key, revoke_key
from atlas_search.server.app import create_app
from tests.access.conftest import TOKEN, Signed, guard
from tests.access.two_corpora import QUESTION
from tests.servers import served


@pytest.mark.parametrize("header", [{}, {"Authorization": "Basic x"}, {"Authorization": "Bearer "}])
def test_without_a_key_nobody_is_let_in(client: FlaskClient, header: dict[str, str]) -> None:
    for rule, right in RULES.items():
        method, route = rule.split()
        response = client.open(route, method=method, json={}, headers=header, buffered=True)
        if right == "anyone":
            assert response.status_code != 401, rule
            continue
        assert response.status_code == 401, rule
        assert response.headers["WWW-Authenticate"].startswith("Bearer"), rule
        assert response.mimetype == "application/problem+json"
        assert response.get_json(force=True)["type"] == "urn:atlas:problem:unknown-caller"


def test_an_unknown_an_expired_and_a_revoked_key_are_refused(
    client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    old = add_key(keys_file, "old", expires=date(2020, 1, 1)).text
    for key in (old, "atlas_00000000_" + "0" * 64, "nonsense", "é"):
        response = client.get("/api/corpora", headers={"Authorization": f"Bearer {key}"})
        assert response.status_code == 401
        assert "expired or was revoked" in response.get_json(force=True)["detail"]
    assert whole.get("/api/corpora").status_code == 200
    revoke_key(keys_file, "whole")
    assert whole.get("/api/corpora").status_code == 401


def test_the_scheme_may_be_written_as_one_likes(client: FlaskClient, whole_key: str) -> None:
    headers = {"Authorization": f"bearer  {whole_key}"}
    assert client.get("/api/corpora", headers=headers).status_code == 200


def test_only_an_administrators_key_or_the_token_changes_the_server(
    client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    refused = whole.post("/api/cache/clear", {})
    assert refused.status_code == 403
    assert "The key whole has not the right" in refused.get_json(force=True)["detail"]
    keeper = Signed(client, add_key(keys_file, "keeper", administrator=True).text)
    assert keeper.post("/api/cache/clear", {}).status_code == 200
    assert Signed(client, TOKEN).post("/api/cache/clear", {}).status_code == 200
    assert Signed(client, TOKEN).get("/api/corpora").status_code == 200


def test_a_damaged_file_lets_nobody_in_and_health_says_so(
    client: FlaskClient, keys_file: Path, whole: Signed
) -> None:
    content = keys_file.read_bytes()
    keys_file.write_text("{")
    assert whole.get("/api/corpora").status_code == 503
    assert client.get("/", buffered=True).status_code == 200
    health = client.get("/api/health").get_json()
    assert health["status"] == "degraded"
    assert str(keys_file) not in health["problem"]
    told = Signed(client, TOKEN).get("/api/health").get_json()
    assert f"API_KEYS_FILE={keys_file}" in told["problem"]
    keys_file.write_bytes(content)
    assert whole.get("/api/corpora").status_code == 200


def test_health_says_whether_it_is_well_to_anyone_and_the_rest_to_readers(
    client: FlaskClient, whole: Signed
) -> None:
    alone = client.get("/api/health")
    assert alone.status_code == 200
    assert alone.get_json()["status"] == "ok"
    assert (alone.get_json()["documents"], alone.get_json()["passages"]) == (None, None)
    assert whole.get("/api/health").get_json()["documents"] == 3


def test_without_a_file_of_keys_everyone_asks(parish: Atlas) -> None:
    with create_app(lambda: guard(parish, None)).test_client() as client:
        assert client.get("/api/corpora").status_code == 200
        assert client.get("/api/health").get_json()["documents"] == 3
        assert client.post("/api/cache/clear", json={}).status_code == 403


def test_a_server_with_damaged_keys_does_not_start(parish: Atlas, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no such file"):
        create_app(lambda: guard(parish, tmp_path / "absent.json"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.3.2.1"])
def test_a_server_for_this_machine_alone_needs_no_keys(host: str) -> None:
    check_listening(Settings(atlas_host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "*", "example.org"])
def test_a_server_for_others_needs_keys_or_a_proxy(host: str, keys_file: Path) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_listening(Settings(atlas_host=host))
    assert "API_KEYS_FILE" in str(refused.value)
    assert "ATLAS_ACCESS=proxy" in str(refused.value)
    check_listening(Settings(atlas_host=host, atlas_access="proxy"))
    check_listening(Settings(atlas_host=host, api_keys_file=keys_file))


def test_serve_refuses_before_it_opens_anything(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATLAS_HOST", "0.0.0.0")
    with pytest.raises(SystemExit):
        main(["serve"])
    assert "ATLAS_HOST=0.0.0.0 lets other machines ask" in capsys.readouterr().err


def test_the_command_sends_the_key_of_the_environment(
    guarded: Atlas,
    whole_key: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served(create_app(lambda: guarded)) as address:
        monkeypatch.setenv("ATLAS_PORT", address.rpartition(":")[2])
        with pytest.raises(SystemExit):
            main(["search", QUESTION])
        assert "The key is taken from ATLAS_API_KEY" in capsys.readouterr().err
        monkeypatch.setenv("ATLAS_API_KEY", whole_key)
        with pytest.raises(SystemExit) as ended:
            main(["search", QUESTION])
    assert ended.value.code == 0
    assert "The granite bridge" in capsys.readouterr().out
