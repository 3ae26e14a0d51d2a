"""Label sets and runs as datasets and experiments of Phoenix."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode

from atlas_search.core.addresses import without_login
from atlas_search.core.errors import Conflict, NotFound, RequestError, Unavailable
from atlas_search.core.settings import Settings
from atlas_search.core.telemetry.redaction import SpanMask, open_redactions
from atlas_search.core.telemetry.span import digest
from atlas_search.evaluation.asking import Progress, Told, in_threads
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Metric, Reply, known_metric, metric_of
from atlas_search.evaluation.people import Rating, Ratings, Scale, answer_digests
from atlas_search.evaluation.phoenix_api import PhoenixApi, reading
from atlas_search.evaluation.run import PROCESS, EvalRun, RunSpec
from atlas_search.evaluation.scored import Scored


@dataclass(frozen=True)
class Shown:
    """With `content` all, its texts as `mask` gives them; without it ids and figures alone."""

    content: bool
    mask: Callable[[str], str]

    def id(self, id_: str) -> str:
        """The id of a document or passage, as in traces: a digest where there is no content."""
        return id_ if self.content else digest(id_)

    def texts(self, value: Any) -> Any:
        """Return the same value with every text in it masked."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {name: self.texts(each) for name, each in value.items()}
        if isinstance(value, Sequence):
            return [self.texts(each) for each in value]
        return value


def shown_by(settings: Settings) -> Shown:
    """As TRACE_CONTENT and TRACE_REDACT say. Raises ConfigurationError."""
    return Shown(settings.trace_content, SpanMask(open_redactions(settings)).text)


UPLOAD_SECONDS = 300.0
"""For a whole label set: in parts, each would be a version of its own."""


@dataclass(frozen=True)
class Dataset:
    """A version of a dataset, with its examples' ids by those of their labels."""

    id: str
    version_id: str
    examples: Mapping[str, str]


def dataset_name(spec: RunSpec) -> str:
    """The file of the labels, with what was taken of it: another choice is another dataset."""
    drawn = f"{spec.limit} drawn with seed {spec.seed}" if spec.limit is not None else ""
    part = ", ".join(filter(None, (spec.labels.split, drawn)))
    return f"{spec.labels.name} ({part})" if part else spec.labels.name


def upload_dataset(api: PhoenixApi, name: str, labels: Sequence[Label], shown: Shown) -> Dataset:
    """The dataset of that name as the labels have it: a new version, if they differ from its last.

    Raises AtlasError.
    """
    body = {
        "action": "update",
        "name": name,
        "inputs": [example_input(label, shown) for label in labels],
        "outputs": [example_output(label, shown) for label in labels],
        "metadata": [example_metadata(label) for label in labels],
        "splits": [label.split or None for label in labels],
        "example_ids": [label.id for label in labels],
    }
    said = api.post("/v1/datasets/upload", body, {"sync": "true"}, seconds=UPLOAD_SECONDS)
    with reading(api.address):
        id_, version_id = str(said["data"]["dataset_id"]), str(said["data"]["version_id"])
    return read_dataset(api, id_, version_id, labels)


def read_dataset(api: PhoenixApi, id_: str, version_id: str, labels: Sequence[Label]) -> Dataset:
    """A version of a dataset that holds the labels. Raises AtlasError."""
    path = f"/v1/datasets/{quote(id_, safe='')}/examples"
    said = api.get(path, {"version_id": version_id})
    with reading(api.address):
        found = {str(one["id"]): str(one["node_id"]) for one in said["data"]["examples"]}
    lacking = [label.id for label in labels if label.id not in found]
    if lacking:
        raise Unavailable(
            f"Phoenix at {api.address} took the labels, but has no example {lacking[0]} now. "
            "Upload them again, or use a Phoenix of version 20 or later."
        )
    return Dataset(id_, version_id, found)


def example_input(label: Label, shown: Shown) -> dict[str, Any]:
    """Return the question of a label; without content its id alone."""
    if not shown.content:
        return {"label_id": label.id}
    asked: dict[str, Any] = {"question": shown.texts(label.question)}
    if label.corpus_filter:
        asked["corpus_filter"] = list(label.corpus_filter)
    if label.filters:
        asked["filters"] = shown.texts(label.filters)
    return asked


def example_output(label: Label, shown: Shown) -> dict[str, Any]:
    """Return what is known of the answer: references, what is relevant, and what becomes of it."""
    spans = [
        asdict(span) | {"document_id": shown.id(span.document_id)} for span in label.gold_spans
    ]
    known: dict[str, Any] = {
        "answers": shown.texts(label.answers) if shown.content else [],
        "gold_documents": {shown.id(id_): grade for id_, grade in label.relevance.items()},
        "gold_passages": [shown.id(id_) for id_ in sorted(label.gold_passage_ids)],
        "gold_spans": spans,
        "expected_decision": label.expected_decision,
    }
    return {"answerable": label.answerable} | {name: what for name, what in known.items() if what}


