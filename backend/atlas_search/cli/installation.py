"""The places that an installation needs: folders, disk, port, targets and the files of the store.

Each check is on its own, so that one fault does not hide the others.
"""

import errno
import shutil
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from atlas_search.building.live import remedy
from atlas_search.core.errors import AtlasError, DamagedStore
from atlas_search.core.settings import Settings, environment_target
from atlas_search.core.targets import Target
from atlas_search.services import load_targets
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
    """Whether a folder can be written, tried with a file that leaves no trace.

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
    """Whether a build has room: `needed` bytes for a version beside the live one."""
    free = shutil.disk_usage(_nearest(folder)).free
    found = f"{_size(free)} free, and a build needs {_size(needed)}"
    if free >= needed:
        return CheckUp("disk", "ok", found)
    mend = "Free some, or set CHROMA_PERSIST_DIRECTORY to a folder on another disk."
    return CheckUp("disk", "fault", f"{found} in {folder}. {mend}")


def needed_space(settings: Settings) -> int:
    """Bytes of another version like the live one, and some to spare."""
    try:
        return SPARE + sum(Manifest.read(settings.collection_folder).sizes.values())
    except AtlasError:
        return SPARE


def check_port(settings: Settings) -> CheckUp:
    """Whether the server can listen, or does already."""
    host, port = settings.atlas_host, settings.atlas_port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(found[0], found[1]) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(found[4])
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
    """Whether every target can be read, the default one among them."""
    try:
        targets = load_targets(settings)
    except AtlasError as error:
        return CheckUp("target", "fault", str(error))
    found = f"{settings.test_target}, one of {', '.join(targets)}"
    if told := _without_effect(targets, settings.test_target):
        return CheckUp("target", "note", f"{found}. {told}")
    return CheckUp("target", "ok", found)


def check_store(settings: Settings) -> CheckUp:
    """Whether the collection is there, and every file of it as it was written."""
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
    """What the environment or `.env` says in vain, because the chosen target says otherwise."""
    wanted = environment_target()
    vain = {key: to for key, to in wanted.items() if getattr(targets[chosen], key) != to}
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
    from httpx2 import HTTPError, get  # 0.15 s: only who examines pays

    at = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    try:
        return get(f"http://{at}:{port}/api/live", timeout=PROBE_SECONDS).is_success
    except HTTPError:
        return False


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB"
