"""The page on traces lists what spans carry, and nothing else."""

import re
from collections import defaultdict
from dataclasses import replace
from typing import NamedTuple

import pytest

from atlas_search.answer.request import AskRequest
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.telemetry.names import SCHEMA, label_traces
from atlas_search.evaluation.asking import CATEGORY, RUN
from atlas_search.evaluation.asking import LABEL as EVALUATED
from atlas_search.evaluation.judge import MEASURES, judge_questions
from atlas_search.evaluation.scored import score
from atlas_search.planning import plan_answer
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.evaluation.judging import ANSWERED, GOOD, LABEL, TOOLS, Script, judge_of
from tests.openai_server import openai_server
from tests.recorded_spans import kind_of, recording, said, traced_by
from tests.telemetry.by_index import by_index
from tests.telemetry.conftest import cited
from tests.telemetry.test_searches import TWO_PARTS, Backwards, with_stage
from tests.test_docs import SPAN, items, text_of

PAGE = "docs/tracing.md"
QUESTION = "How do Britain and New Zealand treat libel of a local authority?"
HISTORY = (ChatTurn("user", QUESTION), ChatTurn("assistant", "No."))


class Carried(NamedTuple):
    """Kinds and attributes by span, as the page names them."""

    kinds: dict[str, str]
    attributes: dict[str, set[str]]


@pytest.fixture(scope="module")
def carried(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Carried:
    folder = tmp_path_factory.mktemp("judge")
    with recording() as (tracer, recorded):
        traced = traced_by(services, tracer)
        quoting = Atlas(traced)
        quoting.answer(
            replace(plan_answer(traced, AskRequest(question=QUESTION)), user_id="reading room")
        )
        quoting.search(TWO_PARTS)
        Atlas(with_stage(traced, Backwards())).search(QUESTION)
        with by_index(traced) as indexed:
            Atlas(indexed).search(QUESTION)
        with answered_by("openai", traced) as (modelled, server):
            server.says(cited)
            asked(modelled, QUESTION, llm_price_input=1.0)
            asked(modelled, QUESTION, history=HISTORY, condense_followups=True)
            asked(modelled, QUESTION, mode="compare")
            asked(modelled, QUESTION, verify="model")
            with label_traces(**dict.fromkeys((RUN, EVALUATED, CATEGORY), "x")):
                asked(modelled, QUESTION)
        with openai_server() as judge, judge_of(judge, folder, tracer=tracer) as panel:
            Script(judge, **GOOD)
            judge_questions(panel, TOOLS, "r1", [score(LABEL, ANSWERED, TOOLS)])
    corpora = "|".join(corpus.id for corpus in services.store.corpora)
    kinds: dict[str, str] = {}
    attributes: dict[str, set[str]] = defaultdict(set)
    for span in recorded.spans:
        name = re.sub(corpora, "<corpus>", kind_of(span))
        kinds[name] = said(span)["openinference.span.kind"]
        attributes[name] |= {_listed_as(each, corpora) for each in said(span)}
    return Carried(kinds, attributes)


def _listed_as(attribute: str, corpora: str) -> str:
    """How the page names an attribute: a list by its name alone."""
    if attribute.removeprefix("eval.") in MEASURES:
        return "eval.<figure>"
    return re.sub(rf"\.({corpora})$", ".<corpus>", re.sub(r"\.\d+\..*", "", attribute))


def listed(carried: Carried) -> dict[str, set[str]]:
    """The attributes of each span by the page."""
    found: dict[str, set[str]] = defaultdict(set)
    for head, _ in items(PAGE, "Attributes"):
        names, _, spans = head.partition(" on ")
        for span in carried.kinds if spans == "every span" else SPAN.findall(spans):
            found[span] |= set(SPAN.findall(names))
    return found


def test_the_page_lists_every_span_with_its_kind(carried: Carried) -> None:
    heads = (head.rpartition(" ") for head, _ in items(PAGE, "Spans"))
    assert {name.strip("`"): kind for name, _, kind in heads} == carried.kinds


def test_the_page_lists_every_attribute_that_a_span_carries(carried: Carried) -> None:
    known = listed(carried)
    missing = {span: own - known[span] for span, own in carried.attributes.items()}
    assert {span: names for span, names in missing.items() if names} == {}


def test_every_attribute_that_the_page_lists_is_carried(carried: Carried) -> None:
    optional = {
        name for head, _ in items(PAGE, "Attributes") for name in re.findall(r"`([^`]+)`\*", head)
    }
    every = set().union(*carried.attributes.values())
    for span, names in listed(carried).items():
        assert names - optional <= carried.attributes[span], span
        assert names <= every


def test_the_page_states_the_version_of_the_conventions() -> None:
    assert SCHEMA.rsplit("/", 1)[-1] in text_of(PAGE)