def example_metadata(label: Label) -> dict[str, str]:
    """Return the id and the kinds of a label."""
    said = {"category": label.category, "kind": label.kind, "split": label.split}
    return {"label_id": label.id} | {name: what for name, what in said.items() if what}


MOST = 50
"""Figures of a question that Phoenix's pages show: of more, those first in the alphabet look as if
there were none."""

FAILED = "FAILED"
"""What stands for the decision of a question that brought an error."""


def chosen_figures(names: Iterable[str]) -> set[str]:
    """The MOST that tell most: before others what is judged, and of that what is of no depth."""

    def weight(name: str) -> tuple[bool, bool, str]:
        return metric_of(name).better == "none", "@" in name, name

    return set(sorted(filter(known_metric, {*names}), key=weight)[:MOST])


def evaluations(one: Scored, chosen: Collection[str], shown: Shown) -> list[dict[str, Any]]:
    """An evaluation of each chosen figure, by name, without the run and the times."""
    return [_evaluation(one, name, shown) for name in sorted(one.figures) if name in chosen]


def decision(one: Scored) -> str:
    """Return what became of the question; empty if it was only searched for."""
    if one.reply.error:
        return FAILED
    return one.reply.answer.decision if one.reply.answer else ""


def _evaluation(one: Scored, name: str, shown: Shown) -> dict[str, Any]:
    metric, source = metric_of(name), one.sources.get(name)
    result: dict[str, Any] = {"score": one.figures[name]}
    if metric.group == "decisions" and decision(one):
        result["label"] = decision(one)
    if _is_wrong(metric, one.figures[name]) and (reason := _explain(one, metric, shown)):
        result["explanation"] = reason
    return {
        "name": name,
        "annotator_kind": "LLM" if source == "judge" else "CODE",
        "result": result,
        "metadata": {"source": source} if source else {},
    }


def _is_wrong(metric: Metric, figure: float) -> bool:
    """Return whether a figure whose best is 1 or 0 could be better."""
    better: Mapping[str, bool] = {"higher": figure < 1, "lower": figure > 0, "none": False}
    return better[metric.better]


def _explain(one: Scored, metric: Metric, shown: Shown) -> str:
    match metric.group:
        case "decisions":
            return _of_decision(one, shown)
        case "retrieval":
            return _of_documents("Not found", one, one.reply.documents, shown)
        case "citations" if one.reply.answer and one.label.answerable:
            cited = tuple(dict.fromkeys(each.document_id for each in one.reply.answer.citations))
            return _of_documents("Not cited", one, cited, shown)
        case "answers" if one.label.answers and shown.content:
            return shown.mask(f"Expected: {' | '.join(one.label.answers)}")
    return ""


def _of_decision(one: Scored, shown: Shown) -> str:
    if one.reply.error:
        return shown.mask(one.reply.error) if shown.content else "No reply came, but an error."
    expected = one.label.expected_decision or ("ANSWER" if one.label.answerable else "no answer")
    reason = f" ({one.reply.answer.reason.code})" if one.reply.answer else ""
    return f"Expected: {expected}. Came: {decision(one)}{reason}."


def _of_documents(what: str, one: Scored, came: tuple[str, ...], shown: Shown) -> str:
    """Return which gold documents are not among those that came, and where the first one is."""
    gold = one.label.relevance
    if not gold:
        return ""
    lacking = [shown.id(id_) for id_ in gold if id_ not in came]
    ranks = [rank for rank, id_ in enumerate(came, start=1) if id_ in gold]
    first = f"The first gold document is number {ranks[0]} of {len(came)}." if ranks else ""
    return " ".join(filter(None, (f"{what}: {', '.join(lacking)}." if lacking else "", first)))


TOGETHER = 4  # requests at once: Phoenix takes one run, and one evaluation, at a time
PAGE = 50  # experiments of a page
RUN_ID = "run_id"
"""By this field of its metadata an experiment is known as that of a run."""


def find_experiment(
    api: PhoenixApi, name: str, spec: RunSpec, labels: Sequence[Label]
) -> tuple[Dataset, str] | None:
    """The experiment of a run over some version of the dataset of that name, if there is one, and
    that version. Raises AtlasError."""
    for found in api.pages("/v1/datasets", {"name": name, "limit": PAGE}):
        with reading(api.address):
            id_ = str(found["id"])
        for one in api.pages(f"/v1/datasets/{quote(id_, safe='')}/experiments", {"limit": PAGE}):
            with reading(api.address):
                if one["metadata"].get(RUN_ID) != spec.id:
                    continue
                version_id, experiment = str(one["dataset_version_id"]), str(one["id"])
            return read_dataset(api, id_, version_id, labels), experiment
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
    """Name an experiment by its target and time."""
    how = ", searched" if spec.search_only else ""
    k = f", k={spec.k}" if spec.k is not None else ""
    name = f"{spec.target}{k}{how}, {spec.started:%Y-%m-%d %H:%M}"
    return name.encode("ascii", "replace").decode()  # Phoenix exports none of another name


