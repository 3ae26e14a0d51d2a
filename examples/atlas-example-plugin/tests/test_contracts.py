"""The parts of this package do what Atlas expects of them."""

from pathlib import Path

import pytest
from atlas_example.overlap import Overlap
from atlas_example.quote import Quote
from atlas_example.subtitles import srt_reader
from atlas_example.trigrams import Trigrams

from atlas_search import testing
from atlas_search.core.settings import Settings
from atlas_search.providers.chat import ModelCalls


class TestSubtitles(testing.ReaderContract):
    @pytest.fixture
    def reader(self):
        return srt_reader()

    @pytest.fixture
    def source(self, tmp_path: Path):
        (tmp_path / "talk.srt").write_text("1\n00:01,000 --> 00:02,000\nSheep give wool.\n")
        return tmp_path / "talk.srt"


class TestTrigrams(testing.EmbedderContract):
    @pytest.fixture
    def embedder(self):
        return Trigrams(Settings())


class TestQuote(testing.ChatModelContract):
    @pytest.fixture
    def chat_model(self):
        return Quote(Settings(), ModelCalls(1, 1.0))


class TestOverlap(testing.RerankerContract):
    @pytest.fixture
    def stage(self):
        return Overlap(Settings(), "")
