"""Readers that a server opens, and the part they have in its answers and their traces."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search import Atlas
from atlas_search.answer.write.quotes import read_spans
from atlas_search.core.errors import ConfigurationError, MissingModel
from atlas_search.core.registry import Registry
from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.span import digest
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers import open as opening
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.providers.open import READER_MODELS, open_readers
from atlas_search.providers.reading import (
    BATCH,
    AnswerSpan,
    AnswerSpans,
    QuestionAnsweringModel,
    ReaderModel,
)
from atlas_search.services import open_services
from atlas_search.testing import ReaderModelContract
from tests.answer.collection import closest, collection, is_verbatim, said, warnings
from tests.contradictions import passage
from tests.hash_embedder import HashEmbedder
from tests.providers.reading.test_reading import ticks
from tests.tiny import FARM, build_tiny, write_sources

pytestmark = pytest.mark.thorough

QUESTION = "What did wool cost?"
HELD = "The court held that wool cost twelve pence."
FILES = {
    "law/rule.txt": "What did wool cost by the rule of the court? The court held that by old rule.",
    "law/fish.txt": "The rule of the market held that on this day fish cost three pounds.",
    "law/wool.txt": HELD,
}
LATE = "READER_SECONDS=0.000000001\n"


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


def test_each_model_that_targets_name_is_found_once(tiny: Path) -> None:
    named = Target(reader_model=str(tiny))
    result = open_readers({"a": named, "b": Target(), "c": named}, Settings())
    assert {name: reader.name for name, reader in result.items()} == {str(tiny): str(tiny)}
    assert open_readers({"plain": Target()}, Settings()) == {}


def test_the_reader_of_another_package_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package offers two readers, one of which cannot be imported."""
    folder = tmp_path / "words-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: words\nVersion: 1.0\n")
    entries = [f"first-word = {__name__}:FirstWord", "lost = no_such_module:Reader"]
    (folder / "entry_points.txt").write_text("\n".join([f"[{READER_MODELS.group}]", *entries]))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    fresh: Registry[opening.ReaderFactory] = Registry(READER_MODELS.group, READER_MODELS.kind, {})
    monkeypatch.setattr(opening, "READER_MODELS", fresh)
    result = open_readers({"mine": Target(reader_model="first-word")}, Settings())
    assert isinstance(result["first-word"], FirstWord)
    with pytest.raises(ConfigurationError, match="reader model lost of the package words"):
        open_readers({"mine": Target(reader_model="lost")}, Settings())


def test_a_server_opens_the_reader_of_its_target_or_does_not_start(
    tmp_path: Path, tiny: Path
) -> None:
    build_tiny(write_sources(tmp_path / "source", FARM), tmp_path / "farm", HashEmbedder())
    file = write_sources(tmp_path / "targets", {"mine.txt": ""}) / "mine.txt"
    own = Settings(
        chroma_persist_directory=tmp_path,
        chroma_collection_name="farm",
        targets_directory=file.parent,
        test_target="mine",
    )
    file.write_text(f"READER_MODEL={tiny}\nREADER_THRESHOLD=0.25\nREADER_SECONDS=9\n")
    services = open_services(own, HashEmbedder())
    reader, target = services.answerer.readers[str(tiny)], services.targets["mine"]
    services.close()
    assert (target.reader_threshold, target.reader_seconds) == (0.25, 9.0)
    assert isinstance(reader, QuestionAnsweringModel)
    assert reader._loaded
    file.write_text(f"READER_MODEL={tmp_path / 'gone'}\n")
    with pytest.raises(MissingModel, match=r"READER_MODEL=.*gone is neither a folder nor"):
        open_services(own, HashEmbedder())


@pytest.fixture(scope="module")
def atlas(
    tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder, tiny: Path
) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("read")
    with collection(folder, embedder, FILES, f"READER_MODEL={tiny}\n") as opened:
        yield opened


