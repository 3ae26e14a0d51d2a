"""Whether questions were answered or declined, rightly, and what the answers cite."""

import pytest

from atlas_search.evaluation import metrics
from atlas_search.evaluation.labels import Decision, GoldSpan, Label
from atlas_search.evaluation.metrics import Case, Reply, Tools, confusion
from tests.hash_embedder import HashEmbedder
from tests.replies import citation, passage, reply

TOOLS = Tools(HashEmbedder())
KNOWN = Label("q1", "", "", "?", ("Seven days",), frozenset({"a", "b"}))
UNKNOWN = Label("q2", "", "", "?")
BLOCKED = Label("q3", "", "", "?", expected_decision="BLOCK")


def test_false_refusals_and_accepts_are_counted_apart() -> None:
    def decided(label: Label, decision: Decision) -> dict[str, float]:
        return metrics.measure_decisions(Case(label, reply(decision, "So."), TOOLS))

    assert decided(KNOWN, "ABSTAIN") == {"answered": 0, "false_refusal": 1, "decided": 0}
    assert decided(KNOWN, "ANSWER") == {"answered": 1, "false_refusal": 0, "decided": 1}
    assert decided(UNKNOWN, "ANSWER") == {"rejected": 0, "false_accept": 1, "decided": 0}
    assert decided(UNKNOWN, "BLOCK") == {"rejected": 1, "false_accept": 0, "decided": 1}
    assert decided(BLOCKED, "BLOCK")["as_expected"] == 1
    assert decided(BLOCKED, "ABSTAIN")["as_expected"] == 0
    assert decided(BLOCKED, "ABSTAIN")["decided"] == 1


def test_the_table_of_decisions() -> None:
    failed = Reply(label_id="q1", seconds=0.1, error="The server is down.")
    asked = [
        (KNOWN, reply("ANSWER", "So.")),
        (KNOWN, reply("ANSWER", "So.")),
        (KNOWN, reply("ABSTAIN")),
        (KNOWN, failed),
        (UNKNOWN, reply("ANSWER", "So.")),
        (BLOCKED, reply("BLOCK")),
    ]
    assert confusion(asked) == {
        ("ANSWER", "ANSWER"): 2,
        ("ANSWER", "ABSTAIN"): 1,
        ("ABSTAIN", "ANSWER"): 1,
        ("BLOCK", "BLOCK"): 1,
    }


def cited(
    label: Label, *given: dict[str, object], decision: Decision = "ANSWER"
) -> dict[str, float]:
    return metrics.measure_citations(
        Case(label, reply(decision, "So.", citations=list(given)), TOOLS)
    )


def test_citations_are_gold_by_their_documents() -> None:
    figures = cited(KNOWN, citation("a"), citation("a", number=1), citation("x"))
    assert figures["citation_precision"] == 2 / 3
    assert figures["citation_recall"] == 1 / 2


def test_citations_are_gold_by_their_places_where_those_are_known() -> None:
    spans = (GoldSpan("a", 0, 10), GoldSpan("a", 500, 600), GoldSpan("b", 0, 10))
    label = Label("q1", "", "", "?", gold_document_ids=frozenset({"a", "b"}), gold_spans=spans)
    figures = cited(label, citation("a", "y" * 10), citation("a", "y" * 10, number=2))
    assert figures["citation_precision"] == 1 / 2
    assert figures["citation_recall"] == 1 / 3
    named = Label("q1", "", "", "?", gold_passage_ids=frozenset({"a.0-10"}))
    assert cited(named, citation("a", "y" * 10))["citation_recall"] == 1
    assert "cites_gold" not in cited(named, citation("a"))


def test_without_an_answer_nothing_is_cited() -> None:
    figures = cited(KNOWN, decision="ABSTAIN")
    assert figures["citation_recall"] == 0
    assert "citation_precision" not in figures
    assert "citation_recall" not in cited(UNKNOWN, citation("a"))
    assert cited(KNOWN)["citation_precision"] == 0


@pytest.mark.parametrize(("share", "whole"), [(1.0, 1.0), (0.5, 0.0)])
def test_an_answer_is_grounded_if_every_sentence_is(share: float, whole: float) -> None:
    figures = metrics.measure_citations(Case(KNOWN, reply("ANSWER", "So.", grounded=share), TOOLS))
    assert (figures["sentence_groundedness"], figures["grounded"]) == (share, whole)


