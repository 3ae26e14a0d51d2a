"""Calibration: the threshold that is chosen, from which questions, and where it is kept."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.cli.evaluate_options import LABELS
from atlas_search.cli.evaluate_runs import calibrate_command
from atlas_search.core.errors import AtlasError, RequestError, SourceError
from atlas_search.core.settings import Settings
from atlas_search.evaluation.calibrate import (
    FEW,
    HELD_OUT,
    LEAST,
    LOSE,
    MOST,
    Basis,
    CalibrationQuestions,
    balance,
    calibrate,
    choose,
    everyday,
    keep,
    labelled_questions,
    make_questions,
)
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Label, Split
from atlas_search.language.text import all_terms, content_terms
from atlas_search.server.serving import Serving
from atlas_search.services import Services
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.manifest import Calibration, Manifest
from atlas_search.stores.verify import verify
from atlas_search.stores.versions import lock, rollback
from tests.evaluation.farm import write_labels
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, write_sources

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOOD = [number / 100 for number in range(1, 20)]  # 19, the fewest of which 5% can be lost
FOUND = Calibration(
    threshold=0.3,
    basis="labels",
    good=19,
    off_topic=4,
    lost=0.05,
    rejected=0.75,
    content_digest="",
    created="2026-01-01T00:00:00+00:00",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tiny collection with a calibration of its present contents."""
    built = build_tiny(write_sources(tmp_path / "source", FARM), tmp_path / "c", HashEmbedder())
    manifest = built.manifest
    kept = FOUND.model_copy(update={"content_digest": manifest.content_digest})
    keep(tmp_path / "c", manifest.version, kept)
    return tmp_path / "c"


def rebuild(folder: Path, files: dict[str, str], model: str = "hash") -> Manifest:
    """Build the collection again from its sources and further `files`."""
    source = write_sources(folder.with_name("source"), FARM | files)
    return build_tiny(source, folder, HashEmbedder(model)).manifest


def label(question: str, *, kind: str = "", gold: str = "", split: Split = Split.DEV) -> Label:
    return Label(question, split, "any", question, (), frozenset({gold} - {""}), kind)


def test_both_errors_are_balanced_where_the_kinds_overlap() -> None:
    good, off_topic = np.array([0.2, 0.4, 0.6, 0.8]), np.array([0.1, 0.3, 0.5, 0.55])
    # (0.4, 0.5]: 2/4 lost and 2/4 kept; (0.3, 0.4]: 1/4 and 2/4; (0.55, 0.6]: 2/4 and 0/4
    assert balance(good, off_topic, limit=0.8) == (0.3 + 0.4) / 2
    assert balance(good, off_topic, limit=0.2) == (0.1 + 0.2) / 2


def test_equal_evidence_is_lost_or_kept_together() -> None:
    good, off_topic = np.array([0.3, 0.3, 0.3, 0.5]), np.array([0.2, 0.3, 0.3, 0.3])
    # (0.2, 0.3]: 0/4 lost and 3/4 kept; above, which the limit forbids, 3/4 and 0/4
    assert balance(good, off_topic, limit=0.3) == (0.2 + 0.3) / 2
    assert choose([0.3] * 19, [0.3], "made").lost == 0 / 19


def test_of_labels_the_answerable_and_the_off_topic_ones_of_dev_are_asked() -> None:
    questions = labelled_questions(
        [
            label("good", gold="d"),
            label("good in test", gold="d", split=Split.TEST),
            label("detail", kind="absent_detail"),
            *(label(f"off {number}", kind="off_topic") for number in range(FEW - 1)),
            label("of no kind"),
        ]
    )
    assert questions.good == ("good",)
    assert questions.off_topic == (*(f"off {number}" for number in range(FEW - 1)), "of no kind")
    few = labelled_questions([label("good", gold="d"), label("off", kind="off_topic")])
    assert few.off_topic == ("off", *everyday())  # which are joined by the bundled ones


def test_the_bundled_off_topic_questions_differ_and_are_no_labels() -> None:
    questions = [question.casefold() for question in everyday()]
    assert len(questions) == len(set(questions)) >= 200
    assert not set(questions) & {each.question.casefold() for each in load_labels(LABELS)}


def test_made_questions_are_of_a_passages_words_and_do_not_quote_it(store: EmbeddedStore) -> None:
    passages = store.passages(range(store.manifest.passages))
    known = [all_terms(passage.text) for passage in passages]
    questions = make_questions(store, 40).good
    assert len(set(questions)) == 40
    for question in questions:
        topic = question.removeprefix("What is said about ").removesuffix("?")
        assert LEAST * 2 // HELD_OUT <= len(topic.split()) <= MOST
        assert any(content_terms(topic) <= terms for terms in known)
    assert not any(question in passage.text for question in questions for passage in passages)


