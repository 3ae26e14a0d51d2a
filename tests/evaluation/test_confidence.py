"""Figures of all questions together: how far confidence tells what is right."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from atlas_search.answer.decide import evidence_of
from atlas_search.evaluation.carry_out import ProcessSubject
from atlas_search.evaluation.confidence import (
    Bin,
    CoveragePoint,
    Outcomes,
    calibration_error,
    coverage_at,
    curve,
    precision_coverage,
    reliability,
    set_figures,
)
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply
from atlas_search.evaluation.scored import Scored
from atlas_search.search.result import SearchOut
from tests.replies import reply

LABEL = Label("q1", "", "", "?")
DECLINED = Scored(LABEL, reply("ABSTAIN"), {})


def answered(evidence: float, right: float, likelihood: float | None = None) -> Scored:
    surely = {"word": "likely", "likelihood": likelihood} if likelihood is not None else None
    came = reply(
        "ANSWER",
        "So.",
        retrieval={"confidence": {"max": evidence, "support": evidence}},
        confidence=surely,
    )
    return Scored(LABEL, came, {"right": right})


FOUR = [answered(0.9, 1), answered(0.8, 0), answered(0.7, 1), answered(0.6, 0), DECLINED]


def test_the_curve_by_hand() -> None:
    assert curve(FOUR) == [
        CoveragePoint(0.9, 1 / 5, 1 / 1),
        CoveragePoint(0.8, 2 / 5, 1 / 2),
        CoveragePoint(0.7, 3 / 5, 2 / 3),
        CoveragePoint(0.6, 4 / 5, 2 / 4),
    ]
    assert curve([DECLINED]) == []


def test_the_area_and_the_coverage_by_hand() -> None:
    figures = set_figures(FOUR)
    assert figures["precision_coverage"].mean == pytest.approx((1 + 1 / 2 + 2 / 3 + 2 / 4) / 4)
    assert figures["coverage_at_90"].mean == pytest.approx(1 / 5)
    assert figures["coverage_at_90"].questions == 5
    assert "calibration_error" not in figures


def test_answers_of_one_confidence_are_given_up_together() -> None:
    tied = [answered(0.9, 0), answered(0.5, 1), answered(0.5, 0)]
    assert curve(tied) == [CoveragePoint(0.9, 1 / 3, 0), CoveragePoint(0.5, 1, 1 / 3)]
    assert set_figures(tied)["precision_coverage"].mean == pytest.approx((0 + 2 * (1 / 3)) / 3)
    assert set_figures(tied)["coverage_at_90"].mean == 0


def test_the_likelihood_is_the_confidence_if_every_answer_has_one() -> None:
    sure = [answered(0.1, 1, 0.8), answered(0.9, 0, 0.4)]
    assert [point.confidence for point in curve(sure)] == [0.8, 0.4]
    assert [point.confidence for point in curve([*sure, answered(0.5, 1)])] == [0.9, 0.5, 0.1]


def test_reliability_by_hand() -> None:
    scored = [answered(0, 1, 0.85), answered(0, 0, 0.8), answered(0, 1, 0.35), answered(0, 1, 1.0)]
    assert reliability([*scored, DECLINED]) == [
        Bin(0.3, 0.4, 1, pytest.approx(0.35), 1.0),
        Bin(0.8, 0.9, 2, pytest.approx(0.825), 0.5),
        Bin(0.9, 1.0, 1, 1.0, 1.0),
    ]
    expected = (1 * 0.65 + 2 * (0.825 - 0.5) + 1 * 0) / 4
    assert set_figures(scored)["calibration_error"].mean == pytest.approx(expected)


def test_answers_that_cannot_be_judged_are_left_out() -> None:
    unknown = Scored(LABEL, reply("ANSWER", "So."), {})
    failed = Scored(LABEL, Reply(label_id="q1", seconds=0.1, error="Down."), {"failed": 1.0})
    assert curve([*FOUR, unknown, failed]) == curve(FOUR)


def test_a_judge_says_how_right_an_answer_is() -> None:
    came = answered(0.9, 0)
    judged = replace(came, figures={"right": 0, "answer_correctness": 0.8})
    assert curve([judged]) == [CoveragePoint(0.9, 1, 0)]
    by_judge = replace(judged, sources={"answer_correctness": "judge"})
    assert curve([by_judge]) == [CoveragePoint(0.9, 1, 0.8)]


def test_a_set_without_an_answer_has_none_of_them() -> None:
    assert set_figures([DECLINED]) == set_figures([]) == {}


OUTCOMES = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.95, 1.0])),
    min_size=1,
    max_size=12,
).filter(lambda known: any(given for given, _, _ in known))


def made(known: Sequence[tuple[bool, bool, float]]) -> Outcomes:
    columns = np.array(known, dtype=float).T
    return Outcomes(columns[0], columns[0] * columns[1], columns[2])


@given(OUTCOMES, st.data())
def test_a_weight_is_so_many_questions(
    known: list[tuple[bool, bool, float]], data: st.DataObject
) -> None:
    counts = data.draw(
        st.lists(st.integers(0, 3), min_size=len(known), max_size=len(known)).filter(
            lambda drawn: any(n and given for n, (given, _, _) in zip(drawn, known, strict=True))
        )
    )
    repeated = [one for one, count in zip(known, counts, strict=True) for _ in range(count)]
    weights = np.array([counts], dtype=float)
    for figure in (precision_coverage, coverage_at):
        (once,) = figure(made(repeated), np.ones((1, len(repeated))))
        (weighted,) = figure(made(known), weights)
        assert weighted == pytest.approx(once)
        assert 0 <= weighted <= 1
    answers = [one for one in known if one[0]]
    of_answers = [n for n, one in zip(counts, known, strict=True) if one[0]]
    (error,) = calibration_error(made(answers), np.array([of_answers], dtype=float))
    again = [one for one, count in zip(answers, of_answers, strict=True) for _ in range(count)]
    assert error == pytest.approx(calibration_error(made(again), np.ones((1, len(again))))[0])
    assert 0 <= error <= 1


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
    good, message = calibration_curve(right, sure, n_bins=10, strategy="uniform")
    counts = np.histogram(sure, bins=np.linspace(0, 1, 11))[0]
    weights = counts[counts > 0] / len(answers)
    error = float((weights * np.abs(good - message)).sum())
    assert value(calibration_error, outcomes(answers)) == pytest.approx(error)


@given(ANSWERS, st.integers(0, 5))
def test_risk_and_coverage_as_plain_numpy(answers: list[tuple[float, bool]], declined: int) -> None:
    sure = np.array([each for each, _ in answers])
    right = np.array([float(each) for _, each in answers])
    bounds = np.unique(sure)[::-1]
    given_ = np.array([(sure >= bound).sum() for bound in bounds])
    risk = np.array([1 - right[sure >= bound].mean() for bound in bounds])
    under = (risk * np.diff(given_, prepend=0)).sum() / given_[-1]
    result = outcomes(answers, declined)
    assert value(precision_coverage, result) == pytest.approx(1 - under)
    coverage = given_ / (len(answers) + declined)
    best = max([0.0, *coverage[risk <= 0.1 + 1e-9]])
    assert value(coverage_at, result) == pytest.approx(best)


def test_evidence_is_what_decisions_go_by(subject: ProcessSubject) -> None:
    search = subject.atlas.search("What do sheep give?")
    came = Reply(label_id="q1", seconds=0.1, found=SearchOut.model_validate(search.to_dict()))
    assert came.evidence == pytest.approx(evidence_of(search))
