"""VERIFY=model as a stream and as a comparison shows it, and in the trace."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.answer.answer import Restart, Section
from atlas_search.atlas import Atlas
from atlas_search.core.domain import MARKER
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Request, Says
from tests.judging import (
    FALSE,
    REASON,
    both_said,
    claim_in,
    falsehood,
    is_judge,
    judges_baker,
    tokens,
    truth,
    writes,
)

QUESTION = "Can a local authority sue a newspaper for libel?"
MARRIAGE = "Which grounds make marriage between two people of the same sex lawful?"

Both = tuple[Services, ChatServer]


@pytest.fixture
def both(services: Services) -> Iterator[Both]:
    with answered_by("openai", services, kept=False) as found:
        yield found


def streamed(services: Services) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream under VERIFY=model."""
    name = services.settings.test_target
    target = services.targets[name].model_copy(update={"verify": "model"})
    own = replace(services, targets={**services.targets, name: target})
    client = create_app(lambda: Atlas(own)).test_client()
    text = client.post("/api/ask/stream", json={"question": QUESTION}).text
    frames = [frame.split("\n") for frame in text.strip().split("\n\n")]
    return [(f[1].removeprefix("event: "), json.loads(f[2].removeprefix("data: "))) for f in frames]


def test_a_stream_withdraws_what_is_struck_and_gives_the_new_text(both: Both) -> None:
    services, server = both
    writes(server, both_said)
    events = streamed(services)
    assert [data["reason"] for name, data in events if name == "restart"] == ["repair", "struck"]
    last = max(at for at, (name, _) in enumerate(events) if name == "restart")
    left = "".join(data["text"] for name, data in events[last:] if name == "token").strip()
    name, complete = events[-1]
    assert (name, complete["answer"]) == ("complete", left)
    assert MARKER.sub("[1]", left) == truth(server.requests[0])
    assert [data["number"] for name, data in events[last:] if name == "sentence"] == [1]
    assert complete["validation"]["struck"][0]["sentence"] == f"{FALSE}."
    assert complete["usage"]["prompt_tokens"] == 66  # of two drafts and two judgements of each
    assert complete["timings_ms"]["verify"] > 0


def test_a_stream_of_which_nothing_is_supported_ends_without_a_text(both: Both) -> None:
    services, server = both
    writes(server, falsehood)
    events = streamed(services)
    names = [name for name, _ in events]
    assert names[-2:] == ["restart", "complete"]
    complete = events[-1][1]
    assert (complete["decision"], complete["answer"]) == ("ABSTAIN", None)
    assert complete["reason"]["code"] == "unsupported"
    assert complete["citations"] == complete["sentences"] == []


def in_each_corpus(request: Request) -> str:
    """An answer of each corpus, half of it false; and points, of which one is false."""
    if found := tokens(request):
        return f"Granted {found[0]}. The baker agreed {found[0]}."
    granted = [line[line.index("[") :] for line in request.prompt.splitlines() if "Granted" in line]
    cited = " ".join(granted[:2])
    return f"AGREE: Both grant it {cited}.\nDIFFER: Only one names a baker {cited}.\n"


def test_a_comparison_is_judged_corpus_by_corpus_and_point_by_point(both: Both) -> None:
    services, server = both
    writes(server, in_each_corpus)
    answer, events = asked(services, MARRIAGE, mode="compare", verify="model")
    answering = [part for part in answer.comparison.answers if part.text]
    assert len(answering) >= 2
    for part in answering:
        assert part.text.startswith("Granted. [")
        assert [sentence.support for sentence in part.verification.sentences] == ["supported"]
    assert {s.support for s in answer.verification.sentences} == {"supported"}
    assert answer.support.verified_by == "model"
    steps = [event for event in events if isinstance(event, Section | Restart)]
    for at, step in enumerate(steps):
        if step == Restart("struck"):
            assert steps[at - 1] == Restart("repair")
            assert isinstance(steps[at - 2], Section)
    assert steps.count(Restart("struck")) == len(answering)
    (agreement,) = answer.comparison.agreements
    assert agreement.text.startswith("Both grant it [")
    assert answer.comparison.differences == ()
    struck = [doubt.sentence for doubt in answer.support.struck]
    assert struck == ["The baker agreed."] * len(answering) + ["Only one names a baker."]
    document = answer.to_dict()
    assert len(document["validation"]["struck"]) == len(answering) + 1
    sent = [said for part in document["comparison"]["answers"] for said in part["sentences"]]
    assert [said["support"] for said in sent] == ["supported"] * len(answering)


def test_a_comparison_of_which_nothing_is_supported_is_declined(both: Both) -> None:
    services, server = both
    writes(server, falsehood)
    answer, _ = asked(services, MARRIAGE, mode="compare", verify="model")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "no_corpus_answers")
    assert REASON in answer.outcome.message
    codes = {part.outcome.code for part in answer.comparison.answers}
    assert "unsupported" in codes


def test_points_that_are_not_judged_are_left_out_and_said(both: Both) -> None:
    services, server = both

    def judge(request: Request) -> str | Says:
        points = {"Both grant it.", "Only one names a baker."}
        return "Well said." if claim_in(request) in points else judges_baker(request)

    writes(server, in_each_corpus, judge=judge)
    answer, _ = asked(services, MARRIAGE, mode="compare", verify="model")
    assert answer.comparison.agreements == answer.comparison.differences == ()
    left_out = [doubt for doubt in answer.support.struck if doubt.verdict == "not_judged"]
    assert [d.sentence for d in left_out] == ["Both grant it.", "Only one names a baker."]
    assert "neither yes nor no" in left_out[0].reason


def test_the_span_of_the_check_tells_who_judged_and_what(services: Services) -> None:
    spans, tracer = InMemorySpanExporter(), Tracer("", "test", content=False)
    tracer.add(SimpleSpanProcessor(spans))
    searcher = replace(services.searcher, tracer=tracer)
    own = replace(services, tracer=tracer, answerer=replace(services.answerer, searcher=searcher))
    with answered_by("openai", own) as (judged, server):
        writes(server, both_said)
        asked(judged, QUESTION, verify="model")
    tracer.close()
    found = [dict(s.attributes or {}) for s in spans.get_finished_spans() if s.name == "verify"]
    assert [span["verifier"] for span in found] == ["model", "model"]
    counts = {"supported": 1, "unsupported": 1, "contradicted": 0, "not_judged": 0}
    assert counts.items() <= found[1].items()
    assert found[1]["judge_model"] == "gpt-4o-mini"
    # the judge's calls stand below the check
    by_id = {span.context.span_id: span.name for span in spans.get_finished_spans()}
    calls = [span for span in spans.get_finished_spans() if span.name == "generate"]
    assert [by_id[span.parent.span_id] for span in calls if span.parent].count("verify") == 4
    assert sum(is_judge(request) for request in server.requests) == 4