def test_made_questions_are_always_the_same_and_come_from_all_over(store: EmbeddedStore) -> None:
    assert make_questions(store, 30) == make_questions(store, 30)
    assert make_questions(store, 60).good[:30] == make_questions(store, 30).good
    assert len(make_questions(store, 10_000).good) <= store.manifest.passages


def test_a_collection_in_another_language_needs_labels(tmp_path: Path) -> None:
    source = write_sources(tmp_path / "source", {"ferme.txt": "Les moutons donnent de la laine."})
    french = by_rule([source], frozenset({".txt"}), CorpusRule("ferme", language="fr"))
    build_tiny(french, tmp_path / "c", HashEmbedder())
    store = EmbeddedStore(tmp_path / "c")
    with pytest.raises(RequestError, match="--labels FILE"):
        make_questions(store, 5)
    store.close()


def calibrated(services: Services, asked: CalibrationQuestions) -> Calibration:
    """Calibrate with every fifth off-topic question, which takes a fifth of the time."""
    few = replace(asked, off_topic=asked.off_topic[::5])
    return calibrate(Atlas(services), few, "k10_extractive", LOSE, NOW, lambda *_: None)


@pytest.mark.thorough
def test_the_demo_is_calibrated_from_its_labels(services: Services) -> None:
    labels = load_labels(LABELS)
    result = calibrated(services, labelled_questions(labels))
    assert result.basis == "labels"
    assert result.good == sum(label.answerable for label in labels if label.split == Split.DEV)
    assert result.off_topic >= len(everyday()) // 5
    assert result.lost <= LOSE
    assert result.rejected >= 0.95
    assert result.content_digest == services.store.manifest.content_digest
    assert result.created == "2026-01-01T00:00:00+00:00"


def test_a_build_with_changes_carries_it_over_and_it_is_stale(folder: Path) -> None:
    before = Manifest.read(folder)
    after = rebuild(folder, {"farm/goats.txt": "Goats give milk, too.\n"})
    assert after.version != before.version
    assert after.calibration == before.calibration
    assert after.calibration_is_stale
    assert Manifest.read(folder) == after


def test_rolling_back_brings_the_calibration_of_that_version_back(folder: Path) -> None:
    before = Manifest.read(folder)
    after = rebuild(folder, {"farm/goats.txt": "Goats give milk, too.\n"})
    keep(folder, after.version, FOUND.model_copy(update={"threshold": 0.5}))
    assert rollback(folder).calibration == before.calibration
    assert Manifest.read(folder) == before
    assert rollback(folder, after.version).calibration.threshold == 0.5  # type: ignore[union-attr]


def test_a_server_follows_a_calibration_without_a_restart(folder: Path) -> None:
    settings = Settings(chroma_persist_directory=folder.parent, chroma_collection_name=folder.name)
    serving = Serving(settings, HashEmbedder())
    try:
        before = serving().services
        keep(folder, before.store.manifest.version, FOUND.model_copy(update={"threshold": 0.5}))
        serving.refresh()
        target = before.targets["k10_extractive"].model_copy(update={"answer_threshold": None})
        assert before.answerer.threshold(target) == FOUND.threshold
        assert serving().services.answerer.threshold(target) == 0.5
        assert serving.problem == ""
    finally:
        serving.close()


@pytest.fixture
def farm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A collection of many sentences in the settings' folder; its label set."""
    text = "\n".join(
        f"{animal} {verb} fine yellow {thing} for merchants travelling north every {season}."
        for animal in ("Sheep", "Cows", "Goats", "Geese")
        for verb, thing in (("give", "wool"), ("carry", "baskets"), ("guard", "barley"))
        for season in ("spring", "autumn")
    )
    rebuild(folder, {f"farm/{number}.txt": line for number, line in enumerate(text.splitlines())})
    monkeypatch.setattr("atlas_search.services.open_embedder", lambda *_: HashEmbedder())
    monkeypatch.setenv("CHROMA_PERSIST_DIRECTORY", str(folder.parent))
    labels = [
        Label(f"q{number}", "dev", "any", f"{line}?", (line,), frozenset({f"farm.{number}"}))
        for number, line in enumerate(text.splitlines())
    ]
    return write_labels(folder.with_name("labels.jsonl"), labels)


HIGH = [0.6 + number / 100 for number in range(19)]
FIFTY = [number / 100 for number in range(1, 51)]
FORTY = [number / 100 for number in range(1, 40)]


