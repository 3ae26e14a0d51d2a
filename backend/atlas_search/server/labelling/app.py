"""The application of a page for one person on this machine.

It answers only who has the key that is made at its start, and only the routes that the page needs:
those of `atlas serve` that are not named here are not there.
"""

from collections.abc import Callable, Mapping
from typing import Literal

from flask import Response, g, request
from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.openapi import OpenAPI
from pydantic import SecretStr

from atlas_search.core.errors import NotAllowed, UnknownCaller
from atlas_search.core.files import bundled_folder
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Access
from atlas_search.server.access.origin import origin_gate, origins
from atlas_search.server.access.rules import rule_key
from atlas_search.server.bodies import StrictJSON, read_body
from atlas_search.server.headers import forbid
from atlas_search.server.page_files import PageFiles
from atlas_search.server.problems import Problem, problem_response, validation_response
from atlas_search.server.telemetry import heed_privacy, speak_again

HOST = "127.0.0.1"
MAX_BODY = 1024 * 1024  # bytes

Page = Literal["label.html", "rate.html"]
OPEN = frozenset({"GET /", "GET /static/<path:name>"})
"""The page itself, which tells nothing of the collection."""


def page_app(
    page: Page, settings: Settings, key: str, blueprints: Mapping[APIBlueprint, frozenset[str]]
) -> OpenAPI:
    """The application of a page, with the routes that are named for each blueprint."""
    settings = _own_settings(settings, key)
    app = OpenAPI(
        "atlas",
        doc_ui=False,
        validation_error_status=400,
        validation_error_model=Problem,
        validation_error_callback=validation_response,
        static_folder=None,
    )
    app.json = StrictJSON(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.register_error_handler(Exception, problem_response)
    app.before_request(heed_privacy)
    app.teardown_request(speak_again)
    app.before_request(origin_gate(origins(settings)))
    app.before_request(_gate(Access(settings), frozenset().union(*blueprints.values())))
    app.before_request(read_body)
    app.after_request(lambda response: _forbid(response))
    for blueprint in blueprints:
        app.register_api(blueprint)
    files = PageFiles(bundled_folder("frontend"))
    app.add_url_rule("/", view_func=lambda: files.page(page))
    app.add_url_rule("/static/<path:name>", "page", files.send)
    return app


def _own_settings(settings: Settings, key: str) -> Settings:
    """Of all that says who may ask, only the key and this machine are left."""
    return settings.model_copy(
        update={
            "api_keys_file": None,
            "atlas_admin_token": SecretStr(key),
            "atlas_host": HOST,
            "atlas_address": "",
            "atlas_public_url": "",
            "atlas_allowed_hosts": "",
            "atlas_allowed_origins": "",
        }
    )


def _gate(access: Access, routes: frozenset[str]) -> Callable[[], None]:
    """What to call before each request. It raises UnknownCaller and NotAllowed."""

    def admit() -> None:
        if request.url_rule is None:
            return  # there is no such route, which is said later
        rule = rule_key(request.method, request.url_rule.rule)
        g.caller = access.caller(request.headers.get("Authorization", ""))
        if rule in OPEN:
            return
        if rule not in routes:
            raise NotAllowed("This route is closed.")
        if "administrator" not in g.caller.rights:
            raise UnknownCaller(
                "This page needs the key that stands at the end of the address that was printed "
                "when it was started."
            )

    return admit


def _forbid(response: Response) -> Response:
    if not response.cache_control.immutable:
        response.headers["Cache-Control"] = "no-store"
    return forbid(response, request.path)
