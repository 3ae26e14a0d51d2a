"""A label set and two runs of it in a real Phoenix, read back by its own APIs."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from playwright.sync_api import sync_playwright

from atlas_search.cli.main import main
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import metric_of
from atlas_search.evaluation.people import Rating, Ratings, Scale
from atlas_search.evaluation.phoenix import (
    Shown,
    Uploaded,
    annotate_ratings,
    decision,
    upload_runs,
)
from atlas_search.evaluation.phoenix_api import PhoenixApi
from atlas_search.evaluation.scored import Scored
from atlas_search.services import Services
from tests.browser import chromium
from tests.conftest import require
from tests.phoenix.experiments import (
    PROJECT,
    QUESTIONS,
    SIZE,
    TARGETS,
    answers_of,
    carried_out,
    chosen_labels,
    examples,
    held,
    pages,
    show_compared,
    silent,
    versions,
)

pytestmark = [pytest.mark.phoenix, pytest.mark.thorough]
ALL = Shown(content=True, mask=str)


class Compared(NamedTuple):
    """Two runs, and where they are in Phoenix."""

    runs: list[RunFolder]
    uploaded: Uploaded


@pytest.fixture(scope="module")
def labels() -> tuple[Label, ...]:
    return chosen_labels()


@pytest.fixture(scope="module")
def runs(
    phoenix: str,
    services: Services,
    labels: tuple[Label, ...],
    tmp_path_factory: pytest.TempPathFactory,
) -> list[RunFolder]:
    return carried_out(tmp_path_factory.mktemp("runs"), services, phoenix, labels)


@pytest.fixture(scope="module")
def compared(phoenix: str, runs: list[RunFolder]) -> Compared:
    return Compared(runs, uploaded(phoenix, runs, "compared"))


def uploaded(phoenix: str, runs: list[RunFolder], name: str = "", shown: Shown = ALL) -> Uploaded:
    with PhoenixApi(phoenix, {}) as api:
        return upload_runs(runs, api, shown, silent, name)


def uploaded_figures(one: Scored, to: Uploaded) -> dict[str, float]:
    return {name: value for name, value in one.figures.items() if name not in to.left_out}


def test_a_label_set_is_a_dataset(
    phoenix: str, compared: Compared, labels: tuple[Label, ...]
) -> None:
    result = examples(phoenix, compared.uploaded)
    assert list(result) == [label.id for label in labels]
    for label in labels:
        example = result[label.id]
        assert example["input"] == {"question": label.question}
        assert example["output"]["answerable"] == label.answerable
        assert example["output"].get("answers", []) == list(label.answers)
        assert set(example["output"].get("gold_documents", ())) == label.gold_document_ids
        assert example["metadata"]["label_id"] == label.id
        assert example["metadata"]["category"] == label.category
        assert example["metadata"]["split"] == "test"


@pytest.mark.parametrize("place", range(len(TARGETS)))
def test_a_run_is_an_experiment_with_its_answers_and_figures(
    phoenix: str, compared: Compared, place: int
) -> None:
    run = compared.runs[place].load()
    result = held(phoenix, compared.uploaded, place)
    assert list(result) == [one.label.id for one in run.scored]
    for one in run.scored:
        was, answer = result[one.label.id], one.reply.answer
        assert answer
        assert was["error"] is None
        assert was["output"]["decision"] == answer.decision
        assert was["output"]["answer"] == answer.answer
        assert was["output"]["passages"] == [each.passage_id for each in one.reply.passages]
        assert was["latency_ms"] == pytest.approx(1000 * one.reply.seconds, abs=1)
        annotations = {each["name"]: each for each in was["annotations"]}
        scores = {name: each["score"] for name, each in annotations.items()}
        assert scores == uploaded_figures(one, compared.uploaded)
        assert annotations["decided"]["label"] == decision(one) == answer.decision
        kinds = {each["annotator_kind"] for each in annotations.values()}
        assert kinds == {"CODE"}


@pytest.mark.parametrize("place", range(len(TARGETS)))
def test_each_question_has_its_trace(phoenix: str, compared: Compared, place: int) -> None:
    ids = {answer.trace_id for answer in answers_of(compared.runs[place])}
    assert len(ids) == QUESTIONS
    result = held(phoenix, compared.uploaded, place)
    assert {was["trace_id"] for was in result.values()} == ids
    assert {run["trace"]["traceId"] for run in pages(phoenix, compared.uploaded, place)} == ids


def test_the_pages_show_the_figures_that_matter(phoenix: str, compared: Compared) -> None:
    """They show 50 of a question, the last in the alphabet."""
    loaded = compared.runs[0].load().scored
    scored = {one.reply.answer.trace_id: one for one in loaded if one.reply.answer}
    for run in pages(phoenix, compared.uploaded, 0):
        names = {edge["node"]["name"] for edge in run["annotations"]["edges"]}
        figures = scored[run["trace"]["traceId"]].figures
        assert names == figures.keys() - compared.uploaded.left_out
        assert {name for name in figures if is_judged(name) and "@" not in name} <= names


def is_judged(name: str) -> bool:
    return metric_of(name).better != "none"


def test_an_upload_again_changes_nothing(phoenix: str, compared: Compared) -> None:
    before = [held(phoenix, compared.uploaded, place) for place in range(len(TARGETS))]
    assert uploaded(phoenix, compared.runs, "compared") == compared.uploaded
    assert versions(phoenix, compared.uploaded) == 1
    assert [held(phoenix, compared.uploaded, place) for place in range(len(TARGETS))] == before


def test_changed_labels_are_a_new_version_and_the_same_ones_are_not(
    phoenix: str, services: Services, labels: tuple[Label, ...], tmp_path: Path
) -> None:
    few = labels[:2]
    changed = (replace(few[0], category="another"), few[1])
    first, again, other = (
        carried_out(tmp_path / name, services, phoenix, arguments, TARGETS[:1])
        for name, arguments in [("first", few), ("again", few), ("other", changed)]
    )
    at_first = uploaded(phoenix, first, "growing")
    at_second = uploaded(phoenix, again, "growing")
    assert at_first.dataset_id == at_second.dataset_id
    assert at_first.experiment_ids != at_second.experiment_ids
    assert versions(phoenix, at_first) == 1
    assert uploaded(phoenix, other, "growing").dataset_id == at_first.dataset_id
    assert versions(phoenix, at_first) == 2
    assert uploaded(phoenix, first, "growing") == at_first
    assert versions(phoenix, at_first) == 2


def test_ratings_by_people_are_annotations_of_the_traces(
    phoenix: str, runs: list[RunFolder]
) -> None:
    run, (first, *_) = runs[0], answers_of(runs[0])
    label_id = next(iter(run.replies()))
    ratings = Ratings(run.path)
    ratings.begin([Scale(name="coherence")])
    for rater, score in (("anna", 4), ("ben", 2), ("anna", 5)):
        at = datetime(2026, 1, 1, tzinfo=UTC)
        scores, rationales = {"coherence": score}, {"coherence": f"{rater} read it"}
        ratings.add(
            Rating(rater=rater, label_id=label_id, scores=scores, rationales=rationales, at=at)
        )
        with PhoenixApi(phoenix, {}) as api:
            assert annotate_ratings(run, api, ALL, silent) == []
    query = {"span_ids": first.span_id}
    address = f"{phoenix}/v1/projects/{PROJECT}/span_annotations"
    kept = httpx2.get(address, params=query).raise_for_status().json()["data"]
    results = [one["result"] for one in kept if one["name"] == "coherence"]
    assert sorted((each["score"], each["explanation"]) for each in results) == [
        (2, "ben read it"),
        (5, "anna read it"),
    ]


def test_without_content_no_text_and_no_name_of_a_file_leaves(
    phoenix: str, runs: list[RunFolder], labels: tuple[Label, ...]
) -> None:
    bare = uploaded(phoenix, runs[:1], "bare", Shown(content=False, mask=str))
    message = json.dumps([examples(phoenix, bare), held(phoenix, bare, 0)])
    assert not [label.id for label in labels if label.question in message]
    assert not [id_ for label in labels for id_ in label.gold_document_ids if id_ in message]
    assert not [answer.qa_id for answer in answers_of(runs[0]) if (answer.answer or "?") in message]
    run = runs[0].load()
    result = held(phoenix, bare, 0)
    for one in run.scored:
        scores = {each["name"]: each["score"] for each in result[one.label.id]["annotations"]}
        assert scores == uploaded_figures(one, bare)


def test_the_command_prints_the_page_that_compares_them(
    phoenix: str,
    compared: Compared,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", phoenix)
    arguments = [str(run.path) for run in compared.runs]
    with pytest.raises(SystemExit) as ended:
        main(["eval", "phoenix", *arguments, "--name", "compared"])
    assert not ended.value.code
    message = capsys.readouterr()
    assert message.out.strip() == compared.uploaded.page(phoenix)
    assert "Phoenix shows 50 figures of a question. Left out: candidates_" in message.err


@pytest.mark.browser
def test_the_page_that_compares_shows_both(phoenix: str, compared: Compared) -> None:
    path = chromium()
    require("browser", present=path is not None, remedy="no Chromium was found: `make browser`")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        show_compared(opened.new_page(viewport=SIZE), compared.uploaded.page(phoenix))
        opened.close()