def test_the_sentence_that_holds_the_words_comes_first(atlas: Atlas) -> None:
    answer = atlas.ask(QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert said(answer)[0] == HELD
    assert answer.confidence
    assert (answer.confidence.word, answer.confidence.likelihood > 0.9) == ("likely", True)
    assert all(is_verbatim(atlas, citation) for citation in answer.citations)
    assert warnings(answer) == ""


def test_where_the_model_finds_no_words_the_closest_are_shown(atlas: Atlas) -> None:
    answer = atlas.ask("What did salt cost?")
    assert (answer.outcome.decision, answer.text) == ("ABSTAIN", "")
    assert 0 < len(answer.closest) <= 3
    assert all(is_verbatim(atlas, citation) for citation in answer.closest)


@pytest.mark.parametrize("likelihood", ["0", "0.3", "0.99"])
def test_no_words_are_no_answer_however_little_is_needed(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path, likelihood: str
) -> None:
    target = f"READER_MODEL={tiny}\nANSWER_LIKELIHOOD={likelihood}\n"
    files = {"law/rule.txt": "The court held that by old rule a market is on this day."}
    with collection(tmp_path, embedder, files, target) as atlas:
        answer = atlas.ask("What did salt cost on this day at the market?")
    assert answer.outcome.decision == "ABSTAIN"
    assert closest(answer) == [files["law/rule.txt"]]


def test_where_it_could_not_read_the_rules_decide_with_a_warning(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path
) -> None:
    rules = "ANSWER_LIKELIHOOD=0.05\n"
    with collection(tmp_path / "rules", embedder, FILES, rules) as atlas:
        plain = atlas.ask(QUESTION)
    late = f"{rules}{LATE}READER_MODEL={tiny}\n"
    with collection(tmp_path / "late", embedder, FILES, late) as atlas:
        answer = atlas.ask(QUESTION)
    assert answer.outcome.decision == "ANSWER"
    assert (said(answer), answer.confidence) == (said(plain), plain.confidence)
    assert "read 0 of 3 passages" in warnings(answer)


def test_what_was_not_read_can_be_declined(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path
) -> None:
    target = f"{LATE}READER_MODEL={tiny}\nANSWER_LIKELIHOOD=0.99\n"
    with collection(tmp_path, embedder, FILES, target) as atlas:
        answer = atlas.ask(QUESTION)
    assert (answer.outcome.code, answer.confidence) == ("not_held", None)
    assert answer.closest
    assert "read 0 of 3 passages" in warnings(answer)
    assert "READER_SECONDS" in warnings(answer)


PASSAGES = [
    passage("law.fish", "Fish cost three pounds on this day."),
    passage("law.wool", HELD),
    passage("law.rule", "A rule of the court."),
]
WOOL = PASSAGES[1].passage


@pytest.fixture
def exported() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture(params=[True, False], ids=["content", "no content"])
def tracer(request: pytest.FixtureRequest, exported: InMemorySpanExporter) -> Iterator[Tracer]:
    opened = Tracer("", "test", content=request.param)
    opened.add(SimpleSpanProcessor(exported))
    yield opened
    opened.close()


def only(exported: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exported.get_finished_spans()
    return span


def test_the_trace_says_what_was_read_and_texts_only_if_wanted(
    reader: QuestionAnsweringModel,
    tracer: Tracer,
    exported: InMemorySpanExporter,
    request: pytest.FixtureRequest,
) -> None:
    spans, note = read_spans(reader, QUESTION, PASSAGES, Target(), tracer)
    assert (list(spans), note) == ([item.passage.id for item in PASSAGES], "")
    threshold = Target().reader_threshold
    assert [id_ for id_, each in spans.items() if each.score >= threshold] == [WOOL.id]
    start, end, score = spans[WOOL.id]
    assert (WOOL.text[start:end], score > 0.9) == ("twelve pence", True)
    span = only(exported)
    attributes: dict[str, Any] = dict(span.attributes or {})
    assert (span.name, attributes["openinference.span.kind"]) == ("read", "RERANKER")
    assert (attributes["model"], attributes["reranker.model_name"]) == (reader.name,) * 2
    assert [attributes[name] for name in ("passages", "read", "answers")] == [3, 3, 1]
    best = "reranker.output_documents.0.document"
    wanted = request.node.callspec.id == "content"
    assert attributes[f"{best}.id"] == (WOOL.id if wanted else digest(WOOL.id))
    assert attributes[f"{best}.score"] > 0.9
    assert ("wool" in json.dumps(attributes, default=str).replace("law.wool", "")) is wanted
    assert ("twelve pence" in str(attributes.get("output.value"))) is wanted


def test_what_was_not_read_has_no_span(
    tiny: Path, reader: QuestionAnsweringModel, tracer: Tracer
) -> None:
    many = [passage(f"law.{number}", "Wool cost twelve pence.") for number in range(2 * BATCH)]
    # looks: 0 to begin, 1 before the first batch, 2 before the second
    hurried = QuestionAnsweringModel(str(tiny), device="cpu", clock=ticks())
    spans, note = read_spans(hurried, QUESTION, many, Target(reader_seconds=2.0), tracer)
    assert list(spans) == [item.passage.id for item in many[:BATCH]]
    assert f"read {BATCH} of {2 * BATCH} passages in 2 seconds" in note
    assert read_spans(reader, QUESTION, [], Target(), tracer) == ({}, "")


def test_a_reader_that_fails_reads_nothing_and_the_note_says_why(
    tiny: Path, tracer: Tracer, exported: InMemorySpanExporter
) -> None:
    broken = QuestionAnsweringModel(str(tiny), device="cpu")
    broken.load()
    broken._loaded[0].model.qa_outputs.bias.data.fill_(float("nan"))
    spans, note = read_spans(broken, QUESTION, PASSAGES, Target(), tracer)
    assert spans == {}
    assert note.startswith("No passage was searched for the words that answer. ")
    assert "gives no number" in note
    assert (only(exported).attributes or {})["read"] == 0
