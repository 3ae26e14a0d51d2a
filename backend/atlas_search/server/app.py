"""The Flask application: blueprints, errors and the static page. Wiring only."""

import gzip
from functools import partial

from flask import Response, g, request
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI
from werkzeug.routing import BaseConverter

from atlas_search.core.files import bundled_folder
from atlas_search.core.ids import COLLECTION_HEADER, __version__
from atlas_search.core.settings import Settings
from atlas_search.providers.open import EmbedderFactory, open_embedder
from atlas_search.server.access.caller import Access
from atlas_search.server.access.gate import gate, release, serve_caller
from atlas_search.server.access.origin import allow_reading, origin_gate, origins
from atlas_search.server.access.quotas import (
    REQUESTS_TABLE,
    SHARED_TABLE,
    SPENDING_TABLE,
    Limiter,
    SharedAnswers,
    Spending,
)
from atlas_search.server.api import DescribedAPI, StrictJSON, read_body
from atlas_search.server.ask import ask_blueprint, share_blueprint
from atlas_search.server.collections import (
    ServedCollections,
    collections_blueprint,
    present_guard,
    require_whole,
    withhold,
)
from atlas_search.server.connect import Connections, offer_embedding
from atlas_search.server.documents import (
    catalogue_blueprint,
    listing_blueprint,
    read_sources_blueprint,
    statistics_blueprint,
)
from atlas_search.server.export import citations_blueprint, export_blueprint
from atlas_search.server.feedback.delivery import Feedback
from atlas_search.server.feedback.routes import feedback_blueprint
from atlas_search.server.health import admin_blueprint, health_blueprint
from atlas_search.server.ingest.jobs import Jobs
from atlas_search.server.ingest.routes import add_removal, ingest_blueprint
from atlas_search.server.limits import MAX_BODY, ForwardedFor, answer_threads, networks
from atlas_search.server.metrics import (
    Refusals,
    audit,
    begin_request,
    count_job,
    heed_privacy,
    metrics_blueprint,
    observe_server,
    speak_again,
    time_request,
)
from atlas_search.server.page import PageFiles, pages_blueprint
from atlas_search.server.problems import Problem, problem_response, validation_response
from atlas_search.server.runs import ANSWERS_TABLE, KeptAnswers, Runs
from atlas_search.server.search import (
    facets_blueprint,
    search_blueprint,
    suggestions_blueprint,
    words_blueprint,
)
from atlas_search.server.state import open_states
from atlas_search.server.validate import validate_blueprint
from atlas_search.services import Services

_NOTHING = "default-src 'none'; frame-ancestors 'none'"

# the page loads nothing from elsewhere, runs no inline script and makes no markup of texts
_PAGE = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)

# Swagger UI writes style elements of its own, and makes markup of texts that it has cleaned
_API_PAGE = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), serial=(), usb=()",
}


def forbid(response: Response, path: str) -> Response:
    """Give a response to `path` its headers: a page may load its own parts, data nothing.

    A policy that its route has given it stays.
    """
    response.headers.update(_ALWAYS)
    if not path.startswith("/api/"):
        policy = _PAGE
    else:
        policy = _API_PAGE if response.mimetype == "text/html" else _NOTHING
    response.headers.setdefault("Content-Security-Policy", policy)
    return response


FRONTEND = bundled_folder("frontend")

_DESCRIPTION = (
    "Where several collections are served, each request may choose one: by the field `collection` "
    f"of its body, the parameter `collection` of its query, or the header `{COLLECTION_HEADER}`."
)


_WORTH_IT = 1_000  # bytes


def compress_document(response: Response) -> Response:
    """Compress a JSON document that was only fetched, for whoever takes it so.

    Answers to what somebody sends are not: their length would tell of what else they hold (BREACH).
    """
    fetched = request.method == "GET" and response.status_code == 200 and response.is_json
    if not fetched or response.is_streamed or (response.content_length or 0) < _WORTH_IT:
        return response
    response.vary.add("Accept-Encoding")
    if not response.content_encoding and request.accept_encodings.quality("gzip"):
        response.set_data(gzip.compress(response.get_data(), 6, mtime=0))
        response.content_encoding = "gzip"
    return response


class _Id(BaseConverter):
    """An id in a path, which is not the word that another path has in its place."""

    regex = "(?!stream$)[^/]+"


class _RatedId(BaseConverter):
    """The id of an answer where `export` is another path."""

    regex = "(?!export$)[^/]+"


class _AnyId(BaseConverter):
    """An id in a path, whatever characters it has: those of other stores may hold slashes."""

    regex = "(?s:.+)"
    part_isolating = False


