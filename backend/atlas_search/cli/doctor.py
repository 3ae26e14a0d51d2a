"""Checks of an installation: folders, disk, port, targets, the files of the store.

They say what is set up, what is not, and what to do about it. Each check is on its own, so that one
fault does not hide the others.
"""

import errno
import json
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from atlas_search.atlas import Atlas
from atlas_search.building.materials import remedy
from atlas_search.core.addresses import bounded_request, phoenix_problem, without_login
from atlas_search.core.errors import AtlasError, DamagedStore, SourceError
from atlas_search.core.files import free_bytes
from atlas_search.core.settings import Settings, environment_target, load_settings
from atlas_search.core.targets import Target
from atlas_search.documents.bundle import print_replay, read_bundle, replay
from atlas_search.documents.export import FORMATS, export, known_format
from atlas_search.server.access.gate import CHECKS
from atlas_search.server.access.keys import key_place
from atlas_search.services import Services, load_targets, open_services
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.versions import ORDER, PARTS, check_files

SPARE = 2**28  # bytes beside a version: what reading and embedding put down meanwhile
PROBE_SECONDS = 3.0

State = Literal["ok", "note", "fault"]


@dataclass(frozen=True)
class CheckUp:
    """One thing that was looked at. A `note` is something that is not needed, but missing."""

    what: str
    state: State
    detail: str


def check_folder(folder: Path) -> CheckUp:
    """Check that a folder can be written, with a file that leaves no trace.

    Serving a collection needs it too: its keyword index is locked by a file.
    """
    place = _nearest(folder)
    try:
        with tempfile.TemporaryFile(dir=place):
            return CheckUp("folder", "ok", str(folder))
    except OSError as error:
        return CheckUp(
            "folder",
            "fault",
            f"{place} cannot be written ({error.strerror or error}). Give the user who runs Atlas "
            "the right to write there, or set CHROMA_PERSIST_DIRECTORY to another folder.",
        )


def check_space(folder: Path, needed: int) -> CheckUp:
    """Check that a build has room: `needed` bytes for a version beside the live one."""
    free = free_bytes(folder)
    space = f"{_size(free)} free, and a build needs {_size(needed)}"
    if free >= needed:
        return CheckUp("disk", "ok", space)
    mend = "Free some, or set CHROMA_PERSIST_DIRECTORY to a folder on another disk."
    return CheckUp("disk", "fault", f"{space} in {folder}. {mend}")


def needed_space(settings: Settings) -> int:
    """Bytes of another version like the live one, and some to spare."""
    try:
        return SPARE + sum(Manifest.read(settings.collection_folder).sizes.values())
    except AtlasError:
        return SPARE


def check_port(settings: Settings) -> CheckUp:
    """Check that the server can listen, or does already."""
    host, port = settings.atlas_host, settings.atlas_port
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(info[0], info[1]) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(info[4])
    except OSError as error:
        if error.errno == errno.EADDRINUSE and _is_atlas(host, port):
            return CheckUp("port", "ok", f"Atlas listens on {host}:{port}")
        return CheckUp(
            "port",
            "fault",
            f"{host}:{port} cannot be listened on ({error.strerror or error}). Set ATLAS_PORT to a "
            "free port from 1024 on and ATLAS_HOST to an address of this machine.",
        )
    return CheckUp("port", "ok", f"{host}:{port} is free")


def check_targets(settings: Settings) -> CheckUp:
    """Check that every target can be read, the default one among them."""
    try:
        targets = load_targets(settings)
    except AtlasError as error:
        return CheckUp("target", "fault", str(error))
    summary = f"{settings.test_target}, one of {', '.join(targets)}"
    if remark := _without_effect(targets, settings.test_target):
        return CheckUp("target", "note", f"{summary}. {remark}")
    return CheckUp("target", "ok", summary)


def check_store(settings: Settings) -> CheckUp:
    """Check that the collection is there, and every file of it as it was written."""
    try:
        manifest = Manifest.read(settings.collection_folder)
    except AtlasError as error:
        return CheckUp("collection", "fault", str(error))
    problems = {}
    for part in (*PARTS, ORDER):
        try:
            check_files(settings.collection_folder / manifest.version, manifest, part)
        except DamagedStore as error:
            problems[part] = str(error)
    if problems:
        mend = remedy(settings.collection_folder, manifest, problems)
        return CheckUp("collection", "fault", f"{'; '.join(problems.values())}. {mend}")
    held = f"{manifest.documents} documents, {manifest.passages} passages"
    return CheckUp("collection", "ok", f"{manifest.collection} {manifest.version}: {held}")


