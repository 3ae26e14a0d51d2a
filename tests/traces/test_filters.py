"""Every filter of the page, in a real Phoenix: it finds the traces that it names, and no other."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

import httpx2
import pytest

from atlas_search.answer.prompts import version_of
from atlas_search.atlas import Atlas
from atlas_search.core.errors import Cancelled, ModelUnavailable
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.names import Ids, identify, label_traces
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation.traces import Trace, read_trace
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import Reply, Says
from tests.spans.by_index import by_index
from tests.spans.recorded import trace_with
from tests.test_docs import SPAN, table
from tests.test_generate import cited
from tests.traces.made import shallow
from tests.traces.test_real_phoenix import Mark, end, rate

pytestmark = pytest.mark.phoenix

PROJECT = "filters"
QUESTION = "Can a local authority sue a newspaper for libel?"
INVENTED = "A council may sue [legal_uk.invented p9]."
VERSION = "0123456789ab"  # stands on the page for that of a prompt
FILTERS = {what: SPAN.findall(said)[0] for what, said in table("docs/phoenix.md", "Filters")}

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
    "uneven citations: of some corpus none": lambda trace: trace.imbalance.get("cited") == 1,
    "over all corpora": lambda trace: trace.corpus_filter == "all",
}
"""Which cases others must find, by what their roots tell."""

CASES: dict[str, Callable[[Atlas], object]] = {
    "plain": lambda atlas: atlas.ask(QUESTION),
    "search": lambda atlas: atlas.search(QUESTION),
    "one corpus": lambda atlas: atlas.ask(QUESTION, corpora=["legal_uk"]),
    "quota": lambda atlas: atlas.ask(QUESTION, target="k15_quota"),
    "quota search": lambda atlas: atlas.search(QUESTION, target="k15_quota"),
    "conversation": lambda atlas: atlas.ask(QUESTION, session_id="session-7"),
    "declined": lambda atlas: atlas.ask("How long should I roast a chicken?"),
    "declined by a filter": lambda atlas: atlas.ask(QUESTION, filters={"court": "None such"}),
    "shallow": lambda atlas: Atlas(shallow(atlas.services, "legal_us", 10)).ask(QUESTION),
    "shallow search": lambda atlas: Atlas(shallow(atlas.services, "legal_uk", 10)).search(QUESTION),
}

RATED: dict[str, list[Mark]] = {
    "rated up": [("thumbs", "up", 1.0, "anna"), ("accuracy", None, 5.0, "anna")],
    "rated down": [("thumbs", "down", 0.0, "anna"), ("accuracy", None, 2.0, "anna")],
    "rated both": [("thumbs", "up", 1.0, "anna"), ("thumbs", "down", 0.0, "bert")],
}
"""Names, labels and scores of annotations, and who gave them."""


class Held(NamedTuple):
    """What Phoenix holds: the traces by the names of their cases, and the version of the rules."""

    traces: dict[str, Trace]
    version: str


@pytest.fixture(scope="module")
def held(phoenix: str, services: Services) -> Held:
    tracer = Tracer(phoenix, PROJECT, content=True, delay=0.2)
    own = trace_with(services, tracer)
    for name, ask in CASES.items():
        with case(name):
            ask(Atlas(own))
    for name in RATED:
        with case(name):
            Atlas(own).ask(QUESTION)
    ask_model(own)
    with case("by the index"), by_index(own) as indexed:
        Atlas(indexed).ask(QUESTION)
    with case("cancelled"), suppress(Cancelled):
        stop = Stop()
        stop.set()
        Atlas(own).search(QUESTION, stop=stop)
    with case("evaluation"), label_traces(**{"eval.run": "20260131T120000-0123abcd"}):
        Atlas(own).ask(QUESTION)
    take_long(tracer)
    end(tracer, phoenix, PROJECT, len(CASES) + len(RATED) + 11)
    held = Held(read_roots(phoenix), version_of(own.answerer.rules["system"]))
    for name, marks in RATED.items():
        rate(phoenix, held.traces[name].span_id, marks)
    return held


@contextmanager
def case(name: str) -> Iterator[None]:
    """The root that is opened says its case: that of a search by the id that every span has."""
    with label_traces(case=name), identify(Ids(user_id=name)):
        yield


def ask_model(services: Services) -> None:
    """What only a language model brings about."""
    with answered_by("openai", services) as (modelled, server):
        server.says(cited)
        for name in ("written", "kept"):
            with case(name):
                asked(modelled, QUESTION)
    with answered_by("openai", services, kept=False) as (modelled, server):
        server.says(lambda request: Says(cited(request), usage=(5000, 7)))
        with case("long prompt"):
            asked(modelled, QUESTION)
        server.says(cited)
        server.then(Says(INVENTED))
        with case("repaired"):
            asked(modelled, QUESTION)
        server.says(INVENTED)
        with case("blocked"):
            asked(modelled, QUESTION)
        server.says(lambda _: Reply(500))
        with case("fallback"):
            asked(modelled, QUESTION, llm_fallback="extractive")
        with case("failed"), suppress(ModelUnavailable):
            asked(modelled, QUESTION)


def take_long(tracer: Tracer) -> None:
    """An answer that took 12 seconds."""
    now = time.time_ns()
    told = {"case": "slow", "corpus_filter": "legal_uk", "decision": "ANSWER"}
    span = tracer._tracer.start_span("ask", attributes=told, start_time=now - 12 * 10**9)
    span.end(now)


def read_roots(phoenix: str) -> dict[str, Trace]:
    address = f"{phoenix}/v1/projects/{PROJECT}/spans"
    query = {"parent_id": "null", "limit": 1000}
    spans = httpx2.get(address, params=query, timeout=60).json()["data"]
    return {
        span["attributes"].get("case") or span["attributes"]["user.id"]: read_trace(span)
        for span in spans
    }


def filtered(phoenix: str, condition: str) -> set[str]:
    """The ids of the traces of which Phoenix' own filter keeps a span."""
    body = {"query": QUERY, "variables": {"project": PROJECT, "condition": condition}}
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
    found = filtered(phoenix, FILTERS[what].replace(VERSION, held.version))
    assert {names[trace_id] for trace_id in found} == expected
    assert 0 < len(expected) < len(names)