def create_app(
    collections: ServedCollections, open_embedder: EmbedderFactory = open_embedder
) -> OpenAPI:
    """Build the application over these collections; the OpenAPI page is at /api/swagger.

    `open_embedder` is called in the processes that build what is ingested.
    """
    app = _empty_app(collections)
    services = collections().services
    settings, metrics = services.settings, services.searcher.metrics
    access = app.extensions["access"] = Access(settings)
    open_state = open_states(settings)
    spending = Spending(open_state("spending", SPENDING_TABLE))
    minute = open_state("requests", REQUESTS_TABLE)
    limiter = Limiter(settings, spending, shared=minute if minute.is_shared else None)
    _add_gates(app, services, access, collections, limiter)
    count = partial(count_job, metrics)
    jobs = app.extensions["jobs"] = Jobs(
        settings.ingest_root, collections.refresh, count, tracer=services.tracer
    )
    kept = open_state("answers", ANSWERS_TABLE)
    runs = app.extensions["runs"] = Runs(
        _places(settings), settings.resume_seconds, KeptAnswers(kept) if kept.is_shared else None
    )
    feedback = app.extensions["feedback"] = Feedback(settings, open_state)
    shared = SharedAnswers(open_state("shared", SHARED_TABLE), access.knows)
    own, guards = serve_caller(collections), partial(present_guard, collections)
    states = (spending.check, shared.state.check, feedback.state.check)
    for blueprint in (
        ask_blueprint(own, runs, guards, limiter, feedback.note),
        feedback_blueprint(feedback, metrics),
        export_blueprint(collections, runs),
        share_blueprint(settings, runs, shared),
        citations_blueprint(settings),
        validate_blueprint(own),
        search_blueprint(own),
        facets_blueprint(own),
        suggestions_blueprint(own),
        words_blueprint(own),
        add_removal(catalogue_blueprint(own), collections, jobs, open_embedder),
        health_blueprint(own, collections.problem, lambda: access.problem, states),
        metrics_blueprint(metrics),
        admin_blueprint(own),
        ingest_blueprint(collections, jobs, open_embedder),
        collections_blueprint(collections),
        listing_blueprint(own),
        pages_blueprint(own, collections),
        statistics_blueprint(own, runs),
        read_sources_blueprint(own),
    ):
        app.register_api(blueprint)
    observe_server(metrics, collections, runs, jobs)
    Connections(app, settings).add_routes()
    _add_page(app, PageFiles(FRONTEND))
    # mypy has it that a method cannot be replaced; Flask says to do it so
    app.wsgi_app = ForwardedFor(  # type: ignore[method-assign]
        app.wsgi_app, networks(settings.trusted_proxies)
    )
    return app


def _add_page(app: OpenAPI, files: PageFiles) -> None:
    """Serve the page; not by decorators of flask-openapi3, which pass no plain path arguments."""
    app.add_url_rule("/", view_func=lambda: offer_embedding(files.page("index.html")))
    app.add_url_rule("/static/<path:name>", "page", files.send)


def _empty_app(collections: ServedCollections) -> DescribedAPI:
    """An application that has no route yet: how it reads requests, and says what is wrong."""
    app = DescribedAPI(
        "atlas",
        info=Info(title="Atlas", version=__version__, description=_DESCRIPTION),
        validation_error_status=400,
        validation_error_model=Problem,
        validation_error_callback=validation_response,
        doc_prefix="/api",
        doc_url="/openapi.json",
        static_folder=None,
    )
    app.json = StrictJSON(app)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    # the library's page has its script inline, and a field to load the API of any other site
    app.config["SWAGGER_HTML_STRING"] = (FRONTEND / "swagger.html").read_text(encoding="utf-8")
    app.url_map.converters |= {"any_id": _AnyId, "rated_id": _RatedId, "default": _Id}
    app.url_map.merge_slashes = False
    app.register_error_handler(Exception, partial(_answer_error, collections))
    return app


def _add_gates(
    app: OpenAPI,
    services: Services,
    access: Access,
    collections: ServedCollections,
    limiter: Limiter,
) -> None:
    """Put before and after every route what is the same for all of them, in this order."""
    settings, metrics = services.settings, services.searcher.metrics
    known = origins(settings)
    app.before_request(begin_request)
    app.before_request(heed_privacy)
    app.teardown_request(speak_again)
    app.before_request(origin_gate(known))
    app.before_request(gate(access, limiter))
    app.before_request(read_body)
    app.before_request(partial(require_whole, collections))
    app.extensions["refusals"] = refusals = Refusals(services.tracer)
    app.after_request(compress_document)  # the first named is called last
    app.after_request(refusals.tell)
    app.after_request(time_request(metrics))
    app.after_request(lambda response: forbid(response, request.path))
    app.after_request(audit(settings))
    app.after_request(release)
    app.after_request(partial(withhold, collections))
    app.after_request(partial(allow_reading, known))


def _answer_error(collections: ServedCollections, error: Exception) -> Response:
    g.error = error
    return problem_response(present_guard(collections).cause(error))


def _places(settings: Settings) -> int:
    """The answers written at once or waiting for a model; some threads stay for the rest."""
    places = settings.llm_concurrency + settings.llm_queue
    return max(1, min(places, answer_threads(settings.atlas_threads)))
