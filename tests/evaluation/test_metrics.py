"""Figures of one question: its answer, decision, citations, sources and balance, by hand."""

import re
import string
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from atlas_search.evaluation import metrics
from atlas_search.evaluation.labels import Decision, GoldSpan, Label
from atlas_search.evaluation.metrics import (
    Case,
    Reply,
    Tools,
    confusion,
    contains_reference,
    exact_match,
    normalise,
    similarity,
    token_f1,
    without_markers,
)
from tests.hash_embedder import HashEmbedder
from tests.replies import citation, passage, reply


def test_f1_is_the_harmonic_mean_of_word_precision_and_recall() -> None:
    precision, coverage = 2 / 4, 2 / 3  # "seven days" of four words, and of three
    expected = 2 * precision * coverage / (precision + coverage)
    assert token_f1("Exactly seven whole days.", ["seven days, maximum"]) == expected


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("The cat", "cat", 1),
        ("The cat", "a cat sat", 2 * (1 / 1) * (1 / 2) / (1 / 1 + 1 / 2)),  # cat of cat, and of two
        ("The", "the", 1),
        ("The", "A", 0),
        ("The Who", "Who", 1),
    ],
)
def test_f1_counts_no_articles_unless_there_is_nothing_else(
    answer: str, reference: str, f1: float
) -> None:
    assert token_f1(answer, [reference]) == pytest.approx(f1)
    assert exact_match(answer, [reference]) == (f1 == 1)


@pytest.mark.parametrize("reference", ["A", "The", "😀", "", "…"])
def test_no_answer_is_no_reference(reference: str) -> None:
    for answer in ("", "😀"):
        assert not exact_match(answer, [reference])
        assert not contains_reference(answer, [reference])
        assert token_f1(answer, [reference]) == 0
    assert not contains_reference("Seven days", ["😀"])


@pytest.mark.parametrize(
    ("answer", "references", "contained"),
    [
        ("The Court said SEVEN days, no more.", ["seven days"], True),
        ("A week.", ["seven days", "a week"], True),
        ("Seven days", ["Seven days"], True),
        ("Seven long days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seventy-seven daysailers", ["seven days"], False),
        ("Seven", ["seven days"], False),
        ("", ["seven days"], False),
        ("Seven days", [], False),
    ],
)
def test_a_reference_is_contained_as_whole_words_in_order(
    answer: str, references: list[str], contained: bool
) -> None:
    assert contains_reference(answer, references) is contained


@pytest.mark.parametrize(
    ("answer", "references", "exact"),
    [
        ("The seven DAYS.", ["a week", "Seven days"], True),
        ("Seven days", ["An Seven, days!"], True),
        ("Exactly seven days", ["seven days"], False),
        ("Days seven", ["seven days"], False),
        ("Seven days", [], False),
        ("", ["seven days"], False),
    ],
)
def test_an_exact_match_is_a_reference_but_for_case_punctuation_and_articles(
    answer: str, references: list[str], exact: bool
) -> None:
    assert exact_match(answer, references) is exact


def test_texts_are_compared_in_lower_case_without_punctuation() -> None:
    assert normalise("  The Court's “seven-day” rule,\n§ 7_a! ") == "the court s seven day rule 7 a"


def test_similarity_is_the_cosine_with_the_closest_reference() -> None:
    embedder = HashEmbedder()
    answer, near, far = embedder.embed(["seven days", "seven whole days", "a week"])
    references = ["A week.", "Seven whole days!"]
    expected = max(float(answer @ near), float(answer @ far))
    assert similarity("Seven days.", references, embedder) == pytest.approx(expected)
    assert similarity("SEVEN, days", ["Seven days"], embedder) == pytest.approx(1)


def test_an_answer_is_compared_without_its_citation_tokens() -> None:
    answer = "Seven days [us.carpenter p1].\nIt is a search [us.katz p2] [us.jones p12]."
    assert without_markers(answer) == "Seven days . It is a search ."


# SQuAD 2.0 (Rajpurkar, Jia & Liang, Know What You Don't Know, 2018), its official evaluation
def squad_normalised(text: str) -> str:
    """Lower case, then no punctuation of ASCII, then no articles, then single blanks."""
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def squad_em(answer: str, reference: str) -> float:
    return float(squad_normalised(answer) == squad_normalised(reference))


def squad_f1(answer: str, reference: str) -> float:
    result, gold = (squad_normalised(text).split() for text in (answer, reference))
    if not result or not gold:
        return float(result == gold)  # of an unanswerable question both are empty
    same = sum((Counter(result) & Counter(gold)).values())
    if not same:
        return 0.0
    precision, recall = same / len(result), same / len(gold)
    return 2 * precision * recall / (precision + recall)


