"""The runs that a command is given: folders, or names below ATLAS_EVALUATION_DIRECTORY."""

from pathlib import Path

from atlas_search.core.errors import SourceError
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.folder import RUN, RunFolder
from atlas_search.evaluation.run import EvalRun


def load_run(name: str) -> EvalRun:
    """The run in the folder `name`, or else kept under this name. Raises SourceError."""
    return RunFolder(run_folder(name)).load()


def run_folder(name: str) -> Path:
    """Where a run is. Raises SourceError with the names that are known."""
    kept = load_settings().atlas_evaluation_directory
    for place in (Path(name), kept / name):
        if place.is_dir():
            return place
    known = ", ".join(sorted(path.parent.name for path in kept.glob(f"*/{RUN}")))
    raise SourceError(f"There is no run {name!r}. In {kept}: {known or 'none'}.")
