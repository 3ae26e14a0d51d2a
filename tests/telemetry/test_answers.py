"""The trace of an answer is whole, however that ends: its spans, their status, and what it took."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import httpx2
import pytest

from atlas_search.answer.answer import Event, References, Token
from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.request import AskRequest, Turn
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
from atlas_search.core.telemetry.names import Ids, identify
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.planning import plan_answer
from atlas_search.server.runs import STOPPING
from atlas_search.services import Services
from tests.answering import asked
from tests.chat_server import Cut, Hang, Reply, Says, Silence, Told
from tests.collector import collecting
from tests.recorded_spans import Recorded, documents, kind_of, recording, said, traced_by
from tests.servers import app_of, served, wait_for
from tests.slow_model import SlowModel
from tests.telemetry.conftest import Traced, Written, cited
from tests.telemetry.test_searches import with_stage

QUESTION = "Can a local authority sue a newspaper for libel?"
CORPORA = ("legal_uk", "legal_us", "legislation_nz")
KINDS = {
    **dict.fromkeys(("ask", "search", "retrieve", "balance", "context", "answer"), "CHAIN"),
    **dict.fromkeys(LEGS, "RETRIEVER"),
    "embed": "EMBEDDING",
    "rerank": "RERANKER",
    "generate": "LLM",
    "verify": "GUARDRAIL",
}
FOUND = Counter(
    [
        *("ask", "search", "embed", "rerank", "balance"),
        *(f"{name} {corpus}" for name in ("retrieve", *LEGS) for corpus in CORPORA),
    ]
)
WRITTEN = FOUND + Counter(["context", "generate"])
BROKEN_OFF = Says('{"sentences": [{"text": ', '"The council lost.", ', '"passages": [1]}, ', Cut())
INVENTED = "The council lost its claim for libel [legal_uk.invented p9]."


def check(
    recorded: Recorded, names: Iterable[str], failed: Iterable[str] = ()
) -> dict[str, object]:
    """One trace of exactly these spans, of their kinds; `failed` alone did not end well.

    What the root says is given back.
    """
    spans = recorded.spans
    assert len({span.context.trace_id for span in spans}) == 1
    assert Counter(map(kind_of, spans)) == Counter(names)
    ids = {span.context.span_id for span in spans}
    assert [kind_of(span) for span in recorded.roots] == [kind_of(spans[-1])] == ["ask"]
    assert all(span.parent.span_id in ids for span in spans if span.parent)
    assert Counter(kind_of(span) for span in spans if not span.status.is_ok) == Counter(failed)
    for span in spans:
        assert said(span)["openinference.span.kind"] == KINDS[span.name.split()[0]], span.name
        assert ("exception" in {event.name for event in span.events}) is not span.status.is_ok
    return said(spans[-1])


@pytest.mark.parametrize(
    ("replies", "tokens", "estimated"),
    [
        ([Reply(500)] * 9, (0, 0), False),
        ([Silence()] * 9, (0, 0), False),
        ([BROKEN_OFF] * 9, None, True),
        ([Says("The council ", "lost ", Hang())] * 9, None, True),
    ],
    ids=["error", "timeout", "error after tokens", "timeout after tokens"],
)
def test_a_provider_that_fails_leaves_what_was_written_until_then(
    written: Written, replies: list[Told], tokens: tuple[int, int] | None, *, estimated: bool
) -> None:
    services, server, recorded = written
    server.then(*replies)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION, llm_seconds=2.0)
    root = check(recorded, WRITTEN, failed=["ask", "generate"])
    assert not {"decision", "cancelled"} & root.keys()
    spent = (root["prompt_tokens"], root["completion_tokens"])
    assert spent == tokens if tokens else min(spent) > 0
    assert root["estimated"] is estimated
    assert ("llm.token_count.prompt" in recorded.last("generate")) is estimated


def test_calls_before_the_one_that_fails_count_as_the_provider_told(written: Written) -> None:
    services, server, recorded = written
    server.then(Says(INVENTED), *[Reply(500)] * 9)
    with pytest.raises(ModelUnavailable):
        asked(services, QUESTION)
    root = recorded.last("ask")
    assert (root["prompt_tokens"], root["completion_tokens"]) == (11, 7)
    assert root["estimated"] is False


def test_a_text_without_an_end_is_counted_as_far_as_it_was_read(written: Written) -> None:
    services, server, recorded = written
    server.says(lambda request: Says(*(["on and "] * 40), cited(request)))
    answer, _ = asked(services, QUESTION, max_tokens=10)
    assert answer.outcome.decision == "BLOCK"
    assert answer.writer.usage.prompt_tokens > 500  # the passages
    assert all(said(call)["estimated"] for call in recorded.named("generate"))


def test_a_provider_that_fails_where_another_stands_in(written: Written) -> None:
    services, server, recorded = written
    server.then(*[Reply(500)] * 9)
    answer, _ = asked(services, QUESTION, llm_fallback="extractive")
    names = WRITTEN + Counter(["context", "generate", "verify"])
    root = check(recorded, names, failed=["generate"])
    assert (root["decision"], root["fallback"]) == (answer.outcome.decision, "model_unavailable")
    assert (root["llm_provider"], root["target_llm_provider"]) == ("extractive", "openai")


def test_a_provider_that_fails_in_a_comparison(written: Written) -> None:
    services, server, recorded = written
    server.says(lambda _: Reply(500))
    with pytest.raises(AtlasError):
        asked(services, QUESTION, mode="compare")
    failed = {kind_of(span) for span in recorded.spans if not span.status.is_ok}
    assert {"ask", "generate"} <= failed <= {"ask", "generate", *(f"answer {c}" for c in CORPORA)}


@pytest.mark.parametrize(
    ("text", "besides", "decision"),
    [
        (INVENTED, ["generate", "verify", "verify"], "BLOCK"),  # a repair
        ("The passages do not say.", ["context", "generate"], "ABSTAIN"),  # quotes are looked at
    ],
)
def test_a_model_without_an_answer(
    written: Written, text: str, besides: list[str], decision: str
) -> None:
    services, server, recorded = written
    server.says(text)
    answer, _ = asked(services, QUESTION, answer_likelihood=1.0)
    root = check(recorded, WRITTEN + Counter(besides))
    assert (root["decision"], root["reason"]) == (decision, answer.outcome.code)
    assert root["citations"] == 0


def test_a_filter_that_leaves_nothing(traced: Traced) -> None:
    services, recorded = traced
    Atlas(services).ask(QUESTION, filters={"title": "No such title"})
    root = check(recorded, FOUND)
    assert root["decision"] == "ABSTAIN"
    assert [root[f"candidates.{corpus}"] for corpus in CORPORA] == [0, 0, 0]
    assert root["imbalance.kept"] == 0
    assert documents(root) == []


class Unavailable:
    """A second stage that fails."""

    name = "backwards"

    def __init__(self, fault: Exception):
        self.fault = fault

    def relevance(self, *_: object) -> object:
        """See SecondStage."""
        raise self.fault


def test_a_reranker_out_of_reach_is_a_warning(traced: Traced) -> None:
    services, recorded = traced
    stage = Unavailable(RerankerUnavailable("It is out of reach."))
    Atlas(with_stage(services, stage)).ask(QUESTION)
    assert check(recorded, WRITTEN + Counter(["verify"]))["decision"] == "ANSWER"
    (search,) = recorded.named("search")
    assert any("out of reach" in str(dict(event.attributes or {})) for event in search.events)


def test_a_reranker_that_is_broken_fails_the_answer(traced: Traced) -> None:
    services, recorded = traced
    with pytest.raises(ValueError, match="broken"):
        Atlas(with_stage(services, Unavailable(ValueError("broken")))).ask(QUESTION)
    check(recorded, FOUND - Counter(["balance"]), failed=["rerank", "search", "ask"])


def test_an_embedder_out_of_reach(traced: Traced) -> None:
    services, recorded = traced

    class Away:
        info = services.searcher.embedder.info

        def embed_query(self, _: str) -> object:
            raise EmbeddingUnavailable("It is out of reach.")

    searcher = replace(services.searcher, embedder=Away())  # type: ignore[arg-type]
    own = replace(services, answerer=replace(services.answerer, searcher=searcher))
    with pytest.raises(EmbeddingUnavailable):
        Atlas(own).ask(QUESTION)
    check(recorded, ["embed", "search", "ask"], failed=["embed", "search", "ask"])


def test_a_kept_answer_tells_the_same_story(written: Written) -> None:
    services, server, recorded = written
    server.says(cited)
    asked(services, QUESTION)
    first = check(recorded, WRITTEN + Counter(["verify"]))
    assert first["attempts"] == 1
    recorded.clear()
    asked(services, QUESTION)
    assert check(recorded, ["ask"]) == first | {"cache_hit": True, "attempts": 0}


def stop_at(event: type[Event], stop: Stop) -> object:
    def emit(told: Event) -> None:
        if isinstance(told, event):
            stop.set("The answer was stopped.")

    return emit


@pytest.mark.parametrize("event", [References, Token], ids=["after the search", "while it writes"])
def test_a_stopped_answer_says_why_and_what_it_took(written: Written, event: type[Event]) -> None:
    services, server, recorded = written
    server.then(Says('{"text": "The council lost.", ', '"passages": [1]}', Hang()))
    stop = Stop()
    prices = {"llm_price_input": 2.0, "llm_price_output": 8.0}
    with pytest.raises(Cancelled):
        asked(services, QUESTION, stop=stop, emit=stop_at(event, stop), **prices)  # type: ignore[arg-type]
    root = check(recorded, WRITTEN)
    assert (root["cancelled"], root["cancelled_because"]) == (True, "The answer was stopped.")
    assert "decision" not in root
    if event is Token:
        spent = (root["prompt_tokens"], root["completion_tokens"])
        assert spent[0] > 500  # the passages
        assert 0 < spent[1] < 40
        call = recorded.last("generate")
        counted = (call["llm.token_count.prompt"], call["llm.token_count.completion"])
        assert (counted, call["estimated"], root["estimated"]) == (spent, True, True)
        assert root["cost"] == pytest.approx((spent[0] * 2 + spent[1] * 8) / 1e6)
        assert call["output.value"].startswith('{"text": "The council lost."')


def test_an_answer_that_is_stopped_before_it_began(written: Written) -> None:
    services, _, recorded = written
    stop = Stop()
    stop.set("The client went away.")
    with pytest.raises(Cancelled):
        asked(services, QUESTION, stop=stop)
    assert check(recorded, ["ask", "search"])["cancelled_because"] == "The client went away."


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("stop", "The answer was stopped."),
        ("leave", "The client went away."),
        ("close", STOPPING),
    ],
)
def test_the_root_of_a_streamed_answer_says_who_ended_it(
    services: Services, end: str, why: str
) -> None:
    model = SlowModel()
    with recording() as (tracer, recorded):
        own = with_model(traced_by(services, tracer), model)
        app = app_of(Atlas(own))
        with (
            served(app, channel_request_lookahead=1) as address,
            httpx2.Client(base_url=address, timeout=60) as client,
        ):
            body = {"question": QUESTION, "qa_id": "stopped-1"}
            with client.stream("POST", "/api/ask/stream", json=body) as response:
                assert "event: references" in response.iter_lines()
                model.go.release()
                wait_for(lambda: model.written or None, 60, "the first sentence")
                if end == "stop":
                    client.delete("/api/ask/stopped-1")
                elif end == "close":
                    app.extensions["runs"].close()
            assert model.ended.wait(20)
            root = said(recorded.root("ask"))
    assert (root["cancelled"], root["cancelled_because"]) == (True, why)
    assert root["estimated"] is True
    assert root["completion_tokens"] > 0


def with_model(services: Services, model: SlowModel) -> Services:
    """Answered by `model`; who goes away is not waited for."""
    target = services.targets["k10_extractive"].model_copy(
        update={"llm_provider": "openai", "near_duplicate": 1.0}
    )
    cache = AnswerCache(1, 1, enabled=False)
    return replace(
        services,
        settings=services.settings.model_copy(update={"resume_seconds": 0.05}),
        answerer=replace(services.answerer, models={"openai": model}, cache=cache),
        targets={**services.targets, "k10_extractive": target},
    )


def test_a_shutdown_meanwhile(services: Services) -> None:
    with collecting() as collector:
        tracer = Tracer(collector.address, "ends", content=True, delay=0.05)

        def emit(event: Event) -> None:
            if isinstance(event, References):
                tracer.close()

        traced = traced_by(services, tracer)
        answer = Atlas(traced).answer(plan_answer(traced, AskRequest(question=QUESTION)), emit)
        assert answer.outcome.decision == "ANSWER"
        assert tracer.open_spans == 0
        assert len(collector.spans) == tracer.exported == sum((FOUND - Counter(["ask"])).values())
        assert tracer.dropped == sum(Counter(["ask", "context", "generate", "verify"]).values())


def test_of_long_texts_and_many_passages_nothing_is_cut(written: Written) -> None:
    services, server, recorded = written
    server.says(lambda request: Says("Very long words. " * 3000, cited(request)))
    asked(services, QUESTION, search_k=50, passage_tokens=30_000, max_tokens=60_000)
    assert len(documents(recorded.last("ask"))) == 50
    call, *_ = recorded.named("generate")
    assert len(said(call)["llm.output_messages.0.message.content"]) > 50_000


def test_every_span_says_whose_it_is(written: Written) -> None:
    services, server, recorded = written
    server.says(cited)
    request = AskRequest(
        question="And in Britain?",
        history=[Turn(role="user", content=QUESTION), Turn(role="assistant", content="No.")],
        session_id="s-7",
        qa_id="q-7",
    )
    Atlas(services).answer(plan_answer(services, request, user_id="reading room"))
    # spans of legs open in threads of a pool
    assert {"dense legal_uk", "lexical legal_us", "generate"} <= {s.name for s in recorded.spans}
    ids = {"session.id": "s-7", "qa_id": "q-7", "user.id": "reading room"}
    for span in recorded.spans:
        assert (ids | {"gen_ai.conversation.id": "s-7"}).items() <= said(span).items(), span.name
    assert recorded.last("ask")["history_turns"] == 2


def test_ids_end_with_their_block_and_nobody_is_not_named(traced: Traced) -> None:
    services, recorded = traced
    with identify(Ids(user_id="reading room")):
        Atlas(services).search(QUESTION)
    assert {said(span)["user.id"] for span in recorded.spans} == {"reading room"}
    recorded.clear()
    Atlas(services).ask(QUESTION)
    assert not any("user.id" in said(span) for span in recorded.spans)


def test_ids_that_are_for_the_trace_alone_do_not_decide_an_answer(written: Written) -> None:
    services, server, _ = written
    server.says(cited)
    first = plan_answer(services, AskRequest(question=QUESTION))
    again = replace(first, streamed=True, user_id="reading room", qa_id="another")
    atlas = Atlas(services)
    atlas.answer(first)
    assert atlas.answer(again).cache_hit


def test_results_name_their_traces(traced: Traced) -> None:
    services, recorded = traced
    *_, answer = Atlas(services).stream(QUESTION)
    root = recorded.root("ask")
    assert answer.to_dict()["span_id"] == format(root.context.span_id, "016x")
    assert answer.trace_id == format(root.context.trace_id, "032x")
    assert said(root)["streamed"] is True
    recorded.clear()
    result = Atlas(services).search(QUESTION)
    trace = recorded.root("search").context.trace_id
    assert result.to_dict()["trace_id"] == format(trace, "032x")


def test_a_run_names_its_model_fit_for_a_file(written: Written) -> None:
    services, _, _ = written
    target = services.targets["model"].model_copy(update={"llm_model": "org/tiny model:7b"})
    own = replace(services, targets={"model": target})
    assert own.composite_target("model") == "model_org-tiny-model-7b_atlas_demo"
