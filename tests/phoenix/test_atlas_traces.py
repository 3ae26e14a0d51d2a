"""`atlas traces` and every filter of the page, with a real Phoenix that holds real requests."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote

import httpx2
import pytest

from atlas_search.answer.answer import Answer
from atlas_search.answer.prompts import version_of
from atlas_search.atlas import Atlas
from atlas_search.cli.main import main
from atlas_search.core.errors import Cancelled, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.names import Ids, identify, label_traces
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation import traces
from atlas_search.evaluation.traces import Trace, read_trace
from atlas_search.services import Services
from atlas_search.stores import embedded
from atlas_search.stores.embedded import EmbeddedStore
from tests.answering import answered_by, asked
from tests.chat_server import Reply, Says
from tests.evaluation.made_traces import shallow
from tests.judging import truth as cited
from tests.recorded_spans import traced_by
from tests.servers import wait_for
from tests.test_docs import SPAN, items

pytestmark = [pytest.mark.phoenix, pytest.mark.thorough]
PROJECT = "reading room"
QUESTIONS = (
    "Can a local authority sue a newspaper for libel?",
    "How long should I roast a chicken?",  # declined
)
PRICES = {"llm_price_input": 1e6, "llm_price_output": 1e6}
Mark = tuple[str, str | None, float, str]
"""The name, label and score of an annotation, and who gave it."""

MARKS: Sequence[Mark] = (
    ("thumbs", "up", 1.0, "anna"),
    ("thumbs", "down", 0.0, "bert"),
    ("clarity", None, 4.0, "anna"),
)


class Traced(NamedTuple):
    """Requests in order: twice two questions, one of a model, and two searches."""

    quick: list[Answer]
    quota: list[Answer]
    modelled: Answer
    search: str
    broken: str


@pytest.fixture(scope="module")
def traced(phoenix: str, services: Services) -> Traced:
    tracer = Tracer(phoenix, PROJECT, content=True, delay=0.2)
    own = traced_by(services, tracer)
    atlas = Atlas(own)
    quick = [atlas.ask(question, target="k10_extractive") for question in QUESTIONS]
    quota = [atlas.ask(question, target="k15_quota") for question in QUESTIONS]
    with answered_by("openai", own) as (modelled, server):
        server.says(cited)
        answer, _ = asked(modelled, QUESTIONS[0], **PRICES)
    search = atlas.search(QUESTIONS[0]).trace_id
    broken = Atlas(shallow(own, "legal_us", 10)).search(QUESTIONS[0]).trace_id
    end(tracer, phoenix, PROJECT, 7)
    rate(phoenix, quick[0].span_id, MARKS)
    return Traced(quick, quota, answer, search, broken)


def end(tracer: Tracer, phoenix: str, project: str, roots: int) -> None:
    """Send all spans, and wait until Phoenix, which takes its time, shows so many roots."""
    wait_for(lambda: tracer.waiting == 0 or None, 60, "the end of sending")
    tracer.close()
    assert tracer.dropped == 0
    address = f"{phoenix}/v1/projects/{quote(project)}/spans?parent_id=null"

    def arrived() -> bool | None:
        result = httpx2.get(address, timeout=60)
        return (result.is_success and len(result.json()["data"]) == roots) or None

    wait_for(arrived, 180, "the roots")  # Phoenix shares two cores with all other tests


def rate(phoenix: str, span_id: str, marks: Sequence[Mark]) -> None:
    """Annotate a root as the server does for readers."""
    inputs = [
        {
            "span_id": span_id,
            "name": name,
            "annotator_kind": "HUMAN",
            "identifier": voter,
            "result": {"label": label, "score": score},
        }
        for name, label, score, voter in marks
    ]
    address = f"{phoenix}/v1/span_annotations?sync=true"
    httpx2.post(address, json={"data": inputs}, timeout=60).raise_for_status()


@pytest.fixture
def configured(phoenix: str, traced: Traced, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", phoenix)
    monkeypatch.setenv("PHOENIX_PROJECT_NAME", PROJECT)
    return monkeypatch


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Output of a command."""
    with pytest.raises(SystemExit) as ended:
        main(["traces", *arguments])
    assert (ended.value.code or 0) == code
    return capsys.readouterr().out


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = json.loads(run(capsys, "list", "--json", *arguments))["traces"]
    return result


Ready = pytest.MonkeyPatch
Printed = pytest.CaptureFixture[str]