PLAIN = st.lists(
    st.sampled_from(
        ["The", "an", "a", "Lamp", "lamp,", "(keeper)", "1901.", '"sea"', "burnt!", "é"]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)


@settings(max_examples=300)
@given(PLAIN, PLAIN)
def test_exact_match_and_f1_are_squads(answer: str, reference: str) -> None:
    assume(squad_normalised(answer) and squad_normalised(reference))  # texts of articles: below
    assert float(exact_match(answer, [reference])) == squad_em(answer, reference)
    assert token_f1(answer, [reference]) == pytest.approx(squad_f1(answer, reference))


@pytest.mark.parametrize(
    ("answer", "reference", "squad", "ours"),
    [
        ("well-known", "well known", 0, 1),  # SQuAD joins what a hyphen divides
        ("wellknown", "well-known", 1, 0),
        ("U.S.", "US", 1, 0),  # and what a full stop divides
        ("\u201csea\u201d", "sea", 0, 1),  # its punctuation is that of ASCII
        ("the", "a", 1, 0),  # to SQuAD both are empty, and so the same
        ("", "", 1, 0),  # no answer is right there, and here one that was not given
    ],
)
def test_where_we_differ_from_squad(answer: str, reference: str, squad: int, ours: int) -> None:
    assert squad_em(answer, reference) == squad_f1(answer, reference) == squad
    assert exact_match(answer, [reference]) == ours
    assert token_f1(answer, [reference]) == ours


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
    arguments = [
        (KNOWN, reply("ANSWER", "So.")),
        (KNOWN, reply("ANSWER", "So.")),
        (KNOWN, reply("ABSTAIN")),
        (KNOWN, failed),
        (UNKNOWN, reply("ANSWER", "So.")),
        (BLOCKED, reply("BLOCK")),
    ]
    assert confusion(arguments) == {
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
    report = {"freshness": {"freshness_days": days, "violations": violations, "stale": stale}}
    came = reply("ABSTAIN", passages=[passage("a"), passage("b")], retrieval=report)
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


def test_contradictions_are_told_where_they_are_and_nowhere_else() -> None:
    side = {"passage_id": "p", "title": "t", "quote": "q"}

    def conflicts(
        category: str, *, stated: bool, kind: str = "", of: str = "number"
    ) -> dict[str, float]:
        result = [{"kind": of, "detail": "d", "stated": stated, "first": side, "second": side}]
        label = Label("q1", "", category, "?", ("x",), kind=kind)
        return metrics.measure_sources(Case(label, reply("ANSWER", "So.", conflicts=result), TOOLS))

    assert conflicts("conflicting", stated=True) == {"conflict_stated": 1}
    assert conflicts("", stated=False, kind="conflicting") == {"conflict_stated": 0}
    assert conflicts("factual", stated=True) == {"false_conflict": 1}
    assert conflicts("factual", stated=False) == {"false_conflict": 0}
    assert conflicts("factual", stated=True, of="repealed") == {"false_conflict": 0}
    assert conflicts("stale", stated=True) == {}


UNLABELLED = Label("q1", "", "", "?")


def counted(**corpora: tuple[int, int]) -> dict[str, object]:
    """Counts of the candidates and kept passages of each corpus."""
    return {
        "per_corpus": {
            name: {"candidates": result, "dense": 0, "lexical": 0, "kept": kept, "cited": 0}
            for name, (result, kept) in corpora.items()
        }
    }


def balanced(label: Label, *corpora: str, **counts: tuple[int, int]) -> dict[str, float]:
    came = reply("ANSWER", retrieval=counted(**counts))
    return metrics.measure_balance(Case(label, came, Tools(HashEmbedder(), corpora=corpora)))


def test_shares_and_imbalance_by_hand() -> None:
    figures = balanced(UNLABELLED, "us", "uk", us=(60, 3), uk=(20, 1))
    assert figures == pytest.approx(
        {
            "candidates_share.us": 60 / 80,
            "candidates_share.uk": 20 / 80,
            "candidates_imbalance": round(1 - 20 / 60, 4),
            "kept_share.us": 3 / 4,
            "kept_share.uk": 1 / 4,
            "kept_imbalance": round(1 - 1 / 3, 4),
        }
    )


def test_a_question_of_some_corpora_says_nothing_of_balance() -> None:
    choice = Label("q1", "", "", "?", corpus_filter=("us",))
    assert balanced(choice, "us", "uk", us=(5, 5)) == {}
    assert balanced(UNLABELLED, "us", us=(5, 5)) == {}
    assert balanced(UNLABELLED, "us", "uk", us=(0, 0), uk=(0, 0)) == {}