def _without_effect(targets: Mapping[str, Target], chosen: str) -> str:
    """Name the settings of the environment or `.env` that the chosen target overrides."""
    settings = environment_target()
    vain = {key: to for key, to in settings.items() if getattr(targets[chosen], key) != to}
    if not vain:
        return ""
    names = ", ".join(key.upper() for key in vain)
    fitting = (
        name
        for name, target in targets.items()
        if all(getattr(target, key) == to for key, to in vain.items())
    )
    choice = " or ".join(f"TEST_TARGET={name}" for name in fitting) or "a target of your own"
    return f"It sets {names}: what the environment or .env says has no effect. Use {choice}."


def _nearest(folder: Path) -> Path:
    """The folder itself, or the one in which it would be made."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def _is_atlas(host: str, port: int) -> bool:
    from httpx2 import HTTPError  # 0.15 s: only who examines pays

    at = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    try:
        address = f"http://{at}:{port}/api/live"
        return bounded_request("GET", address, timeout=PROBE_SECONDS).is_success
    except HTTPError:
        return False


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB"


DOCTOR_SECONDS = 60.0  # for providers, of which a monitor waits for none

_HELD: Mapping[str, Callable[[Settings], str]] = {
    "access": lambda settings: "keys say who may ask" if key_place(settings) else _open(settings),
    "keys": lambda settings: (
        "the database of STATE_URL"
        if settings.atlas_access == "shared"
        else str(settings.api_keys_file or "none: API_KEYS_FILE is not set")
    ),
    "audit": lambda settings: str(settings.audit_log or "none: AUDIT_LOG is not set"),
    "state": lambda settings: (
        "the database of STATE_URL"
        if settings.state_url.get_secret_value()
        else str(settings.atlas_state_directory)
    ),
}
"""The line of each check where all is well."""


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
    for name, why in services.problems().items():
        yield CheckUp(f"target {name}", "note", f"cannot be served: {why}")
    _, default = services.target(None)
    in_use = {target.llm_provider for target in services.targets.values()}
    for provider, health in services.provider_health(DOCTOR_SECONDS).items():
        needed = provider == default.llm_provider
        state: State = "ok" if health.ready and not health.detail else "note"
        if needed and not health.ready:
            state = "fault"
        if provider in in_use:
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


_STYLES = {"ok": "green", "note": "yellow", "fault": "red"}


def doctor_command() -> None:
    """Say what is set up, what is not, and what to do; status 1 if something needed is wrong."""
    console = Console(highlight=False)
    findings = list(examine(load_settings()))
    for finding in findings:
        line = Text(f"{finding.state:<6}", style=_STYLES[finding.state])
        line.append(f"{finding.what}: {finding.detail}", style="default")
        console.print(line, soft_wrap=True)
    if any(finding.state == "fault" for finding in findings):
        sys.exit(1)


def export_command(
    answers: Annotated[list[Path], typer.Argument(help="Answers as the API sent them (JSON)")],
    format: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}")
    ] = "markdown",
    out: Annotated[Path | None, typer.Option(help="File to write; default: the terminal")] = None,
    base_url: Annotated[
        str, typer.Option(help="Address of the page, for permalinks; default: ATLAS_PUBLIC_URL")
    ] = "",
) -> None:
    """Write answers, such as `atlas ask --json` prints, for a reader or a reference manager."""
    settings = load_settings()
    local = f"http://{settings.atlas_host}:{settings.atlas_port}"
    base = base_url or settings.atlas_public_url or local
    documents = [document for path in answers for document in _answers(path)]
    exported = export(documents, known_format(format), base, settings.chroma_collection_name)
    if out:
        out.write_text(exported.text, encoding="utf-8", newline="")  # keeps the line ends of CSV
    else:
        print(exported.text, end="")


def replay_command(
    bundle: Annotated[Path, typer.Argument(help="A run bundle, from the page or the API")],
) -> None:
    """Search again as a run did, and say what changed; status 1 if anything did."""
    run = read_bundle(bundle)
    with Atlas.open() as atlas:
        replayed = replay(atlas.services.searcher, run)
        print_replay(Console(highlight=False), replayed)
    if not replayed.identical:
        sys.exit(1)


def _answers(path: Path) -> list[dict[str, Any]]:
    """The answers in a file: one, a list of them, or what the format `json` exports."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read as JSON: {error}") from error
    if isinstance(content, dict):
        content = content.get("answers", [content])
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        raise SourceError(f"{path} holds neither an answer nor a list of answers.")
    return content
