"""However an answer ends, its trace is whole: which spans, of which kinds, and how each ended."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.answer.answer import Event, References, Token
from atlas_search.answer.request import AnswerPlan
from atlas_search.asking import plan_answer
from atlas_search.atlas import Atlas
from atlas_search.core.domain import LEGS
from atlas_search.core.errors import (
    AtlasError,
    Cancelled,
    EmbeddingUnavailable,
    ModelUnavailable,
    RerankerUnavailable,
)
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.providers.embedding_local import LocalEmbedder
from atlas_search.services import Services
from tests.answering import asked
from tests.chat_server import Cut, Hang, Reply, Says, Silence, Told
from tests.collector import collecting
from tests.harbours import FEE, harbours
from tests.spans.recorded import Both, documents, named, recording, trace_with, whole
from tests.spans.test_lists import with_stage
from tests.test_generate import cited

QUESTION = "Can a local authority sue a newspaper for libel?"
CORPORA = ("legal_uk", "legal_us", "legislation_nz")
KINDS = {
    "ask": "CHAIN",
    "search": "CHAIN",
    "embed": "EMBEDDING",
    "retrieve": "CHAIN",
    "dense": "RETRIEVER",
    "lexical": "RETRIEVER",
    "rerank": "RERANKER",
    "balance": "CHAIN",
    "context": "CHAIN",
    "generate": "LLM",
    "verify": "GUARDRAIL",
    "answer": "CHAIN",
}
FOUND = Counter(
    [
        *("ask", "search", "embed", "rerank", "balance"),
        *(f"{name} {corpus}" for name in ("retrieve", *LEGS) for corpus in CORPORA),
    ]
)
WRITTEN = FOUND + Counter(["context", "generate"])


def check(
    exported: InMemorySpanExporter, names: Iterable[str], failed: Iterable[str] = ()
) -> dict[str, object]:
    """One trace of exactly these spans, of their kinds; `failed` alone did not end well.

    Nothing of any was dropped. What the root says is given back.
    """
    spans = whole(exported)
    assert Counter(span.name for span in spans) == Counter(names)
    ids = {span.context.span_id for span in spans if span.context}
    assert [span.name for span in spans if not span.parent] == [spans[-1].name] == ["ask"]
    assert all(span.parent.span_id in ids for span in spans if span.parent)
    assert Counter(span.name for span in spans if not span.status.is_ok) == Counter(failed)
    for span in spans:
        kind = (span.attributes or {})["openinference.span.kind"]
        assert kind == KINDS[span.name.split()[0]], span.name
        dropped = (span.dropped_attributes, span.dropped_events, span.dropped_links)
        assert dropped == (0, 0, 0), span.name
        told = {event.name for event in span.events}
        assert ("exception" in told) is not span.status.is_ok
    return dict(spans[-1].attributes or {})


@pytest.mark.parametrize(
    ("reply", "wrote"),
    [
        (Reply(500), False),
        (Says("The council ", "lost its claim, ", Cut()), True),
        (Silence(), False),
        (Says("The council ", "lost ", Hang()), True),
    ],
    ids=["error", "error after tokens", "timeout", "timeout after tokens"],
)
def test_a_provider_that_fails(
    both: Both, exported: InMemorySpanExporter, reply: Told, *, wrote: bool
) -> None:
    services, server = both
    server.then(*[reply] * 9)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION, llm_seconds=0.5)
    root = check(exported, WRITTEN, failed=["ask", "generate"])
    assert "decision" not in root
    assert (int(str(root["completion_tokens"])) > 0) is wrote


def test_a_provider_that_fails_where_another_stands_in(
    both: Both, exported: InMemorySpanExporter
) -> None:
    services, server = both
    server.then(*[Reply(500)] * 9)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    names = WRITTEN + Counter(["context", "generate", "verify"])
    root = check(exported, names, failed=["generate"])
    assert (root["decision"], root["llm_provider"]) == (answer.outcome.decision, "extractive")


def test_a_provider_that_fails_in_a_comparison(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(lambda _: Reply(500))
    with pytest.raises(AtlasError):
        asked(services, QUESTION, mode="compare")
    spans = whole(exported)
    failed = {span.name for span in spans if not span.status.is_ok}
    assert {"ask", "generate"} <= failed <= {"ask", "generate", *(f"answer {c}" for c in CORPORA)}
    assert [span.dropped_attributes for span in spans if span.dropped_attributes] == []


def test_an_answer_that_is_blocked(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says("The council lost its claim for libel [legal_uk.invented p9].")
    answer, _ = asked(services, QUESTION)
    root = check(exported, WRITTEN + Counter(["generate", "verify", "verify"]))
    assert (root["decision"], root["reason"]) == ("BLOCK", answer.outcome.code)
    assert root["citations"] == 0


def test_a_model_that_abstains(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says("The passages do not say.")
    asked(services, QUESTION, answer_likelihood=1.0)
    quoting = Counter(["context", "generate"])  # quotes are looked at before it stays so
    assert check(exported, WRITTEN + quoting)["decision"] == "ABSTAIN"


def test_no_evidence(both: Both, exported: InMemorySpanExporter) -> None:
    services, _ = both
    answer, _ = asked(services, "How long should I roast a chicken?", answer_threshold=0.6)
    root = check(exported, FOUND)
    assert (root["decision"], root["reason"]) == ("ABSTAIN", answer.outcome.code)
    assert root["attempts"] == 0


def test_a_filter_that_leaves_nothing(traced: Services, exported: InMemorySpanExporter) -> None:
    answer = Atlas(traced).ask(QUESTION, filters={"title": "No such title"})
    root = check(exported, FOUND)
    assert root["decision"] == answer.outcome.decision == "ABSTAIN"
    assert [root[f"candidates.{corpus}"] for corpus in CORPORA] == [0, 0, 0]
    assert root["imbalance.kept"] == 0
    assert documents(named(exported, "ask"), "retrieval.documents") == []


class Unavailable:
    """A second stage that is out of reach."""

    name = "backwards"

    def __init__(self, fault: Exception):
        self.fault = fault

    def relevance(self, *_: object) -> object:
        """See SecondStage."""
        raise self.fault


def with_fault(services: Services, fault: Exception) -> Services:
    changed = with_stage(services)
    _, target = changed.target(None)
    stages = {("backwards", target.rerank_model): Unavailable(fault)}
    searcher = replace(changed.answerer.searcher, stages=stages)  # type: ignore[arg-type]
    return replace(changed, answerer=replace(changed.answerer, searcher=searcher))


def test_a_reranker_out_of_reach(traced: Services, exported: InMemorySpanExporter) -> None:
    Atlas(with_fault(traced, RerankerUnavailable("It is out of reach."))).ask(QUESTION)
    root = check(exported, WRITTEN + Counter(["verify"]))
    assert root["decision"] == "ANSWER"
    search = next(span for span in whole(exported) if span.name == "search")
    assert any("out of reach" in str(dict(event.attributes or {})) for event in search.events)


def test_a_reranker_that_is_broken(traced: Services, exported: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="broken"):
        Atlas(with_fault(traced, ValueError("broken"))).ask(QUESTION)
    check(exported, FOUND - Counter(["balance"]), failed=["rerank", "search", "ask"])


def test_an_embedder_out_of_reach(traced: Services, exported: InMemorySpanExporter) -> None:
    class Away:
        info = traced.searcher.embedder.info

        def embed_query(self, _: str) -> object:
            raise EmbeddingUnavailable("It is out of reach.")

    searcher = replace(traced.searcher, embedder=Away())  # type: ignore[arg-type]
    services = replace(traced, answerer=replace(traced.answerer, searcher=searcher))
    with pytest.raises(EmbeddingUnavailable):
        Atlas(services).ask(QUESTION)
    check(exported, ["embed", "search", "ask"], failed=["embed", "search", "ask"])


def test_a_kept_answer(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(cited)
    asked(services, QUESTION)
    check(exported, WRITTEN + Counter(["verify"]))
    exported.clear()
    asked(services, QUESTION)
    root = check(exported, ["ask"])
    assert (root["cache_hit"], root["attempts"], root["decision"]) == (True, 0, "ANSWER")


@pytest.mark.parametrize("event", [References, Token], ids=["after the search", "while it writes"])
def test_an_answer_that_is_stopped(
    both: Both, exported: InMemorySpanExporter, event: type[Event]
) -> None:
    services, server = both
    server.then(Says('{"text": "The council lost.", ', '"passages": [1]}', Hang()))
    stop = Stop()

    def emit(told: Event) -> None:
        if isinstance(told, event):
            stop.set("The answer was stopped.")

    with pytest.raises(Cancelled):
        asked(services, QUESTION, stop=stop, emit=emit)
    root = check(exported, WRITTEN)
    assert (root["cancelled"], root["cancelled_because"]) == (True, "The answer was stopped.")
    assert "decision" not in root


def test_an_answer_that_is_stopped_before_it_began(
    both: Both, exported: InMemorySpanExporter
) -> None:
    services, _ = both
    stop = Stop()
    stop.set("The client went away.")
    with pytest.raises(Cancelled):
        asked(services, QUESTION, stop=stop)
    root = check(exported, ["ask", "search"])
    assert root["cancelled_because"] == "The client went away."
    assert "decision" not in root


def test_a_question_that_is_to_be_read_in_one_way(
    exported: InMemorySpanExporter,
    tmp_path_factory: pytest.TempPathFactory,
    embedder: LocalEmbedder,
) -> None:
    with (
        harbours(tmp_path_factory.mktemp("harbours"), embedder) as atlas,
        recording(exported) as tracer,
    ):
        Atlas(trace_with(atlas.services, tracer)).ask(FEE, clarify=True)
    two = Counter(f"{name} {c}" for name in ("retrieve", *LEGS) for c in ("northport", "southport"))
    root = check(exported, Counter(["ask", "search", "embed", "rerank", "balance"]) + two)
    assert (root["decision"], root["reason"]) == ("ABSTAIN", "clarify")


def test_a_shutdown_meanwhile(services: Services) -> None:
    with collecting() as collector:
        tracer = Tracer(collector.address, "ends", content=True, delay=0.05)

        def emit(event: Event) -> None:
            if isinstance(event, References):
                tracer.close()

        traced = trace_with(services, tracer)
        answer = Atlas(traced).answer(plan_answer(traced, AnswerPlan(question=QUESTION)), emit)
        assert answer.outcome.decision == "ANSWER"
        assert tracer.open_spans == 0
        assert len(collector.spans) == tracer.exported == sum((FOUND - Counter(["ask"])).values())
        assert tracer.dropped == sum(Counter(["ask", "context", "generate", "verify"]).values())


def test_long_texts_and_many_passages(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(lambda request: Says("Very long words. " * 3000, cited(request)))
    asked(services, QUESTION, search_k=50, passage_tokens=30_000, max_tokens=60_000)
    spans = whole(exported)
    assert len(documents(named(exported, "ask"), "retrieval.documents")) == 50
    assert [span.name for span in spans if span.dropped_attributes or span.dropped_events] == []
    (call, *_) = [span.attributes or {} for span in spans if span.name == "generate"]
    assert len(str(call["llm.output_messages.0.message.content"])) > 50_000
