"""Opening who is judged, here or on a server."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from atlas_search.atlas import Atlas
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.telemetry.tracer import open_tracer
from atlas_search.evaluation.remote.server import RemoteServer
from atlas_search.evaluation.remote.subject import ServerSubject, server_facts
from atlas_search.evaluation.run import PROCESS
from atlas_search.evaluation.runs.here import ProcessSubject
from atlas_search.evaluation.runs.subject import Subject
from atlas_search.providers.open import open_embedder


@contextmanager
def open_subject(where: str, collection: str, target: str | None) -> Iterator[Subject]:
    """A target of a collection; without their names, as who is asked chooses.

    `where` is PROCESS or the address of a server. Raises AtlasError if it cannot be asked.
    """
    if where == PROCESS:
        with Atlas.open(collection) as atlas:
            name, _ = atlas.services.target(target)
            yield ProcessSubject(atlas, name)
    else:
        with _open_remote(load_settings(), where, collection, target) as subject:
            yield subject


@contextmanager
def _open_remote(
    settings: Settings, address: str, collection: str, target: str | None
) -> Iterator[Subject]:
    with ExitStack() as closing:
        server = RemoteServer(address, settings.atlas_api_key, collection)
        closing.callback(server.close)
        facts = server_facts(server, target)
        tracer = open_tracer(settings)
        closing.callback(tracer.close)
        yield ServerSubject(server, facts, tracer, open_embedder(settings))