@pytest.mark.parametrize(
    ("good", "off_topic", "basis", "lose", "expected"),
    [
        # in the middle of a gap
        (HIGH, [0.1, 0.2], "labels", LOSE, ((0.2 + 0.6) / 2, 0 / 19, 2 / 2)),
        # of made questions: ceil(0.98 * 50) = 49 of 50 are to be rejected, those up to 0.49
        (HIGH, FIFTY, "made", LOSE, (0.4901, 0 / 19, 49 / 50)),
        (HIGH, [0.1, 0.2], "made", LOSE, (0.2001, 0 / 19, 2 / 2)),
        # floor(0.05 * (39 + 1)) = 2: the second weakest, below which there is one
        (FORTY, [0.9], "made", LOSE, (0.02, 1 / 39, 0 / 1)),
        # floor(0.25 * (19 + 1)) = 5, and floor(0.25 * (3 + 1)) = 1
        (GOOD, [0.9], "made", 0.25, (0.05, 4 / 19, 0 / 1)),
        (GOOD[:3], [0.9], "made", 0.25, (0.01, 0 / 3, 0 / 1)),
        # good questions without any evidence leave nothing to reject
        ([0.0] * 19, [0.0, 0.4], "labels", LOSE, (0.0, 0 / 19, 0 / 2)),
        # never rounded up
        ([0.123456] * 19, [0.5], "made", LOSE, (0.1234, 0 / 19, 0 / 1)),
        # equal evidence is kept together
        ([0.3] * 19, [0.3], "made", LOSE, (0.3, 0 / 19, 0 / 1)),
    ],
)
def test_the_threshold_that_is_chosen(
    good: list[float],
    off_topic: list[float],
    basis: Basis,
    lose: float,
    expected: tuple[float, float, float],
) -> None:
    choice = choose(good, off_topic, basis, lose=lose)
    assert (choice.threshold, choice.lost, choice.rejected) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("good", "off_topic", "problem"),
    [
        ([], [0.1], r"0 good questions .* at least 19, or .* --lose"),
        (GOOD[:18], [0.1], r"18 good questions .* at least 19, or .* --lose"),
        (GOOD, [], "Without an off-topic question"),
    ],
)
def test_too_few_questions_are_an_error(
    good: list[float], off_topic: list[float], problem: str
) -> None:
    with pytest.raises(RequestError, match=problem):
        choose(good, off_topic, "labels")


def test_a_calibration_is_read_as_it_was_kept(folder: Path) -> None:
    manifest = Manifest.read(folder)
    digest = manifest.content_digest
    assert manifest.calibration == FOUND.model_copy(update={"content_digest": digest})
    assert not manifest.calibration_is_stale
    assert Manifest.read(folder / manifest.version) == manifest
    assert not [result for result in verify(folder, manifest) if result.problem]
    assert rebuild(folder, {}) == manifest  # a build without changes leaves it
    assert rebuild(folder, {}, "other").calibration is None  # the evidence of another model


def test_what_cannot_be_kept_is_refused_and_changes_nothing(folder: Path) -> None:
    before = Manifest.read(folder)
    with lock(folder), pytest.raises(SourceError, match="Another build"):
        keep(folder, before.version, FOUND)
    assert Manifest.read(folder) == before
    after = rebuild(folder, {"farm/goats.txt": "Goats give milk, too.\n"})
    with pytest.raises(SourceError, match=f"{after.version} is live, .* `atlas calibrate` again"):
        keep(folder, before.version, FOUND)
    assert Manifest.read(folder) == after


@pytest.mark.thorough
def test_the_command_keeps_what_it_chose(
    folder: Path, farm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = Manifest.read(folder)
    calibrate_command(collection=folder.name, questions=20, dry_run=True)
    assert Manifest.read(folder) == before
    assert "Nothing was written." in capsys.readouterr().out
    with pytest.raises(AtlasError, match="are not for this collection"):
        calibrate_command(collection=folder.name, labels=LABELS)
    capsys.readouterr()
    calibrate_command(collection=folder.name, labels=farm)
    choice = Manifest.read(folder).calibration
    assert choice
    assert (choice.good, choice.basis) == (24, "labels")
    assert not Manifest.read(folder).calibration_is_stale
    printed = capsys.readouterr().out
    head = f"c: answers need an evidence of {choice.threshold:.4f} (so far 0.3000)"
    assert head in printed
    assert "24 labelled questions: 0.0% lost. 353 off-topic questions: " in printed
    calibrate_command(collection=folder.name, questions=20, as_json=True)
    printed_json = Calibration.model_validate_json(capsys.readouterr().out)
    assert printed_json == Manifest.read(folder).calibration
    assert (printed_json.basis, printed_json.good) == ("made", 20)
