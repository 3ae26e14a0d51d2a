"""What must hold before the server listens. Each check leaves no trace, and says what to do."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from atlas_search.core.errors import ConfigurationError
from atlas_search.core.settings import Settings
from atlas_search.server.access.keys import read_keys
from atlas_search.server.access.listening import check_listening


def check_start(settings: Settings) -> None:
    """Raise ConfigurationError for the first thing for which the server cannot start."""
    for check in CHECKS.values():
        check(settings)


def check_keys(settings: Settings) -> None:
    """Raise ConfigurationError if there is a file of keys that cannot be read."""
    if settings.api_keys_file:
        read_keys(settings.api_keys_file)


def check_audit(settings: Settings) -> None:
    """Raise ConfigurationError if a line could not be added to AUDIT_LOG."""
    if not settings.audit_log:
        return
    try:
        _try_file(settings.audit_log)
    except OSError as error:
        raise ConfigurationError(
            f"AUDIT_LOG={settings.audit_log} cannot be written ({error.strerror or error}). Give "
            "the user who runs Atlas the right to write it, or name another file."
        ) from error


def check_state(settings: Settings) -> None:
    """Raise ConfigurationError if what the server keeps of its callers could not be written."""
    folder = settings.atlas_state_directory
    try:
        _try_folder(folder)
        for path in folder.glob("*.sqlite"):
            _try_file(path)
    except OSError as error:
        raise ConfigurationError(
            f"ATLAS_STATE_DIRECTORY={folder} cannot be written ({error.strerror or error}). Give "
            "the user who runs Atlas the right to write there, or set it to another folder."
        ) from error


CHECKS: Mapping[str, Callable[[Settings], None]] = {
    "access": check_listening,
    "keys": check_keys,
    "audit": check_audit,
    "state": check_state,
}


def _try_file(path: Path) -> None:
    """Open a file for adding to it, or try the folder in which it would be made."""
    if path.exists():
        os.close(os.open(path, os.O_WRONLY | os.O_APPEND))
    else:
        _try_folder(path.parent)


def _try_folder(folder: Path) -> None:
    """Write a nameless file there, or where the folder would be made."""
    place = next(each for each in (folder, *folder.parents) if each.exists())
    with tempfile.TemporaryFile(dir=place):
        pass
