"""The runs that a command is given: folders, or names below the folder of evaluations."""

from pathlib import Path

from pydantic import ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.folder import RUN, RunFolder
from atlas_search.evaluation.run import EvalRun

EVALUATIONS = Path("data/evaluations")


def load_run(name: str) -> EvalRun:
    """The run in the folder `name`, or of this name in EVALUATIONS. Raises SourceError."""
    folder = run_folder(name)
    try:
        return RunFolder(folder).load()
    except ValidationError as error:
        raise SourceError(f"{folder} is no run of an evaluation: {error}") from error


def run_folder(name: str) -> Path:
    """Where a run is. Raises SourceError with the names that are known."""
    places = (Path(name), EVALUATIONS / name)
    for place in places:
        if place.is_dir():
            return place
    known = ", ".join(sorted(path.parent.name for path in EVALUATIONS.glob(f"*/{RUN}")))
    raise SourceError(f"There is no run {name!r}. In {EVALUATIONS}: {known or 'none'}.")
