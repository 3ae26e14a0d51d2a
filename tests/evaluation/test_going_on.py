"""A run goes on only with what decided its answers so far."""

import json
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from atlas_search.core.errors import AtlasError, Unavailable
from atlas_search.evaluation.calibrate import keep
from atlas_search.evaluation.carry_out import (
    Facts,
    ProcessSubject,
    carry_out,
    check_same,
    model_settings,
)
from atlas_search.evaluation.folder import RUN, RunFolder
from atlas_search.stores.manifest import Calibration
from tests.evaluation.farm import begun, build_farm, opened_farm
from tests.evaluation.test_runs import Troubled


@pytest.fixture
def run(subject: ProcessSubject, tmp_path: Path) -> RunFolder:
    return begun(tmp_path / "run", subject)


def refused(because: str) -> AbstractContextManager[object]:
    return pytest.raises(AtlasError, match=f"cannot go on: {because}")


def test_a_calibration_in_between_is_told(tmp_path: Path) -> None:
    store = build_farm(tmp_path / "stores")
    with opened_farm(store) as before:
        run = begun(tmp_path / "run", before)
        version = run.spec().collection_version
    chosen = Calibration(
        threshold=0.9,
        basis="made",
        good=1,
        off_topic=1,
        lost=0,
        rejected=1,
        content_digest="",
        created="2026-01-01T00:00:00Z",
    )
    keep(store, version, chosen)
    with (
        opened_farm(store) as after,
        refused("settings was answer_threshold=0.0 and is answer_threshold=0.9"),
    ):
        check_same(run, after)


def test_a_prompt_and_a_server_that_were_changed_are_told(farm: Path, tmp_path: Path) -> None:
    targets = tmp_path / "targets"
    targets.mkdir()
    (targets / "mine.txt").write_text("LLM_PROVIDER=openai\nSYSTEM_PROMPT=mine\n")
    (targets / "mine.prompt").write_text("Be brief.")
    at = {"targets_directory": targets, "test_target": "mine"}
    one = "http://me:secret@127.0.0.1:9/v1/?key=secret"
    with opened_farm(farm, "mine", **at, openai_base_url=one) as before:
        run = begun(tmp_path / "run", before)
    assert run.spec().settings["model_server"] == "http://127.0.0.1:9/v1"
    assert "secret" not in (run.path / RUN).read_text()
    with (
        opened_farm(farm, "mine", **at, openai_base_url="http://127.0.0.1:8/v1") as other,
        refused("settings was model_server=http://127.0.0.1:9/v1 and"),
    ):
        check_same(run, other)
    (targets / "mine.prompt").write_text("Be long.")
    with (
        opened_farm(farm, "mine", **at, openai_base_url=one) as other,
        refused("settings was system_prompt_version="),
    ):
        check_same(run, other)


def test_another_version_of_atlas_is_told(subject: ProcessSubject, run: RunFolder) -> None:
    said = json.loads((run.path / RUN).read_text())
    said["versions"] |= {"numpy": "0.0"}
    (run.path / RUN).write_text(json.dumps(said))
    check_same(run, subject)  # a library may be another
    said["versions"] |= {"atlas-research-search": "0.0.9"}
    (run.path / RUN).write_text(json.dumps(said))
    with refused("version of Atlas was atlas-research-search=0.0.9 and is"):
        check_same(run, subject)


def test_what_computes_its_figures_is_recorded(subject: ProcessSubject, run: RunFolder) -> None:
    spec = run.spec()
    for package in ("onnxruntime", "ir-measures", "scipy", "numpy", "torch", "chromadb"):
        assert spec.versions[package] == version(package)
    info = subject.atlas.services.searcher.embedder.info
    assert "embedding_runtime" not in spec.settings  # hashes are computed by no library
    assert model_settings(replace(info, runtime="torch 2.1"))["embedding_runtime"] == "torch"


class Changing(Troubled):
    """A subject that is another at the end."""

    def now(self) -> Facts:
        return replace(self.whole.facts, collection_version="v2")


class Gone(Troubled):
    """A subject of which nothing is known at the end."""

    def now(self) -> Facts:
        raise Unavailable("Nobody answers.")


def test_what_changed_while_it_was_asked_is_told(subject: ProcessSubject, run: RunFolder) -> None:
    assert carry_out(run, subject).changed == ()
    (change,) = carry_out(run, Changing(subject)).changed
    assert change.startswith("collection_version was ")
    assert carry_out(run, Gone(subject)).changed == ("it does not say (Nobody answers.)",)
