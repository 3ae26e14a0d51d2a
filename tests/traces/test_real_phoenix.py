"""`atlas traces` with a real Phoenix that holds traces of real requests."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2
import pytest

from atlas_search.answer.answer import Answer
from atlas_search.atlas import Atlas
from atlas_search.cli.main import main
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.evaluation import traces
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.servers import wait_for
from tests.spans.recorded import trace_with
from tests.test_generate import cited
from tests.traces.made import shallow

pytestmark = pytest.mark.phoenix

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
    """What was asked, in order: twice two questions, one of a model, and two searches."""

    quick: list[Answer]
    quota: list[Answer]
    modelled: Answer
    search: str
    broken: str


@pytest.fixture(scope="module")
def traced(phoenix: str, services: Services) -> Traced:
    tracer = Tracer(phoenix, PROJECT, content=True, delay=0.2)
    own = trace_with(services, tracer)
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
        found = httpx2.get(address, timeout=60)
        return (found.is_success and len(found.json()["data"]) == roots) or None

    wait_for(arrived, 180, "the roots")  # Phoenix shares two cores with all other tests


def rate(phoenix: str, span_id: str, marks: Sequence[Mark]) -> None:
    """Annotate a root as the server does for readers."""
    given = [
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
    httpx2.post(address, json={"data": given}, timeout=60).raise_for_status()


@pytest.fixture
def configured(phoenix: str, traced: Traced, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("PHOENIX_COLLECTOR_ENDPOINT", phoenix)
    monkeypatch.setenv("PHOENIX_PROJECT_NAME", PROJECT)
    return monkeypatch


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """What a command prints."""
    with pytest.raises(SystemExit) as ended:
        main(["traces", *arguments])
    assert (ended.value.code or 0) == code
    return capsys.readouterr().out


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(capsys, "list", "--json", *arguments))["traces"]
    return found


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
    told = by_id[answer.trace_id]
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
    }.items() <= told.items()
    assert "question" not in told
    assert told["seconds"] > 0
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
    found = json.loads(run(capsys, "check", "--json", code=1))
    assert (found["checked"], found["equal"], found["unequal"]) == (7, 6, 1)
    (request,) = found["requests"]
    assert (request["trace_id"], request["depth"]) == (traced.broken, 200)
    of = request["corpora"]
    assert of["legal_us"]["dense"] == 10 < of["legal_us"]["due"]
    assert all(of[corpus]["dense"] == of[corpus]["due"] for corpus in of if corpus != "legal_us")
    said = run(capsys, "check", code=1)
    assert f"legal_us 10 of {of['legal_us']['due']}" in said
    assert "7 requests over all corpora were checked" in said
    assert "1 unequal." in said


def test_the_check_is_content_where_all_are(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    said = run(capsys, "check", "--target", "k15_quota")
    assert "2 requests over all corpora were checked" in said
    assert "none unequal." in said


def test_a_check_of_nothing_is_no_success(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    said = run(capsys, "check", "--target", "nobodys", code=3)
    assert "No request over all corpora was found that could be checked." in said


def test_two_targets_are_compared_over_their_common_questions(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    found = json.loads(run(capsys, "compare", "k10_extractive", "k15_quota", "--json"))
    assert found["questions"] == 2
    quick, quota = found["targets"]
    assert quick["decisions"] == quota["decisions"] == {"ABSTAIN": 1, "ANSWER": 1}
    assert quick["feedback"]["thumbs"] == {"count": 2, "mean": 0.5}
    assert quota["feedback"] == {}
    assert quick["citations"] == sum(len(answer.citations) for answer in traced.quick) / 2
    pair = found["pairs"][0]  # in alphabetical order
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


def test_a_composite_target_is_compared_and_the_table_shows_both(
    configured: Ready, traced: Traced, capsys: Printed
) -> None:
    said = run(capsys, "compare", "model_atlas_demo", "k15_quota", "--questions")
    assert "model_atlas_demo" in said
    assert QUESTIONS[0] in said
    assert QUESTIONS[1] not in said
    assert "Answers of k15_quota left out: 1 to questions that the other was not asked." in said
    usage = traced.modelled.writer.usage
    assert f"{usage.prompt_tokens}, {usage.completion_tokens}" in said


def test_without_content_nothing_is_paired_and_it_says_so(
    configured: Ready, phoenix: str, services: Services, capsys: Printed
) -> None:
    tracer = Tracer(phoenix, "without content", content=False, delay=0.2)
    atlas = Atlas(trace_with(services, tracer))
    trace = atlas.ask(QUESTIONS[0]).trace_id
    atlas.ask(QUESTIONS[0], target="k15_quota")
    end(tracer, phoenix, "without content", 2)
    configured.setenv("PHOENIX_PROJECT_NAME", "without content")
    with pytest.raises(SystemExit) as ended:
        main(["traces", "compare", "k10_extractive", "k15_quota"])
    assert ended.value.code == 1
    assert "not in the traces (TRACE_CONTENT=0)" in capsys.readouterr().err
    told = [one for one in listed(capsys, "--questions") if one["trace_id"] == trace]
    assert [(one["question"], one["outcome"]) for one in told] == [("", "ANSWER")]
    assert "none unequal." in run(capsys, "check")
