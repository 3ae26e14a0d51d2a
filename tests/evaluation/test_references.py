"""Figures against reference implementations, written out from their published definitions."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from atlas_search.evaluation.confidence import (
    Outcomes,
    calibration_error,
    coverage_at,
    precision_coverage,
)
from atlas_search.evaluation.labels import GoldSpan
from atlas_search.evaluation.metrics import exact_match, token_f1
from atlas_search.evaluation.metrics_ranked import overlap

# SQuAD 2.0 (Rajpurkar, Jia & Liang, Know What You Don't Know, 2018), its official evaluation


def squad_normalised(text: str) -> str:
    """Lower case, then no punctuation of ASCII, then no articles, then single blanks."""
    kept = "".join(sign for sign in text.lower() if sign not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())


def squad_em(answer: str, reference: str) -> float:
    return float(squad_normalised(answer) == squad_normalised(reference))


def squad_f1(answer: str, reference: str) -> float:
    found, gold = (squad_normalised(text).split() for text in (answer, reference))
    if not found or not gold:
        return float(found == gold)  # of an unanswerable question both are empty
    same = sum((Counter(found) & Counter(gold)).values())
    if not same:
        return 0.0
    precision, recall = same / len(found), same / len(gold)
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


@given(PLAIN, st.lists(PLAIN, min_size=1, max_size=3))
def test_of_several_references_the_best_counts_as_in_squad(answer: str, known: list[str]) -> None:
    assume(all(map(squad_normalised, (answer, *known))))
    best = max(squad_f1(answer, one) for one in known)
    assert token_f1(answer, known) == pytest.approx(best)
    assert float(exact_match(answer, known)) == max(squad_em(answer, one) for one in known)


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


# chunking_evaluation of Smith & Troynikov, Evaluating Chunking Strategies for Retrieval (2024)

Range = tuple[int, int]


def characters(ranges: Sequence[Range]) -> set[int]:
    return {place for start, end in ranges for place in range(start, end)}


def chunk_scores(chunks: Sequence[Range], references: Sequence[Range]) -> dict[str, float]:
    """As its base evaluation has it, for references apart from each other.

    Characters of overlapping chunks count once where they are gold, and as often as they were
    retrieved in the denominators of precision and IoU. What is gold and not found is added to that
    of IoU.
    """
    gold = characters(references)
    found = gold & characters(chunks)
    retrieved = sum(end - start for start, end in chunks)
    unused = len(gold - found)
    return {
        "recall": len(found) / len(gold),
        "precision": len(found) / retrieved if retrieved else 0.0,
        "iou": len(found) / (retrieved + unused) if retrieved + unused else 0.0,
    }


def spans(ranges: Sequence[Range]) -> list[GoldSpan]:
    return [GoldSpan("d", start, end) for start, end in ranges]


LENGTHS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=6)


def apart(lengths: Sequence[tuple[int, int]]) -> list[Range]:
    """Ranges one after the other, given the gap before each and its length."""
    ranges: list[Range] = []
    at = 0
    for gap, length in lengths:
        ranges.append((at + gap, at + gap + length))
        at += gap + length
    return ranges


@given(LENGTHS.map(apart), LENGTHS.map(apart))
def test_spans_are_scored_as_chunking_evaluation_does(
    chunks: list[Range], references: list[Range]
) -> None:
    expected = chunk_scores(chunks, references)
    assert overlap(spans(chunks), spans(references)) == pytest.approx(expected)


def test_passages_that_overlap_count_once_and_there_twice() -> None:
    chunks, references = [(0, 100), (50, 150)], [(40, 60)]
    assert chunk_scores(chunks, references) == pytest.approx(
        {"recall": 20 / 20, "precision": 20 / 200, "iou": 20 / 200}
    )
    assert overlap(spans(chunks), spans(references)) == pytest.approx(
        {"recall": 20 / 20, "precision": 20 / 150, "iou": 20 / 150}
    )


# Guo et al. (2017) for the calibration error, Geifman & El-Yaniv (2017) for risk and coverage

ANSWERS = st.lists(
    st.tuples(st.sampled_from([0.05, 0.15, 0.31, 0.33, 0.52, 0.68, 0.75, 0.99]), st.booleans()),
    min_size=1,
    max_size=40,
)


def outcomes(answers: Sequence[tuple[float, bool]], declined: int = 0) -> Outcomes:
    return Outcomes(
        answered=np.array([1.0] * len(answers) + [0.0] * declined),
        right=np.array([float(right) for _, right in answers] + [0.0] * declined),
        confidence=np.array([sure for sure, _ in answers] + [0.0] * declined),
    )


def value(of: object, found: Outcomes) -> float:
    return float(of(found, np.ones((1, len(found))))[0])  # type: ignore[operator]


@given(ANSWERS)
def test_the_calibration_error_is_that_of_the_bins_of_scikit_learn(
    answers: list[tuple[float, bool]],
) -> None:
    sure = np.array([each for each, _ in answers])
    right = np.array([each for _, each in answers])
    good, said = calibration_curve(right, sure, n_bins=10, strategy="uniform")
    counts = np.histogram(sure, bins=np.linspace(0, 1, 11))[0]
    weights = counts[counts > 0] / len(answers)
    error = float((weights * np.abs(good - said)).sum())
    assert value(calibration_error, outcomes(answers)) == pytest.approx(error)


@given(ANSWERS, st.integers(0, 5))
def test_risk_and_coverage_as_plain_numpy(answers: list[tuple[float, bool]], declined: int) -> None:
    sure = np.array([each for each, _ in answers])
    right = np.array([float(each) for _, each in answers])
    bounds = np.unique(sure)[::-1]
    given_ = np.array([(sure >= bound).sum() for bound in bounds])
    risk = np.array([1 - right[sure >= bound].mean() for bound in bounds])
    under = (risk * np.diff(given_, prepend=0)).sum() / given_[-1]
    found = outcomes(answers, declined)
    assert value(precision_coverage, found) == pytest.approx(1 - under)
    coverage = given_ / (len(answers) + declined)
    best = max([0.0, *coverage[risk <= 0.1 + 1e-9]])
    assert value(coverage_at, found) == pytest.approx(best)
