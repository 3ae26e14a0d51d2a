"""What is set up, what is not, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from atlas_search.core.errors import AtlasError
from atlas_search.core.settings import Settings
from atlas_search.services import Services, open_services

PHOENIX_SECONDS = 3.0
DOCTOR_SECONDS = 60.0  # for providers, of which a monitor waits for none

State = Literal["ok", "note", "fault"]


@dataclass(frozen=True)
class CheckUp:
    """One thing that was looked at. A `note` is something that is not needed, but missing."""

    what: str
    state: State
    detail: str


def examine(settings: Settings) -> Iterator[CheckUp]:
    """Look at everything a server with these settings needs, and at what its targets name."""
    yield _phoenix(settings)
    try:
        services = open_services(settings)
    except AtlasError as error:
        yield CheckUp("collection", "fault", str(error))
        return
    try:
        yield from _services(services)
    finally:
        services.close()


def _services(services: Services) -> Iterator[CheckUp]:
    manifest = services.store.manifest
    held = f"{manifest.documents} documents, {manifest.passages} passages"
    yield CheckUp("collection", "ok", f"{manifest.collection} {manifest.version}: {held}")
    yield CheckUp("embedding", *_try_check(lambda: _embeds(services)))
    calibration = manifest.calibration
    if calibration is None:
        yield CheckUp("abstention", "note", "not calibrated: `atlas calibrate` fits the threshold")
    elif manifest.calibration_is_stale:
        detail = "calibrated for other contents: `atlas calibrate` fits the threshold anew"
        yield CheckUp("abstention", "note", detail)
    else:
        yield CheckUp("abstention", "ok", f"calibrated: evidence from {calibration.threshold:.3f}")
    name, default = services.target(None)
    wanted = {target.llm_provider for target in services.targets.values()}
    for provider, health in services.provider_health(DOCTOR_SECONDS).items():
        needed = provider == default.llm_provider
        state: State = "ok" if health.ready and not health.detail else "note"
        if needed and not health.ready:
            state = "fault"
        if provider in wanted:
            yield CheckUp(f"model {provider}", state, health.detail or "ready")
    yield CheckUp("target", "ok", f"{name}, one of {', '.join(services.targets)}")


def _embeds(services: Services) -> str:
    info = services.searcher.embedder.info
    services.searcher.embedder.embed_query("Can this be embedded?")
    return f"{info.name}, {info.dimension} dimensions, {info.provider}"


def _try_check(look: Callable[[], str]) -> tuple[State, str]:
    try:
        return "ok", look()
    except AtlasError as error:
        return "fault", str(error)


def _phoenix(settings: Settings) -> CheckUp:
    address = settings.phoenix_collector_endpoint
    if not address:
        detail = "no tracing: `make run` starts Phoenix, or set PHOENIX_COLLECTOR_ENDPOINT"
        return CheckUp("phoenix", "note", detail)
    from httpx2 import HTTPError, get  # 0.15 s: only who examines pays

    try:
        get(f"{address.rstrip('/')}/healthz", timeout=PHOENIX_SECONDS).raise_for_status()
    except HTTPError as error:
        return CheckUp(
            "phoenix", "fault", f"{address} does not answer ({error}). Start it: `make phoenix`."
        )
    return CheckUp("phoenix", "ok", address)