def test_the_last_come_first_over_several_pages(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    configured.setattr(traces, "PAGE", 2)
    answers = [*traced.quick, *traced.quota, traced.modelled]
    ids = [*(answer.trace_id for answer in answers), traced.search, traced.broken]
    assert [trace["trace_id"] for trace in listed(capsys)] == ids[::-1]
    assert [trace["trace_id"] for trace in listed(capsys, "--limit", "3")] == ids[:-4:-1]


def test_a_trace_is_listed_with_what_its_answer_says(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    by_id = {trace["trace_id"]: trace for trace in listed(capsys)}
    answer = traced.quick[0]
    report = by_id[answer.trace_id]
    per_corpus = answer.to_dict()["retrieval"]["per_corpus"]
    assert {
        "span_id": answer.span_id,
        "kind": "ask",
        "target": "k10_extractive",
        "outcome": "ANSWER",
        "corpus_filter": "all",
        "citations": len(answer.citations),
        "candidates": {corpus: of["candidates"] for corpus, of in per_corpus.items()},
        "cited": {corpus: of["cited"] for corpus, of in per_corpus.items()},
        "feedback": {"clarity": {"count": 1, "mean": 4.0}, "thumbs": {"count": 2, "mean": 0.5}},
    }.items() <= report.items()
    assert "question" not in report
    assert report["seconds"] > 0
    assert by_id[traced.quick[1].trace_id]["outcome"] == "ABSTAIN"
    model = by_id[traced.modelled.trace_id]
    usage = traced.modelled.writer.usage
    assert (model["prompt_tokens"], model["completion_tokens"]) == (
        usage.prompt_tokens,
        usage.completion_tokens,
    )
    assert model["cost"] == usage.prompt_tokens + usage.completion_tokens > 0
    assert by_id[traced.search]["target"] == "k10_extractive"


def test_traces_are_chosen_by_target_kind_and_time(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    quota = [answer.trace_id for answer in reversed(traced.quota)]
    for name in ("k15_quota", "k15_quota_sentences_atlas_demo"):
        assert [trace["trace_id"] for trace in listed(capsys, "--target", name)] == quota
    searches = listed(capsys, "--kind", "search")
    assert [trace["trace_id"] for trace in searches] == [traced.broken, traced.search]
    assert len(listed(capsys, "--kind", "search", "--kind", "ask")) == 7
    assert listed(capsys, "--target", "nobodys") == []
    since = searches[0]["started"]
    assert [trace["trace_id"] for trace in listed(capsys, "--since", since)] == [traced.broken]


def test_the_table_shows_questions_only_where_they_are_asked_for(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    plain = run(capsys)
    assert traced.quick[0].trace_id in plain
    assert "clarity 4.00 (1), thumbs 0.50 (2)" in plain
    assert QUESTIONS[1] not in plain
    assert QUESTIONS[1] in run(capsys, "--limit", "20", "--questions")


def test_the_check_finds_the_request_that_was_not_equally_deep(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    result = json.loads(run(capsys, "check", "--json", code=1))
    assert (result["checked"], result["equal"], result["unequal"]) == (7, 6, 1)
    (request,) = result["requests"]
    assert (request["trace_id"], request["depth"]) == (traced.broken, 200)
    of = request["corpora"]
    assert of["legal_us"]["dense"] == 10 < of["legal_us"]["due"]
    assert all(of[corpus]["dense"] == of[corpus]["due"] for corpus in of if corpus != "legal_us")
    message = run(capsys, "check", code=1)
    assert f"legal_us 10 of {of['legal_us']['due']}" in message
    assert "7 requests over all corpora were checked" in message
    assert "1 unequal." in message
    even = run(capsys, "check", "--target", "k15_quota")
    assert "2 requests over all corpora were checked" in even
    assert "none unequal." in even


def test_two_targets_are_compared_over_their_common_questions(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    result = json.loads(run(capsys, "compare", "k10_extractive", "k15_quota", "--json"))
    assert result["questions"] == 2
    quick, quota = result["targets"]
    assert quick["decisions"] == quota["decisions"] == {"ABSTAIN": 1, "ANSWER": 1}
    assert quick["feedback"]["thumbs"] == {"count": 2, "mean": 0.5}
    assert quota["feedback"] == {}
    assert quick["citations"] == sum(len(answer.citations) for answer in traced.quick) / 2
    pair = result["pairs"][0]  # in alphabetical order
    assert "question" not in pair
    assert [each["trace_id"] for each in pair["answers"]] == [
        traced.quick[0].trace_id,
        traced.quota[0].trace_id,
    ]
    cited_by = [
        {citation.passage.id for citation in answers[0].citations}
        for answers in (traced.quick, traced.quota)
    ]
    assert pair["cited_by_both"] == len(cited_by[0] & cited_by[1])
    assert pair["cited_by_either"] == len(cited_by[0] | cited_by[1])


def test_without_content_nothing_is_paired_and_it_says_so(
    configured: Ready, phoenix: str, services: Services, capsys: Printed
) -> None:
    tracer = Tracer(phoenix, "without content", content=False, delay=0.2)
    atlas = Atlas(traced_by(services, tracer))
    trace = atlas.ask(QUESTIONS[0]).trace_id
    atlas.ask(QUESTIONS[0], target="k15_quota")
    end(tracer, phoenix, "without content", 2)
    configured.setenv("PHOENIX_PROJECT_NAME", "without content")
    with pytest.raises(SystemExit) as ended:
        main(["traces", "compare", "k10_extractive", "k15_quota"])
    assert ended.value.code == 1
    assert "not in the traces (TRACE_CONTENT=0)" in capsys.readouterr().err
    report = [one for one in listed(capsys, "--questions") if one["trace_id"] == trace]
    assert [(one["question"], one["outcome"]) for one in report] == [("", "ANSWER")]
    assert "none unequal." in run(capsys, "check")


FILTERED = "filters"
LIBEL = QUESTIONS[0]
INVENTED = "A council may sue [legal_uk.invented p9]."
VERSION = "0123456789ab"  # stands on the page for that of a prompt
FILTERS = {what: SPAN.findall(said)[0] for what, said in items("docs/phoenix.md", "Filters")}
QUERY = """
query ($project: String!, $condition: String!) {
  getProjectByName(name: $project) {
    spans(first: 1000, filterCondition: $condition) { edges { node { trace { traceId } } } }
  }
}
"""
FOUND = {
    "not equally deep in every corpus": {"shallow", "shallow search"},
    "searched by the index, which may miss some": {"by the index"},
    "over one corpus": {"one corpus", "slow"},
    "of one target": {"quota", "quota search"},
    "declined": {"declined", "declined by a filter"},
    "blocked": {"blocked"},
    "written by another than the target's model": {"fallback"},
    "written twice, as the first text did not hold": {"repaired", "blocked"},
    "checks that found a wrong citation": {"repaired", "blocked"},
    "from the cache": {"kept"},
    "slow": {"slow"},
    "failed": {"failed"},
    "cancelled": {"cancelled"},
    "rated down": {"rated down", "rated both"},
    "marked low": {"rated down"},
    "one conversation": {"conversation"},
    "long prompts": {"long prompt"},
    "one version of a prompt": {
        "written",
        "long prompt",
        "repaired",
        "blocked",
        "fallback",
        "failed",
    },
    "an evaluation": {"evaluation"},
}
"""The cases that a filter must find."""

TOLD: dict[str, Callable[[Trace], bool]] = {
    "a corpus of which no passage was kept": lambda trace: (
        trace.kind == "ask" and trace.counts.kept.get("legal_uk") == 0
    ),
    "uneven citations, of some corpus none": lambda trace: trace.imbalance.get("cited") == 1,
    "over all corpora": lambda trace: trace.corpus_filter == "all",
}
"""Cases that other filters must find, by what their roots tell."""

CASES: dict[str, Callable[[Atlas], object]] = {
    "plain": lambda atlas: atlas.ask(LIBEL),
    "search": lambda atlas: atlas.search(LIBEL),
    "one corpus": lambda atlas: atlas.ask(LIBEL, corpora=["legal_uk"]),
    "quota": lambda atlas: atlas.ask(LIBEL, target="k15_quota"),
    "quota search": lambda atlas: atlas.search(LIBEL, target="k15_quota"),
    "conversation": lambda atlas: atlas.ask(LIBEL, session_id="session-7"),
    "declined": lambda atlas: atlas.ask("How long should I roast a chicken?"),
    "declined by a filter": lambda atlas: atlas.ask(LIBEL, filters={"court": "None such"}),
    "shallow": lambda atlas: Atlas(shallow(atlas.services, "legal_us", 10)).ask(LIBEL),
    "shallow search": lambda atlas: Atlas(shallow(atlas.services, "legal_uk", 10)).search(LIBEL),
}
RATED: dict[str, list[Mark]] = {
    "rated up": [("thumbs", "up", 1.0, "anna"), ("accuracy", None, 5.0, "anna")],
    "rated down": [("thumbs", "down", 0.0, "anna"), ("accuracy", None, 2.0, "anna")],
    "rated both": [("thumbs", "up", 1.0, "anna"), ("thumbs", "down", 0.0, "bert")],
}
"""Names, labels and scores of annotations, and who gave them."""


class Held(NamedTuple):
    """Traces in Phoenix by the names of their cases, and the version of the rules."""

    traces: dict[str, Trace]
    version: str


@pytest.fixture(scope="module")
def held(phoenix: str, services: Services) -> Held:
    tracer = Tracer(phoenix, FILTERED, content=True, delay=0.2)
    own = traced_by(services, tracer)
    for name, ask in CASES.items():
        with case(name):
            ask(Atlas(own))
    for name in RATED:
        with case(name):
            Atlas(own).ask(LIBEL)
    ask_model(own)
    with case("by the index"), by_index(own) as indexed:
        Atlas(indexed).ask(LIBEL)
    with case("cancelled"), suppress(Cancelled):
        stop = Stop()
        stop.set()
        Atlas(own).search(LIBEL, stop=stop)
    with case("evaluation"), label_traces(**{"eval.run": "20260131T120000-0123abcd"}):
        Atlas(own).ask(LIBEL)
    take_long(tracer)
    end(tracer, phoenix, FILTERED, len(CASES) + len(RATED) + 11)
    held = Held(read_roots(phoenix), version_of(own.answerer.rules["system"]))
    for name, marks in RATED.items():
        rate(phoenix, held.traces[name].span_id, marks)
    return held


@contextmanager
def by_index(services: Services) -> Iterator[Services]:
    """The services, whose corpora are found by the index though they are small."""
    with patch.object(embedded, "EXACT_UP_TO", 0):
        store = EmbeddedStore(services.settings.collection_folder)
    try:
        searcher = replace(services.searcher, store=store)
        answerer = replace(services.answerer, searcher=searcher)
        yield replace(services, store=store, answerer=answerer)
    finally:
        store.close()


@contextmanager
def case(name: str) -> Iterator[None]:
    """The root that is opened says its case: that of a search by the id that every span has."""
    with label_traces(case=name), identify(Ids(user_id=name)):
        yield


def ask_model(services: Services) -> None:
    """Ask for what only a language model brings about."""
    with answered_by("openai", services) as (modelled, server):
        server.says(cited)
        for name in ("written", "kept"):
            with case(name):
                asked(modelled, LIBEL)
    with answered_by("openai", services, kept=False) as (modelled, server):
        server.says(lambda request: Says(cited(request), usage=(5000, 7)))
        with case("long prompt"):
            asked(modelled, LIBEL)
        server.says(cited)
        server.then(Says(INVENTED))
        with case("repaired"):
            asked(modelled, LIBEL)
        server.says(INVENTED)
        with case("blocked"):
            asked(modelled, LIBEL)
        server.says(lambda _: Reply(500))
        with case("fallback"):
            asked(modelled, LIBEL, llm_fallback="extractive")
        with case("failed"), suppress(ModelUnavailable):
            asked(modelled, LIBEL)


def take_long(tracer: Tracer) -> None:
    """An answer that took 12 seconds."""
    now = time.time_ns()
    report = {"case": "slow", "corpus_filter": "legal_uk", "decision": "ANSWER"}
    span = tracer._tracer.start_span("ask", attributes=report, start_time=now - 12 * 10**9)
    span.end(now)


def read_roots(phoenix: str) -> dict[str, Trace]:
    address = f"{phoenix}/v1/projects/{FILTERED}/spans"
    query = {"parent_id": "null", "limit": 1000}
    spans = httpx2.get(address, params=query, timeout=60).json()["data"]
    return {
        span["attributes"].get("case") or span["attributes"]["user.id"]: read_trace(span)
        for span in spans
    }


def filtered(phoenix: str, condition: str) -> set[str]:
    """The ids of the traces of which Phoenix' own filter keeps a span."""
    body = {"query": QUERY, "variables": {"project": FILTERED, "condition": condition}}
    answer = httpx2.post(f"{phoenix}/graphql", json=body, timeout=60).json()
    assert "errors" not in answer, answer
    edges = answer["data"]["getProjectByName"]["spans"]["edges"]
    return {edge["node"]["trace"]["traceId"] for edge in edges}


def test_every_filter_of_the_page_is_tried_here() -> None:
    assert FOUND.keys() | TOLD.keys() == FILTERS.keys()


@pytest.mark.parametrize("what", FILTERS)
def test_a_filter_finds_what_it_names_and_nothing_else(phoenix: str, held: Held, what: str) -> None:
    expected = FOUND.get(what) or {name for name, trace in held.traces.items() if TOLD[what](trace)}
    names = {trace.trace_id: name for name, trace in held.traces.items()}
    result = filtered(phoenix, FILTERS[what].replace(VERSION, held.version))
    assert {names[trace_id] for trace_id in result} == expected
    assert 0 < len(expected) < len(names)