def experiment_metadata(spec: RunSpec) -> dict[str, Any]:
    """Return what a run says of itself; an address without a login that it may hold."""
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

    lacking = [one for one in run.scored if one.label.id not in there]
    in_threads(send, lacking, TOGETHER, told)
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

    in_threads(send, run.scored, TOGETHER, told)


def said_by(evaluation: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what two evaluations of one name differ in."""
    fields = ("score", "label", "explanation")
    return (evaluation["annotator_kind"], *(result.get(name) for name in fields))


def experiment_run(one: Scored, dataset: Dataset, spec: RunSpec, shown: Shown) -> dict[str, Any]:
    """Return what came back for a question, as Phoenix takes it."""
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
    """Return a reply: the decision, the answer and its citations, and the passages in order."""
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
    """Return what the evaluations that are there say, by the ids of labels and their names."""
    labels = {example: label for label, example in dataset.examples.items()}
    found = api.get(f"/v1/experiments/{quote(experiment, safe='')}/json")
    with reading(api.address):
        return {
            labels[one["example_id"]]: {
                each["name"]: said_by(each, each) for each in one["annotations"]
            }
            for one in found
        }


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

    What an earlier upload left out is added, and figures are those of now. Raises RequestError for
    runs that cannot be uploaded, and else as PhoenixApi does.
    """
    figures = {name for run in load_together(folders) for one in run.scored for name in one.figures}
    chosen = chosen_figures(figures)
    name = name or dataset_name(folders[0].spec())
    kept = [_upload(folder, api, chosen, shown, progress, name) for folder in folders]
    ids = tuple(experiment for _, experiment in kept)
    return Uploaded(name, kept[0][0].id, ids, frozenset(figures - chosen))


def annotate_ratings(
    folder: RunFolder, api: PhoenixApi, shown: Shown, progress: Progress
) -> list[Rating]:
    """Annotate the traces of a run's answers with the ratings of them by people, once however
    often; the ratings whose answer has no trace there. Raises AtlasError.

    Each rater's number on each scale is an annotation of its own, with its rationale.
    """
    run, scales = folder.load(), {one.name: one for one in Ratings(folder.path).scales()}
    ratings = Ratings(folder.path).all(answer_digests(folder.replies()))
    lost: list[Rating] = []

    def send(one: Scored) -> None:
        own = [rating for rating in ratings if rating.label_id == one.label.id]
        span_id = one.reply.answer.span_id if one.reply.answer else ""
        about = [each for rating in own for each in _annotations(rating, scales, shown)]
        body = [{**each, "span_id": span_id, "annotator_kind": "HUMAN"} for each in about]
        try:
            if span_id and body:
                api.post("/v1/span_annotations", {"data": body}, {"sync": "true"})
        except NotFound:
            span_id = ""
        lost.extend(own if not span_id else [])

    if ratings:
        with progress("Ratings") as told:
            in_threads(send, run.scored, TOGETHER, told)
    return lost


def _annotations(
    rating: Rating, scales: Mapping[str, Scale], shown: Shown
) -> Iterator[dict[str, Any]]:
    identifier = f"atlas-rating-{digest(rating.rater)}"  # one rater's do not replace another's
    about = {"rater": rating.rater, "label_id": rating.label_id}
    for name, score in rating.scores.items():
        result: dict[str, Any] = {"score": score}
        if shown.content and (rationale := rating.rationales.get(name)):
            result["explanation"] = shown.mask(rationale)
        steps = {"low": scales[name].low, "high": scales[name].high} if name in scales else {}
        yield {"name": name, "identifier": identifier, "result": result, "metadata": about | steps}
    if shown.content and rating.comment:
        result = {"explanation": shown.mask(rating.comment)}
        yield {"name": "comment", "identifier": identifier, "result": result, "metadata": about}


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
) -> tuple[Dataset, str]:
    with folder.held():
        run, labels = folder.load(), folder.labels()
        placed = find_experiment(api, name, run.spec, labels)
        if not placed:
            dataset = upload_dataset(api, name, labels, shown)
            placed = dataset, create_experiment(api, dataset, run.spec)
        dataset, experiment = placed
        with progress("Answers") as told:
            runs = send_runs(api, experiment, dataset, run, shown, told)
        with progress("Figures") as told:
            send_evaluations(api, experiment, dataset, runs, run, chosen, shown, told)
    return placed
