"""What is set up, what is not, and what to do about it."""

from collections.abc import Callable, Iterator, Mapping

from atlas_search.cli.installation import (
    CheckUp,
    State,
    check_folder,
    check_port,
    check_space,
    check_store,
    check_targets,
    needed_space,
)
from atlas_search.core.addresses import phoenix_problem, without_login
from atlas_search.core.errors import AtlasError
from atlas_search.core.settings import Settings
from atlas_search.server.access.gate import CHECKS
from atlas_search.services import Services, open_services

__all__ = ["CheckUp", "examine"]

DOCTOR_SECONDS = 60.0  # for providers, of which a monitor waits for none

_HELD: Mapping[str, Callable[[Settings], str]] = {
    "access": lambda settings: (
        "keys say who may ask" if settings.api_keys_file else _open(settings)
    ),
    "keys": lambda settings: str(settings.api_keys_file or "none: API_KEYS_FILE is not set"),
    "audit": lambda settings: str(settings.audit_log or "none: AUDIT_LOG is not set"),
    "state": lambda settings: str(settings.atlas_state_directory),
}
"""What there is to say of each of them where all is well."""


def examine(settings: Settings) -> Iterator[CheckUp]:
    """Look at everything a server with these settings needs, and at what its targets name."""
    yield check_folder(settings.collection_folder)
    yield check_space(settings.chroma_persist_directory, needed_space(settings))
    yield check_port(settings)
    for what, check in CHECKS.items():
        yield _start(what, check, settings)
    yield _phoenix(settings)
    needed = [check_targets(settings), check_store(settings)]
    yield from needed
    if any(each.state == "fault" for each in needed):
        yield CheckUp("models", "note", "not examined before that is mended")
        return
    try:
        services = open_services(settings)
    except AtlasError as error:
        yield CheckUp("models", "fault", str(error))
        return
    try:
        yield from _services(services)
    finally:
        services.close()


def _services(services: Services) -> Iterator[CheckUp]:
    manifest = services.store.manifest
    yield CheckUp("embedding", *_try_check(lambda: _embeds(services)))
    calibration = manifest.calibration
    if calibration is None:
        yield CheckUp("abstention", "note", "not calibrated: `atlas calibrate` fits the threshold")
    elif manifest.calibration_is_stale:
        detail = "calibrated for other contents: `atlas calibrate` fits the threshold anew"
        yield CheckUp("abstention", "note", detail)
    else:
        yield CheckUp("abstention", "ok", f"calibrated: evidence from {calibration.threshold:.3f}")
    _, default = services.target(None)
    wanted = {target.llm_provider for target in services.targets.values()}
    for provider, health in services.provider_health(DOCTOR_SECONDS).items():
        needed = provider == default.llm_provider
        state: State = "ok" if health.ready and not health.detail else "note"
        if needed and not health.ready:
            state = "fault"
        if provider in wanted:
            yield CheckUp(f"model {provider}", state, health.detail or "ready")


def _embeds(services: Services) -> str:
    info = services.searcher.embedder.info
    services.searcher.embedder.embed_query("Can this be embedded?")
    return f"{info.name}, {info.dimension} dimensions, {info.runtime or info.provider}"


def _try_check(look: Callable[[], str]) -> tuple[State, str]:
    try:
        return "ok", look()
    except AtlasError as error:
        return "fault", str(error)


def _open(settings: Settings) -> str:
    proxied = settings.atlas_access == "proxy"
    return "whom the proxy lets in may ask" if proxied else "who uses this machine may ask"


def _start(what: str, check: Callable[[Settings], None], settings: Settings) -> CheckUp:
    """One of the things for which `atlas serve` refuses to start."""

    def look() -> str:
        check(settings)
        return _HELD[what](settings)

    return CheckUp(what, *_try_check(look))


def _phoenix(settings: Settings) -> CheckUp:
    address = settings.phoenix_collector_endpoint
    if not address:
        detail = "no tracing: `make run` starts Phoenix, or set PHOENIX_COLLECTOR_ENDPOINT"
        return CheckUp("phoenix", "note", detail)
    if problem := phoenix_problem(address):
        mend = "Start it: `make phoenix`, or leave PHOENIX_COLLECTOR_ENDPOINT empty."
        return CheckUp("phoenix", "fault", f"{problem}. {mend}")
    return CheckUp("phoenix", "ok", without_login(address))
