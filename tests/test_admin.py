"""Changing a running server."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search.atlas import Atlas
from atlas_search.core.errors import RequestError
from atlas_search.server.app import create_app
from atlas_search.services import Services

TOKEN = {"Authorization": "Bearer open sesame"}


@pytest.fixture
def own(services: Services) -> Services:
    """Services whose targets may be changed without harm to other tests."""
    settings = services.settings.model_copy(update={"atlas_admin_token": SecretStr("open sesame")})
    return replace(services, settings=settings, targets=dict(services.targets))


@pytest.fixture
def client(own: Services) -> Iterator[FlaskClient]:
    with create_app(lambda: Atlas(own)).test_client() as client:
        yield client


def scores(client: FlaskClient) -> list[float]:
    found = client.post("/api/search", json={"question": "right to silence"}).get_json()
    return [passage["score"] for passage in found["passages"]]


def test_weights_change_what_later_searches_give(client: FlaskClient) -> None:
    before = scores(client)
    body = {"settings": {"RERANKER": "weighted", "MIX_DENSE": 1, "MIX_LEXICAL": 0}}
    response = client.put("/api/config/reranker", json=body, headers=TOKEN)
    assert response.status_code == 200
    assert response.get_json()["settings"]["RERANKER"] == "weighted"
    assert scores(client) != before
    assert scores(client)[0] == 1.0
    found = client.post("/api/search", json={"question": "right to silence"}).get_json()
    assert found["retrieval"]["reranker"] == "weighted"


def test_other_targets_stay_as_they_are(client: FlaskClient, own: Services) -> None:
    lexical = own.targets["k10_lexical"]
    body = {"target": "k15_quota", "settings": {"WEIGHT_PHRASE": 0.9}}
    client.put("/api/config/reranker", json=body, headers=TOKEN)
    assert own.targets["k15_quota"].weight_phrase == 0.9
    assert own.targets["k10_lexical"] == lexical


@pytest.mark.parametrize(
    ("headers", "says"),
    [({}, "Send the administrator's token"), ({"Authorization": "Bearer x"}, "Send the")],
)
def test_without_the_token_nothing_changes(
    client: FlaskClient, own: Services, headers: dict[str, str], says: str
) -> None:
    before = dict(own.targets)
    body = {"settings": {"RERANKER": "none"}}
    response = client.put("/api/config/reranker", json=body, headers=headers)
    assert response.status_code == 403
    assert says in response.get_json(force=True)["detail"]
    assert own.targets == before


def test_without_a_token_in_the_settings_nobody_may(services: Services) -> None:
    with create_app(lambda: Atlas(services)).test_client() as client:
        response = client.put("/api/config/reranker", json={"settings": {}}, headers=TOKEN)
    assert response.status_code == 403
    assert "ATLAS_ADMIN_TOKEN is not set" in response.get_json(force=True)["detail"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"search_k": 5}, "search_k cannot be set here. Known: reranker, weight_semantic"),
        ({"weight_phrase": -1}, "weight_phrase=-1: Input should be greater"),
        ({"reranker": "best"}, "reranker='best': there is no such reranker. Known: fused"),
    ],
)
def test_what_a_target_file_could_not_say_is_refused(
    own: Services, changes: dict[str, object], says: str
) -> None:
    before = dict(own.targets)
    with pytest.raises(RequestError) as refused:
        own.configure_reranker(None, changes)
    assert says in str(refused.value)
    assert own.targets == before
