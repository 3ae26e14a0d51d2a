"""Whether all corpora were searched to the same depth, by what roots tell."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.atlas import Atlas
from atlas_search.cli import traces as commands
from atlas_search.cli.main import main
from atlas_search.cli.traces import depth_sentences
from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop
from atlas_search.evaluation.traces import (
    DepthCheck,
    Told,
    Trace,
    TraceFilter,
    Verdict,
    check_depth,
    depths,
    read_trace,
    verdict,
)
from atlas_search.search.trace import depth_imbalance
from atlas_search.services import Services
from tests.spans.recorded import named
from tests.traces.made import as_phoenix, shallow, trace_of

MOMENT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
QUESTION = "Can a local authority sue a newspaper for libel?"
TWO_PARTS = "When was the death penalty abolished in Britain, and who may marry in New Zealand?"


def roots(exported: InMemorySpanExporter) -> list[Trace]:
    found = [span for span in exported.get_finished_spans() if span.parent is None]
    return [read_trace(as_phoenix(span)) for span in found]


def told(depth: int, **by_corpus: tuple[int, int, int]) -> Trace:
    """A root that tells what could be found of each corpus, and what each leg gave."""
    legs = ("available", "dense", "lexical")
    figures = {
        f"{leg}__{corpus}": count
        for corpus, counts in by_corpus.items()
        for leg, count in zip(legs, counts, strict=True)
    }
    return trace_of(1, large_retrieval_size=depth, **figures)


def test_real_requests_are_equally_deep(traced: Services, exported: InMemorySpanExporter) -> None:
    atlas = Atlas(traced)
    atlas.ask(QUESTION)
    atlas.ask(QUESTION, mode="compare")
    atlas.search(TWO_PARTS)
    atlas.search(QUESTION, filters={"date": {"from": "1990-01-01"}})
    found = check_depth(roots(exported))
    assert found.verdicts == {"equal": 4, "unequal": 0, "unknown": 0, "unfinished": 0}
    assert found.first
    assert found.last
    assert found.first < found.last


def test_roots_tell_what_could_be_found_and_what_each_leg_gave(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION, filters={"date": {"from": "1990-01-01"}})
    for span in ("ask", "search"):
        said = named(exported, span)
        assert said["imbalance.depth"] == 0
        for corpus in answer.scope.corpora:
            assert said[f"available.{corpus.id}"] == corpus.passages < corpus.all_passages
            counts = answer.result.per_corpus[corpus.id]
            assert said[f"dense.{corpus.id}"] == counts.dense
            assert said[f"lexical.{corpus.id}"] == counts.lexical


def test_a_search_tells_its_target(traced: Services, exported: InMemorySpanExporter) -> None:
    Atlas(traced).search(QUESTION)
    assert named(exported, "search")["target"] == "k10_extractive"
    exported.clear()
    Atlas(traced).ask(QUESTION)
    assert "target" not in named(exported, "search")


def test_a_corpus_that_is_searched_less_deep_is_found(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    broken = shallow(traced, "legal_us", 10)
    Atlas(broken).ask(QUESTION)
    Atlas(broken).search(QUESTION)
    Atlas(broken).search(QUESTION, corpora=["legal_uk"])  # not over all: not checked
    found = check_depth(roots(exported))
    assert [each.trace.kind for each in found.unequal] == ["ask", "search"]
    assert found.checked == 2
    (lacking,) = [of for of in found.unequal[0].corpora if not of.as_due]
    assert (lacking.corpus, lacking.dense) == ("legal_us", 10)
    assert lacking.due == lacking.available > 100
    assert named(exported, "ask")["imbalance.depth"] == round(1 - 10 / lacking.due, 4)


@pytest.mark.parametrize(
    ("trace", "expected"),
    [
        (told(200, uk=(900, 200, 150), us=(900, 200, 200)), "equal"),
        (told(200, uk=(900, 200, 0), nz=(40, 40, 12)), "equal"),  # a corpus smaller than the depth
        (told(200, uk=(900, 200, 9), nz=(0, 0, 0)), "equal"),  # a filter leaves nothing
        (told(200, uk=(900, 200, 9), us=(900, 199, 200)), "unequal"),
        (told(200, uk=(900, 200, 9), us=(900, 300, 200)), "unequal"),  # deeper than asked
        (told(200, uk=(900, 200, 9), us=(900, 200, 201)), "unequal"),
        (told(200, uk=(900, 200, 9), nz=(40, 39, 12)), "unequal"),
        (trace_of(1, large_retrieval_size=200, candidates__uk=200, candidates__us=20), "unknown"),
        (trace_of(1, status="ERROR"), "unfinished"),
        (trace_of(1, cancelled=True), "unfinished"),
    ],
)
def test_each_corpus_owes_the_depth_or_all_that_could_be_found(trace: Trace, expected: str) -> None:
    assert verdict(trace) == expected


def test_a_corpus_that_says_nothing_of_a_leg_gave_nothing() -> None:
    trace = trace_of(1, large_retrieval_size=5, available__uk=9, available__us=9, dense__uk=5)
    assert [(of.corpus, of.dense, of.as_due) for of in depths(trace.counts)] == [
        ("uk", 5, True),
        ("us", 0, False),
    ]


@pytest.mark.parametrize(
    ("depth", "available", "dense", "expected"),
    [
        (200, {"a": 900, "b": 900}, {"a": 200, "b": 200}, 0.0),
        (200, {"a": 900, "b": 40}, {"a": 200, "b": 40}, 0.0),
        (200, {"a": 900, "b": 900}, {"a": 200, "b": 50}, 0.75),  # 1 - 50 / 200
        (200, {"a": 900, "b": 40}, {"a": 200, "b": 30}, 0.25),  # 1 - 30 / 40
        (200, {"a": 900, "b": 900}, {"a": 200}, 1.0),
        (200, {"a": 0, "b": 0}, {}, 0.0),
    ],
)
def test_the_imbalance_of_the_depth_is_what_a_corpus_lacks_of_its_due(
    depth: int, available: dict[str, int], dense: dict[str, int], expected: float
) -> None:
    assert depth_imbalance(depth, available, dense) == expected


def test_a_request_that_was_stopped_is_counted_apart(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    stop = Stop()
    stop.set("The client went away.")
    with pytest.raises(Cancelled):
        Atlas(traced).search(QUESTION, stop=stop)
    (trace,) = roots(exported)
    assert (trace.outcome, trace.kind) == ("cancelled", "search")


class Holding:
    """Stands in the place of Phoenix' project, and holds these traces."""

    def __init__(self, *traces: Trace):
        self._traces = traces

    def traces(self, _: TraceFilter) -> Iterator[Trace]:
        return iter(self._traces)

    def tell(self, traces: Iterable[Trace]) -> Iterator[Told]:
        return (Told(trace, trace.spent, {}) for trace in traces)


