"""The Flask application: blueprints, errors and the static page. Wiring only."""

import json
from collections.abc import Callable
from pathlib import Path

from flask import Response, request, send_from_directory
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI
from werkzeug.exceptions import BadRequest
from werkzeug.routing import BaseConverter

from atlas_search.core.places import bundled_folder
from atlas_search.core.settings import Settings
from atlas_search.core.version import __version__
from atlas_search.providers.embedding.open import EmbedderFactory, open_embedder
from atlas_search.server.access.gate import gate
from atlas_search.server.admin import admin_blueprint
from atlas_search.server.ask import ask_blueprint
from atlas_search.server.catalogue import catalogue_blueprint
from atlas_search.server.collection_routes import collections_blueprint
from atlas_search.server.collections import HEADER, Collections, OneCollection, ServedCollections
from atlas_search.server.export import export_blueprint
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.ingest.routes import INGEST_PATH, add_removal, ingest_blueprint
from atlas_search.server.listing import listing_blueprint
from atlas_search.server.problems import Problem, problem_response, validation_response
from atlas_search.server.runs import Runs
from atlas_search.server.search import search_blueprint
from atlas_search.server.serving import Serve
from atlas_search.server.statistics import statistics_blueprint
from atlas_search.server.validate import validate_blueprint

FRONTEND = bundled_folder("frontend")
SPARE_THREADS = 4  # for everything but answers
MAX_BODY = 2 * 1024 * 1024  # bytes; a long chat history fits, an upload does not

_DESCRIPTION = (
    "Where several collections are served, each request may choose one: by the field `collection` "
    f"of its body, the parameter `collection` of its query, or the header `{HEADER}`."
)

# the page loads nothing from elsewhere and runs no inline script
_PAGE_POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"


class _AnyId(BaseConverter):
    """An id in a path, whatever characters it has: those of other stores may hold slashes."""

    regex = "(?s:.+)"
    part_isolating = False


def create_app(
    serve: Serve | ServedCollections,
    frontend: Path = FRONTEND,
    problem: Callable[[], str] = lambda: "",
    open_embedder: EmbedderFactory = open_embedder,
) -> OpenAPI:
    """The application over what `serve` gives; the OpenAPI page is at /api/swagger.

    `problem` says why the newest version of the collection is not served, if it is not.
    `open_embedder` is called in the processes that build what is ingested.
    """
    collections: Collections = (
        serve if isinstance(serve, ServedCollections) else OneCollection(serve, problem)
    )
    serve = collections
    app = OpenAPI(
        "atlas",
        info=Info(title="Atlas", version=__version__, description=_DESCRIPTION),
        responses={400: Problem, 500: Problem},
        validation_error_status=400,
        validation_error_model=Problem,
        validation_error_callback=validation_response,
        doc_prefix="/api",
        doc_url="/openapi.json",
        static_folder=None,
    )
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    app.url_map.converters["any_id"] = _AnyId
    app.url_map.merge_slashes = False
    app.register_error_handler(Exception, problem_response)
    settings = serve().services.settings
    app.before_request(gate(settings))
    app.before_request(_parse_json_early)
    app.after_request(_secure)
    jobs = Jobs(settings.ingest_root, collections.refresh)
    app.extensions["jobs"] = jobs
    runs = Runs(_places(settings), settings.resume_seconds)
    app.extensions["runs"] = runs
    app.register_api(ask_blueprint(serve, runs))
    app.register_api(export_blueprint(collections, runs))
    app.register_api(validate_blueprint(serve))
    app.register_api(search_blueprint(serve))
    catalogue = catalogue_blueprint(serve, collections.problem)
    add_removal(catalogue, collections, jobs, open_embedder)
    app.register_api(catalogue)
    app.register_api(admin_blueprint(serve))
    app.register_api(ingest_blueprint(collections, jobs, open_embedder))
    app.register_api(collections_blueprint(collections))
    app.register_api(listing_blueprint(serve))
    app.register_api(statistics_blueprint(serve, runs))

    # not by the decorators of flask-openapi3, which pass no plain path arguments
    app.add_url_rule("/", view_func=lambda: send_from_directory(frontend, "index.html"))
    app.add_url_rule(
        "/static/<path:name>", "page", lambda name: send_from_directory(frontend, name)
    )
    return app


def _places(settings: Settings) -> int:
    """Answers at once, those that wait for a model included; some threads stay for the rest."""
    wanted = settings.llm_concurrency + settings.llm_queue
    return max(1, min(wanted, settings.atlas_threads - SPARE_THREADS))


def _parse_json_early() -> None:
    """Report malformed JSON as such; later it would be reported as a missing field."""
    if request.path == INGEST_PATH and request.mimetype == "multipart/form-data":
        return
    if request.method in {"POST", "PUT", "PATCH"} and request.get_data(cache=True):
        try:
            body = request.get_json(force=True)
            # half a character can be written as an escape, but no model or store can read it
            json.dumps(body, ensure_ascii=False).encode()
        except (BadRequest, RecursionError, UnicodeEncodeError) as error:
            raise BadRequest("The body is not valid JSON. Send a JSON object.") from error


def _secure(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    if not request.path.startswith("/api/"):
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
    return response
