"""Every route has a rule, and one without is closed."""

import pytest

from atlas_search.atlas import Atlas
from atlas_search.server.access.caller import RULES, rule_key
from atlas_search.server.app import create_app
from atlas_search.services import Services


def test_every_route_has_a_rule_and_every_rule_a_route(services: Services) -> None:
    app = create_app(lambda: Atlas(services))
    routes = {
        rule_key(method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if method != "OPTIONS"
    }
    assert routes == set(RULES)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_route_without_a_rule_is_closed(services: Services, method: str) -> None:
    app = create_app(lambda: Atlas(services))
    app.add_url_rule("/api/secrets", "secrets", lambda: "all of them", methods=["GET", "POST"])
    with app.test_client() as client:
        response = client.open("/api/secrets", method=method, json={})
    assert response.status_code == 403
    assert b"all of them" not in response.data


def test_what_changes_the_server_needs_the_token(services: Services) -> None:
    with create_app(lambda: Atlas(services)).test_client() as client:
        for rule, right in RULES.items():
            if right != "administrator":
                continue
            method, route = rule.split()
            response = client.open(route, method=method, json={})
            assert response.status_code == 403, rule