OLD = trace_of(1, large_retrieval_size=200, candidates__uk=200)
ONE_CORPUS = replace(told(200, uk=(900, 200, 9)), corpus_filter="uk")
EVEN, UNEVEN = told(200, uk=(900, 200, 9)), told(200, uk=(900, 10, 9))


@pytest.mark.parametrize(
    ("held", "status", "said"),
    [
        ((), 3, "No request over all corpora was found that could be checked."),
        ((ONE_CORPUS,), 3, "No request over all corpora was found that could be checked."),
        ((OLD, OLD), 3, "2 more cannot be checked: an earlier version traced them."),
        ((trace_of(1, cancelled=True),), 3, "1 more failed or was cancelled."),
        ((OLD, EVEN), 0, "1 request over all corpora was checked"),
        ((OLD, UNEVEN), 1, "1 unequal."),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_only_a_check_that_checked_something_succeeds(
    held: tuple[Trace, ...],
    status: int,
    said: str,
    as_json: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding(*held))
    with pytest.raises(SystemExit) as ended:
        main(["traces", "check", *(["--json"] if as_json else [])])
    assert (ended.value.code or 0) == status
    printed = capsys.readouterr().out
    if as_json:
        assert (json.loads(printed)["checked"] == 0) is (status == 3)
    else:
        assert said in printed


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, "1 request over all corpora was checked, 2026-01-02 03:04"),
        (2, "2 requests over all corpora were checked, 2026-01-02 03:04"),
    ],
)
def test_one_is_told_as_one(count: int, said: str) -> None:
    verdicts: dict[Verdict, int] = {
        "equal": count,
        "unequal": 0,
        "unfinished": count,
        "unknown": 0,
    }
    check = DepthCheck(verdicts=verdicts, unequal=(), first=MOMENT, last=MOMENT)
    checked, unfinished = depth_sentences(check)
    assert checked.startswith(said)
    assert unfinished == f"{count} more failed or {'was' if count == 1 else 'were'} cancelled."