def right(
    label: Label, text: str, *of: str, decision: Decision = "ANSWER", kept: str = "Seven days."
) -> dict[str, float]:
    came = reply(decision, text, cited=of, passages=[passage("a", kept)])
    measured = metrics.measure_answers(Case(label, came, TOOLS))
    return {name: value for name, value in measured.items() if name == "right"}


def test_an_answer_is_right_if_it_holds_a_reference() -> None:
    assert right(KNOWN, "It is seven days, no more.") == {"right": 1}
    assert right(KNOWN, "A week.", "a") == {"right": 0}
    assert right(UNKNOWN, "Seven days.") == {"right": 0}
    assert right(KNOWN, "", decision="ABSTAIN") == {}


def test_of_a_paraphrase_an_answer_is_right_if_it_cites_gold() -> None:
    assert right(KNOWN, "A week.", "a", kept="One week.") == {"right": 1}
    assert right(KNOWN, "A week.", "x", kept="One week.") == {"right": 0}
    spans = (GoldSpan("a", 500, 600),)
    placed = Label("q1", "", "", "?", ("Seven days",), frozenset({"a"}), gold_spans=spans)
    assert right(placed, "A week.", "a", kept="One week.") == {"right": 0}


def test_without_a_reference_an_answer_is_right_if_it_cites_gold() -> None:
    gold = Label("q1", "", "", "?", gold_document_ids=frozenset({"a"}))
    assert right(gold, "So.", "x", "a") == {"right": 1}
    assert right(gold, "So.", "x") == {"right": 0}
    assert right(Label("q1", "", "", "?", should_answer=True), "So.", "a") == {}


def aged(days: int, violations: int, *, stale: bool) -> dict[str, float]:
    told = {"freshness": {"freshness_days": days, "violations": violations, "stale": stale}}
    came = reply("ABSTAIN", passages=[passage("a"), passage("b")], retrieval=told)
    return metrics.measure_sources(Case(KNOWN, came, TOOLS))


def test_passages_older_than_allowed_are_counted() -> None:
    assert aged(30, 1, stale=False) == {"freshness_violations": 1 / 2, "stale": 0}
    assert aged(30, 2, stale=True) == {"freshness_violations": 2 / 2, "stale": 1}
    assert aged(0, 0, stale=False) == {}


def test_an_answer_from_superseded_sources_alone_is_told() -> None:
    old = citation("a") | {"metadata": {"superseded_by": "b"}}
    new = citation("b")

    def superseded(*given: dict[str, object], category: str = "stale") -> float | None:
        label = Label("q1", "", category, "?", gold_document_ids=frozenset({"a", "b"}))
        came = reply("ANSWER", "So.", citations=list(given))
        return metrics.measure_sources(Case(label, came, TOOLS)).get("superseded")

    assert superseded(old) == superseded(old, category="conflicting") == 1
    assert superseded(old, new) == superseded(new) == 0
    assert superseded() is superseded(old, category="factual") is None


def test_a_question_about_a_superseded_source_may_be_answered_from_it() -> None:
    old = citation("a") | {"metadata": {"superseded_by": "b"}}
    label = Label("q1", "", "stale", "?", gold_document_ids=frozenset({"a"}))
    came = reply("ANSWER", "So.", citations=[old])
    assert metrics.measure_sources(Case(label, came, TOOLS)) == {"superseded": 0}


def test_contradictions_are_told_where_they_are_and_nowhere_else() -> None:
    side = {"passage_id": "p", "title": "t", "quote": "q"}

    def conflicts(
        category: str, *, stated: bool, kind: str = "", of: str = "number"
    ) -> dict[str, float]:
        found = [{"kind": of, "detail": "d", "stated": stated, "first": side, "second": side}]
        label = Label("q1", "", category, "?", ("x",), kind=kind)
        return metrics.measure_sources(Case(label, reply("ANSWER", "So.", conflicts=found), TOOLS))

    assert conflicts("conflicting", stated=True) == {"conflict_stated": 1}
    assert conflicts("", stated=False, kind="conflicting") == {"conflict_stated": 0}
    assert conflicts("factual", stated=True) == {"false_conflict": 1}
    assert conflicts("factual", stated=False) == {"false_conflict": 0}
    assert conflicts("factual", stated=True, of="repealed") == {"false_conflict": 0}
    assert conflicts("stale", stated=True) == {}
