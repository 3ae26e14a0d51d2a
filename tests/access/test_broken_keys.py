"""A file of keys that breaks while the server runs: nobody may ask, and everything says so."""

import logging
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from tests.access.conftest import TOKEN, Signed


@pytest.fixture
def administrator(client: FlaskClient) -> Signed:
    return Signed(client, TOKEN)


def test_it_is_not_ready_and_health_names_the_keys(
    client: FlaskClient, whole: Signed, administrator: Signed, keys_file: Path
) -> None:
    assert client.get("/api/ready").status_code == 200
    assert administrator.get("/api/health").get_json()["parts"]["keys"]["status"] == "ok"
    kept = keys_file.read_text()
    keys_file.write_text("{")
    assert whole.get("/api/corpora").status_code == 503
    ready = client.get("/api/ready")
    assert ready.status_code == 503
    assert str(keys_file) not in ready.get_data(as_text=True)
    assert "is not valid JSON" in administrator.get("/api/ready").get_json()["detail"]
    health = administrator.get("/api/health").get_json()
    assert (health["status"], health["parts"]["keys"]["status"]) == ("degraded", "fault")
    assert str(keys_file) in health["parts"]["keys"]["detail"] == health["problem"]
    assert health["parts"]["store"]["status"] == "ok"
    keys_file.write_text(kept)
    assert client.get("/api/ready").status_code == 200
    assert whole.get("/api/corpora").status_code == 200


def test_the_log_has_one_line_for_each_state_of_the_file(
    whole: Signed, keys_file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for content in ("{", '{"keys": [', None):
        keys_file.unlink()
        if content is not None:
            keys_file.write_text(content)
            keys_file.chmod(0o600)
        for _ in range(3):
            assert whole.get("/api/corpora").status_code == 503
    lines = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert len(lines) == 3
    assert all(line.startswith("Nobody may ask: API_KEYS_FILE=") for line in lines)
    assert "there is no such file" in lines[2]
