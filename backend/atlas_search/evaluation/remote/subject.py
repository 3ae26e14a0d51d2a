"""A target of a running server, as the subject of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

from atlas_search.core.errors import AtlasError, UnknownTarget
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.asker import Asker
from atlas_search.evaluation.labels.documents import Collection
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.remote.asker import RemoteAsker
from atlas_search.evaluation.remote.documents import ServedDocuments
from atlas_search.evaluation.remote.server import RemoteServer
from atlas_search.evaluation.run import RunSpec, versions
from atlas_search.evaluation.runs.judging import judging_tools
from atlas_search.evaluation.runs.subject import SERVER, Facts
from atlas_search.providers.chat import Health
from atlas_search.providers.embedding import Embedder


@dataclass(frozen=True)
class ServerSubject:
    """See Subject. The `embedder` of this process compares answers with references."""

    server: RemoteServer
    facts: Facts
    tracer: Tracer
    embedder: Embedder

    def asker(self, spec: RunSpec) -> Asker:  # noqa: D102
        return RemoteAsker(self.server, spec)

    def tools(self, k: int | None) -> Tools:  # noqa: D102
        wanted = k or int(self.facts.options["search_k"])
        return judging_tools(self.embedder, self.facts.corpora, wanted)

    def language_model(self) -> Health:  # noqa: D102
        provider = self.facts.options["llm_provider"]
        said = self.server.get("health")["providers"].get(provider, "The server does not name it.")
        return Health(ready=said == "ready", detail=said)

    def now(self) -> Facts:  # noqa: D102
        return server_facts(self.server, self.facts.target)

    @property
    def documents(self) -> Collection:  # noqa: D102
        return ServedDocuments(self.server)


def server_facts(server: RemoteServer, target: str | None) -> Facts:
    """What a server says of a target, of its own choice for None; from now on it is asked about
    the collection that it named, whichever it may serve first by then.

    Raises AtlasError for a server that is not healthy, UnknownTarget.
    """
    health = server.get("health")
    if health.get("status") != "ok":
        raise AtlasError(
            f"{server.address} is not healthy: {health.get('problem') or 'it does not say why'}"
        )
    config = server.get("config")
    server.collection = server.collection or config["collection"]
    targets, corpora = server.get("targets"), server.get("corpora")
    named = target or targets["default"]
    known = {one["name"]: one for one in targets["targets"]}
    if named not in known:
        raise UnknownTarget(
            f"{server.address} has no target {named}. Known targets: {', '.join(known)}."
        )
    return Facts(
        where=server.address,
        target=named,
        composite_target=known[named]["composite_target"],
        options={key.lower(): value for key, value in known[named]["settings"].items()},
        collection=config["collection"],
        collection_version=config["collection_version"],
        corpora=tuple(corpora["all"]),
        settings=_settings(config) | known[named].get("in_force", {}),
        versions={**versions(), SERVER: config["version"]},
    )


def _settings(config: Mapping[str, str]) -> dict[str, str]:
    """What it says of the embedding model; a server of an earlier version says less."""
    names = ("embedding_provider", "embedding_model", "embedding_digest", "pooling")
    return {name: config[name] for name in names if name in config}
