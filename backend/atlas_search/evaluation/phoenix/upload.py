"""Runs into Phoenix: their labels as a dataset, each as an experiment over it."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from atlas_search.core.errors import NotFound, RequestError
from atlas_search.evaluation.ask_all import Told
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.phoenix.api import PhoenixApi, reading
from atlas_search.evaluation.phoenix.dataset import (
    Dataset,
    dataset_name,
    read_dataset,
    upload_dataset,
)
from atlas_search.evaluation.phoenix.evaluations import chosen_figures
from atlas_search.evaluation.phoenix.experiment import (
    RUN_ID,
    create_experiment,
    find_experiment,
    send_evaluations,
    send_runs,
)
from atlas_search.evaluation.phoenix.shown import Shown
from atlas_search.evaluation.phoenix.uploads import Upload, keep_upload, kept_upload
from atlas_search.evaluation.run import EvalRun, RunSpec

Progress = Callable[[str], AbstractContextManager[Told]]
"""Opens what hears how far a step of that name is."""


@dataclass(frozen=True)
class Uploaded:
    """A dataset, and the experiments of runs over it, in the order of the runs.

    The figures `left_out` are more than Phoenix shows.
    """

    name: str
    dataset_id: str
    experiment_ids: tuple[str, ...]
    left_out: frozenset[str]

    def page(self, phoenix: str) -> str:
        """The page of a Phoenix that compares the experiments, the others with the first."""
        query = urlencode([("experimentId", id_) for id_ in self.experiment_ids])
        return f"{phoenix}/datasets/{quote(self.dataset_id, safe='')}/compare?{query}"


def upload_runs(
    folders: Sequence[RunFolder], api: PhoenixApi, shown: Shown, progress: Progress, name: str = ""
) -> Uploaded:
    """Upload runs of the same labels, each once however often; `name` is that of the dataset.

    What an earlier upload left out is added, and figures are those of now. The folders keep where
    they are in Phoenix, and nothing else of them changes. Raises RequestError for runs that cannot
    be uploaded, and else as PhoenixApi does.
    """
    figures = {name for run in load_together(folders) for one in run.scored for name in one.figures}
    chosen = chosen_figures(figures)
    name = name or dataset_name(folders[0].spec())
    kept = [_upload(folder, api, chosen, shown, progress, name) for folder in folders]
    ids = tuple(one.experiment_id for one in kept)
    return Uploaded(name, kept[0].dataset_id, ids, frozenset(figures - chosen))


def load_together(folders: Sequence[RunFolder]) -> list[EvalRun]:
    """The runs. Raises RequestError unless they are of the same labels, each with figures."""
    runs = [folder.load() for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        if run.spec.labels.sha256 != runs[0].spec.labels.sha256:
            raise RequestError(
                f"{folder.path} is a run of other labels than {folders[0].path}, and Phoenix "
                "compares answers to the same questions. Upload them one after the other."
            )
        if not run.scored:
            raise RequestError(
                f"{folder.path} has no figures yet. Finish it: atlas eval --resume {folder.path}"
            )
    return runs


def _upload(
    folder: RunFolder,
    api: PhoenixApi,
    chosen: Collection[str],
    shown: Shown,
    progress: Progress,
    name: str,
) -> Upload:
    with folder.held():
        run = folder.load()
        dataset, upload = _placed(folder, run.spec, api, shown, name)
        at = upload.experiment_id
        with progress("Answers") as told:
            runs = send_runs(api, at, dataset, run, shown, told)
        with progress("Figures") as told:
            send_evaluations(api, at, dataset, runs, run, chosen, shown, told)
    return upload


def _placed(
    folder: RunFolder, spec: RunSpec, api: PhoenixApi, shown: Shown, name: str
) -> tuple[Dataset, Upload]:
    """The dataset and experiment of a run: those it has, or else new ones."""
    labels = folder.labels()
    kept = kept_upload(folder.path, api.address, name)
    if kept and _is_there(api, kept, spec):
        return read_dataset(api, kept.dataset_id, kept.version_id, labels), kept
    dataset = upload_dataset(api, name, labels, shown)
    experiment = find_experiment(api, dataset, spec) or create_experiment(api, dataset, spec)
    upload = Upload(
        address=api.address,
        name=name,
        dataset_id=dataset.id,
        version_id=dataset.version_id,
        experiment_id=experiment,
    )
    keep_upload(folder.path, upload)
    return dataset, upload


def _is_there(api: PhoenixApi, upload: Upload, spec: RunSpec) -> bool:
    """Whether Phoenix still has the experiment: emptied, it gives its id to another."""
    try:
        said = api.get(f"/v1/experiments/{quote(upload.experiment_id, safe='')}")
    except NotFound:
        return False
    with reading(api.address):
        found = said["data"]
        return (
            found["dataset_id"],
            found["dataset_version_id"],
            found["metadata"].get(RUN_ID),
        ) == (
            upload.dataset_id,
            upload.version_id,
            spec.id,
        )
