"""The description of the API is valid, and the API does what it says.

`SCHEMA_EXAMPLES=300` (`make test-schema`) tries more of every operation.
"""

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from flask_openapi3.openapi import OpenAPI
from openapi_spec_validator import validate
from pydantic import BaseModel, SecretStr
from schemathesis.core.failures import Failure
from schemathesis.engine import from_schema
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

from atlas_search.atlas import Atlas
from atlas_search.server.access.caller import RULES, described_route
from atlas_search.server.api import EVERY_ROUTE, STATUSES
from atlas_search.server.problems import STATUS
from atlas_search.services import Services
from tests.hash_embedder import HashEmbedder
from tests.server.two_corpora import two_corpora
from tests.servers import app_of

TOKEN = "administrator"
EXAMPLES = int(os.environ.get("SCHEMA_EXAMPLES", "5"))
PHASES = ("examples", "coverage", "fuzzing", "stateful")
ACCEPTED = ["2xx", "400", "401", "403", "404", "409", "429"]


class RefusedByForm(Failure):
    """A request of the form that the description asks for was refused for its form."""


@schemathesis.check
def form_acceptance(_: Any, response: Any, case: Any) -> None:
    """A request that is valid by the description is never refused for its form.

    The form cannot say which corpora, fields and targets there are, which texts hold a word, and
    what is a locator.
    """
    positive = case.meta is not None and case.meta.generation.mode.is_positive
    if positive and response.status_code == 400:
        kind = response.json()["type"].rpartition(":")[2]
        if kind in ("invalid-request", "bad-request"):
            raise RefusedByForm(operation=case.operation.label, message=response.text)


def described(services: Services) -> OpenAPI:
    changed = replace(
        services,
        settings=services.settings.model_copy(update={"atlas_admin_token": SecretStr(TOKEN)}),
    )
    return app_of(Atlas(changed))


@pytest.fixture(scope="module")
def own_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """Services of its own: no change of an administrator may reach other tests."""
    with two_corpora(tmp_path_factory.mktemp("described"), HashEmbedder()) as opened:
        yield opened.services


@pytest.fixture(scope="module")
def services(parish: Atlas) -> Services:
    return parish.services


@pytest.fixture(scope="module")
def document(services: Services) -> Any:
    return described(services).test_client().get("/api/openapi.json").get_json()


def attempts(app: OpenAPI, phases: set[str]) -> Iterator[str]:
    """The faults of all requests that the phases make of the description."""
    enabled = {name: {"enabled": name in phases} for name in PHASES}
    config = schemathesis.Config.from_dict(
        {
            "seed": 1,
            # a WSGI call takes apart nothing that is compressed
            "headers": {"Authorization": f"Bearer {TOKEN}", "Accept-Encoding": "identity"},
            "continue-on-failure": True,
            "generation": {"max-examples": EXAMPLES, "deterministic": True, "no-shrink": True},
            "checks": {
                # 400 is judged by `form_acceptance`
                "positive_data_acceptance": {"expected-statuses": ACCEPTED},
                # its probes pass `max_redirects`, which a WSGI call does not know; and without a
                # token the server says 403. See the test of the administrator's operations
                "ignored_auth": {"enabled": False},
                "missing_required_header": {"enabled": False},
            },
            "phases": enabled,
        }
    )
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", app, config=config)
    for event in from_schema(schema).execute():
        match event:
            case NonFatalError(value=error, label=label):
                yield f"{label}: {error!r}"
            case FatalError(exception=error):
                yield repr(error)
            case ScenarioFinished(recorder=recorder):
                yield from faults(recorder)


def faults(recorder: Any) -> Iterator[str]:
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                case = recorder.cases[case_id].value
                yield f"{check.name}: {case.as_curl_command()}: {check.failure_info.failure}"


def test_no_two_models_of_the_api_share_a_name(services: Services) -> None:
    """Of two that do, the description would hold one, for both."""
    described(services)
    modules: dict[str, set[str]] = defaultdict(set)
    for model in _subclasses(BaseModel):
        ours = model.__module__.startswith(("atlas_search.server", "atlas_search.documents"))
        if ours and not model.__name__.startswith("_"):  # those are bases, and in no description
            modules[model.__name__].add(model.__module__)
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}


def _subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


@pytest.mark.thorough
@pytest.mark.timeout(60 * EXAMPLES)
@pytest.mark.parametrize("phase", PHASES)
def test_the_api_does_what_its_description_says(own_services: Services, phase: str) -> None:
    assert [*attempts(described(own_services), {phase})] == []


def test_what_the_description_keeps_for_the_administrator_is_kept(document: Any) -> None:
    secured = {
        f"{method.upper()} {path}"
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if operation.get("security") == [{"administrator": []}]
    }
    assert secured == {
        f"{rule.split()[0]} {described_route(rule.split()[1])}"
        for rule, right in RULES.items()
        if right == "administrator"
    }


def test_the_description_is_valid_openapi(document: Any) -> None:
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_every_operation_has_the_answers_of_its_gates(document: Any) -> None:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            answered = {int(status) for status in operation["responses"]}
            assert set(EVERY_ROUTE) < answered, f"{method} {path}"
            assert any(status < 400 for status in answered), f"{method} {path}"
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    assert response == {"$ref": f"#/components/responses/{status}"}


def test_every_status_of_a_problem_is_described() -> None:
    assert set(STATUS.values()) <= set(STATUSES)
    assert set(EVERY_ROUTE) <= set(STATUSES)


def test_every_problem_has_the_media_type_and_says_when_to_come_again(document: Any) -> None:
    for status, response in document["components"]["responses"].items():
        assert list(response["content"]) == ["application/problem+json"]
        assert ("Retry-After" in response.get("headers", {})) == (status in ("429", "503"))
