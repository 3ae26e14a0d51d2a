"""A target of a running server, as the subject of a run."""

from collections.abc import Mapping
from dataclasses import dataclass

from atlas_search.core.errors import AtlasError, UnknownTarget
from atlas_search.core.tracing.tracer import Tracer
from atlas_search.evaluation.asker import Asker
from atlas_search.evaluation.labels.documents import Collection
from atlas_search.evaluation.metrics.metric import Tools
from atlas_search.evaluation.remote.asker import RemoteAsker
from atlas_search.evaluation.remote.documents import ServedDocuments
from atlas_search.evaluation.remote.server import RemoteServer
from atlas_search.evaluation.run import RunSpec, versions
from atlas_search.evaluation.runs.judging import judging_tools
from atlas_search.evaluation.runs.subject import Facts
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

    @property
    def documents(self) -> Collection:  # noqa: D102
        return ServedDocuments(self.server, self.facts.corpora)


def server_facts(server: RemoteServer, target: str | None) -> Facts:
    """What a server says of a target, of its own choice for None.

    Raises AtlasError for a server that is not healthy, UnknownTarget.
    """
    health = server.get("health")
    if health.get("status") != "ok":
        raise AtlasError(
            f"{server.address} is not healthy: {health.get('problem') or 'it does not say why'}"
        )
    config, targets, corpora = (server.get(route) for route in ("config", "targets", "corpora"))
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
        settings=_settings(config),
        versions={**versions(), "server": config["version"]},
    )


def _settings(config: Mapping[str, str]) -> dict[str, str]:
    return {name: config[name] for name in ("embedding_model", "embedding_digest")}
