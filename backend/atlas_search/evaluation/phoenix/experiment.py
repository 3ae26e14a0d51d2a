"""A run as an experiment of Phoenix: a run of it for each question, with evaluations."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import Conflict
from atlas_search.evaluation.ask_all import Told
from atlas_search.evaluation.phoenix.api import PhoenixApi, reading
from atlas_search.evaluation.phoenix.dataset import Dataset
from atlas_search.evaluation.phoenix.evaluations import evaluations
from atlas_search.evaluation.phoenix.shown import Shown
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.run import PROCESS, EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored

TOGETHER = 4  # requests at once: Phoenix takes one run, and one evaluation, at a time
PAGE = 50  # experiments of a page
RUN_ID = "run_id"
"""By this field of its metadata an experiment is known as that of a run."""


def find_experiment(api: PhoenixApi, dataset: Dataset, spec: RunSpec) -> str | None:
    """The experiment of a run over a dataset, if there is one. Raises AtlasError."""
    path = f"/v1/datasets/{quote(dataset.id, safe='')}/experiments"
    for one in api.pages(path, {"limit": PAGE}):
        with reading(api.address):
            same = one["dataset_version_id"] == dataset.version_id
            if same and one["metadata"].get(RUN_ID) == spec.id:
                return str(one["id"])
    return None


def create_experiment(api: PhoenixApi, dataset: Dataset, spec: RunSpec) -> str:
    """A new one of a run, of which nothing is uploaded yet; its id. Raises AtlasError."""
    body = {
        "name": experiment_name(spec),
        "description": f"Run {spec.id} of {spec.collection}",
        "metadata": experiment_metadata(spec),
        "version_id": dataset.version_id,
    }
    said = api.post_once(f"/v1/datasets/{quote(dataset.id, safe='')}/experiments", body)
    with reading(api.address):
        return str(said["data"]["id"])


def experiment_name(spec: RunSpec) -> str:
    """Who was asked, and when."""
    how = ", searched" if spec.search_only else ""
    k = f", k={spec.k}" if spec.k is not None else ""
    name = f"{spec.target}{k}{how}, {spec.started:%Y-%m-%d %H:%M}"
    return name.encode("ascii", "replace").decode()  # Phoenix exports none of another name


def experiment_metadata(spec: RunSpec) -> dict[str, Any]:
    """What a run says of itself; an address without a login that it may hold."""
    said = spec.model_dump(mode="json", exclude={"id", "where", "command"})
    where = spec.where if spec.where == PROCESS else without_login(spec.where)
    return {RUN_ID: spec.id, "where": where} | said


def send_runs(
    api: PhoenixApi, experiment: str, dataset: Dataset, run: EvalRun, shown: Shown, told: Told
) -> dict[str, str]:
    """Upload what came back for each question, unless it is there; ids of runs by labels' ids.

    Raises AtlasError.
    """
    there = _runs(api, experiment, dataset, failed_too=False)
    path = f"/v1/experiments/{quote(experiment, safe='')}/runs"

    def send(one: Scored) -> None:
        body = experiment_run(one, dataset, run.spec, shown)
        try:
            api.post(path, body)
        except Conflict:  # it came, and Phoenix's answer to that was lost
            return

    _at_once(send, [one for one in run.scored if one.label.id not in there], told)
    return _runs(api, experiment, dataset, failed_too=True)


def send_evaluations(
    api: PhoenixApi,
    experiment: str,
    dataset: Dataset,
    runs: Mapping[str, str],
    run: EvalRun,
    chosen: Collection[str],
    shown: Shown,
    told: Told,
) -> None:
    """Upload the chosen figures of each question that are not there, or others.

    Raises AtlasError.
    """
    there = _evaluations(api, experiment, dataset)

    def send(one: Scored) -> None:
        started, ended = times(one.reply, run.spec)
        kept = there.get(one.label.id, {})
        for evaluation in evaluations(one, chosen, shown):
            if kept.get(evaluation["name"]) == said_by(evaluation, evaluation["result"]):
                continue
            body = {
                "experiment_run_id": runs[one.label.id],
                "start_time": started.isoformat(),
                "end_time": ended.isoformat(),
            }
            api.post("/v1/experiment_evaluations", body | evaluation)

    _at_once(send, run.scored, told)


def said_by(evaluation: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[Any, ...]:
    """What two evaluations of one name differ in."""
    fields = ("score", "label", "explanation")
    return (evaluation["annotator_kind"], *(result.get(name) for name in fields))


def experiment_run(one: Scored, dataset: Dataset, spec: RunSpec, shown: Shown) -> dict[str, Any]:
    """What came back for a question, as Phoenix takes it."""
    started, ended = times(one.reply, spec)
    came = one.reply.answer or one.reply.found
    body = {
        "dataset_example_id": dataset.examples[one.label.id],
        "output": output(one.reply, shown),
        "repetition_number": 1,
        "start_time": started.isoformat(),
        "end_time": ended.isoformat(),
        "trace_id": (came.trace_id if came else "") or None,
    }
    if error := one.reply.error:
        body["error"] = shown.mask(error) if shown.content else "No reply came, but an error."
    return body


def output(reply: Reply, shown: Shown) -> dict[str, Any] | None:
    """What came back: the decision, the answer and its citations, and the passages in order."""
    if reply.error:
        return None
    passages = [shown.id(passage.passage_id) for passage in reply.passages]
    if not (answer := reply.answer):
        return {"passages": passages}
    said: dict[str, Any] = {"decision": answer.decision, "reason": answer.reason.code}
    if shown.content:
        said["answer"] = shown.texts(answer.answer)
    said["cited"] = [shown.id(citation.passage_id) for citation in answer.citations]
    return said | {"passages": passages}


def times(reply: Reply, spec: RunSpec) -> tuple[datetime, datetime]:
    """When a question was asked, and answered.

    Where nobody knows, because nothing was answered or the answer was kept, as if it had been the
    first one: how long it took is true all the same.
    """
    took = timedelta(seconds=reply.seconds)
    if reply.answer and not reply.answer.cache_hit:
        ended = datetime.fromisoformat(reply.answer.created)
        return ended - took, ended
    return spec.started, spec.started + took


def _runs(
    api: PhoenixApi, experiment: str, dataset: Dataset, *, failed_too: bool
) -> dict[str, str]:
    """Ids of the runs that are there, by those of labels."""
    labels = {example: label for label, example in dataset.examples.items()}
    said = api.get(f"/v1/experiments/{quote(experiment, safe='')}/runs")
    with reading(api.address):
        return {
            labels[one["dataset_example_id"]]: str(one["id"])
            for one in said["data"]
            if failed_too or not one["error"]
        }


def _evaluations(
    api: PhoenixApi, experiment: str, dataset: Dataset
) -> dict[str, dict[str, tuple[Any, ...]]]:
    """What the evaluations that are there say, by the ids of labels and their names."""
    labels = {example: label for label, example in dataset.examples.items()}
    found = api.get(f"/v1/experiments/{quote(experiment, safe='')}/json")
    with reading(api.address):
        return {
            labels[one["example_id"]]: {
                each["name"]: said_by(each, each) for each in one["annotations"]
            }
            for one in found
        }


def _at_once(send: Callable[[Scored], None], scored: Sequence[Scored], told: Told) -> None:
    """Send all, some at once; the first that fails ends it."""
    for done, _ in enumerate(_sent(send, scored), start=1):
        told(done, len(scored))


def _sent(send: Callable[[Scored], None], scored: Sequence[Scored]) -> Iterator[None]:
    pool = ThreadPoolExecutor(TOGETHER, thread_name_prefix="phoenix")
    try:
        for one in as_completed([pool.submit(send, one) for one in scored]):
            yield one.result()
    finally:
        pool.shutdown(cancel_futures=True)
