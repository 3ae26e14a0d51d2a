"""Which readers a server opens: those that its targets name, and those of other packages."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from atlas_search.core.errors import ConfigurationError, MissingModel
from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.providers import open as opening
from atlas_search.providers.open import READER_MODELS, find_readers
from atlas_search.providers.reading import (
    AnswerSpan,
    AnswerSpans,
    QuestionAnsweringModel,
    ReaderModel,
)
from atlas_search.services import open_services
from atlas_search.testing import ReaderModelContract
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, write_sources


class FirstWord:
    """The reader of another package: the first word of a text."""

    name = "first-word"

    def __init__(self, settings: Settings) -> None:
        """There is nothing to set."""

    def load(self) -> None:
        """There is nothing to load."""

    def read(self, question: str, texts: Sequence[str], seconds: float) -> AnswerSpans:
        ends = [len(text.split(" ")[0]) for text in texts]
        return AnswerSpans([AnswerSpan(0, end, float(end > 0)) for end in ends], "")


class TestQuestionAnswering(ReaderModelContract):
    @pytest.fixture
    def reader_model(self, reader: QuestionAnsweringModel) -> ReaderModel:
        return reader


class TestFirstWord(ReaderModelContract):
    @pytest.fixture
    def reader_model(self) -> ReaderModel:
        return FirstWord(Settings())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that offers two readers, one of which cannot be imported."""
    folder = tmp_path / "words-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: words\nVersion: 1.0\n")
    entries = [f"first-word = {__name__}:FirstWord", "lost = no_such_module:Reader"]
    (folder / "entry_points.txt").write_text("\n".join([f"[{READER_MODELS.group}]", *entries]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    fresh: Registry[opening.ReaderFactory] = Registry(READER_MODELS.group, READER_MODELS.kind, {})
    monkeypatch.setattr(opening, "READER_MODELS", fresh)


def test_each_model_that_targets_name_is_found_once(tiny: Path) -> None:
    named = Target(reader_model=str(tiny))
    found = find_readers({"a": named, "b": Target(), "c": named}, Settings())
    assert {name: reader.name for name, reader in found.items()} == {str(tiny): str(tiny)}
    assert find_readers({"plain": Target()}, Settings()) == {}


@pytest.mark.usefixtures("installed")
def test_the_reader_of_another_package_is_found_by_its_name() -> None:
    found = find_readers({"mine": Target(reader_model="first-word")}, Settings())
    assert isinstance(found["first-word"], FirstWord)
    with pytest.raises(ConfigurationError, match="reader model lost of the package words"):
        find_readers({"mine": Target(reader_model="lost")}, Settings())


@pytest.fixture
def own(tmp_path: Path) -> Settings:
    """A tiny collection, and a target file to be written."""
    build_tiny(write_sources(tmp_path / "source", FARM), tmp_path / "farm", HashEmbedder())
    targets = tmp_path / "targets"
    targets.mkdir()
    return Settings(
        chroma_persist_directory=tmp_path,
        chroma_collection_name="farm",
        targets_directory=targets,
        test_target="mine",
    )


def test_a_server_opens_the_reader_of_its_target(own: Settings, tiny: Path) -> None:
    lines = f"READER_MODEL={tiny}\nREADER_THRESHOLD=0.25\nREADER_SECONDS=9\n"
    (own.targets_directory / "mine.txt").write_text(lines)
    services = open_services(own, HashEmbedder())
    try:
        readers, target = services.answerer.readers, services.targets["mine"]
        assert (target.reader_threshold, target.reader_seconds) == (0.25, 9.0)
        reader = readers[target.reader_model]
        assert reader.name == str(tiny)
        assert isinstance(reader, QuestionAnsweringModel)
        assert reader._loaded
    finally:
        services.close()


def test_a_server_without_its_reader_does_not_start(own: Settings, tmp_path: Path) -> None:
    (own.targets_directory / "mine.txt").write_text(f"READER_MODEL={tmp_path / 'gone'}\n")
    with pytest.raises(MissingModel, match=r"READER_MODEL=.*gone is neither a folder nor"):
        open_services(own, HashEmbedder())
