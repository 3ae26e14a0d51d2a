"""What a run's folder keeps of its uploads, so that none is made twice."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.core.files import writing

FILE = "phoenix.json"


class Upload(BaseModel):
    """Where a run is in a Phoenix: an experiment over a version of the dataset of that `name`."""

    model_config = ConfigDict(frozen=True)

    address: str
    name: str
    dataset_id: str
    version_id: str
    experiment_id: str


_UPLOADS = TypeAdapter(list[Upload])


def kept_upload(folder: Path, address: str, name: str) -> Upload | None:
    """The upload to a dataset of a Phoenix, if there was one. Raises SourceError."""
    found = (one for one in _read(folder) if (one.address, one.name) == (address, name))
    return next(found, None)


def keep_upload(folder: Path, upload: Upload) -> None:
    """Keep it in place of an earlier one to the same dataset. Raises AtlasError."""
    where = (upload.address, upload.name)
    others = [one for one in _read(folder) if (one.address, one.name) != where]
    half = folder / f"{FILE}.part"
    with writing(folder):
        half.write_bytes(_UPLOADS.dump_json([*others, upload], indent=2) + b"\n")
        os.replace(half, folder / FILE)


def _read(folder: Path) -> list[Upload]:
    path = folder / FILE
    try:
        return _UPLOADS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValidationError) as error:
        raise SourceError(f"{path} cannot be read ({error}). Delete it.") from error
