"""The agreement of a judge with people is Cohen's kappa over the answers that both judged."""

from collections.abc import Mapping, Sequence

import pytest

from atlas_search.evaluation.judge import (
    PeopleAgreement,
    PersonVote,
    Scale,
    agreement_with_people,
    approval,
)
from atlas_search.evaluation.scored import Scored, Source
from tests.evaluation.judging import LABEL
from tests.replies import reply

METRICS = ("answer_correctness", "answer_relevancy", "faithfulness")


def judged(number: int, value: float, source: Source = "judge") -> Scored:
    """A question of which the judge's figures all have this value."""
    came = reply(
        "ANSWER", f"Answer {number}.", label_id=f"q{number}", question=f"Question {number}?"
    )
    return Scored(LABEL, came, dict.fromkeys(METRICS, value), dict.fromkeys(METRICS, source))


def vote(number: int, approves: Mapping[Scale, bool], session: str = "s1") -> PersonVote:
    """What somebody says of the answer of that number, whose texts are not kept."""
    return PersonVote(session, f"eval-q{number}", "", "", approves)


def agreed(
    figures: Sequence[float], said: Sequence[bool], scale: Scale = "accuracy"
) -> list[PeopleAgreement]:
    scored = [judged(number, value) for number, value in enumerate(figures)]
    return agreement_with_people(
        scored, [vote(number, {scale: approves}) for number, approves in enumerate(said)]
    )


def test_kappa_is_that_of_the_judge_from_one_half_on() -> None:
    # 3 of 4 agree; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2 do: (3/4 - 1/2) / (1 - 1/2)
    (found,) = agreed([0.9, 0.5, 0.4, 0.0], [True, True, True, False])
    assert (found.scale, found.metric, found.count) == ("accuracy", "answer_correctness", 4)
    assert found.agreeing == 3 / 4
    assert found.kappa == pytest.approx(1 / 2)


def test_each_scale_is_held_against_the_figure_that_means_it() -> None:
    says: dict[Scale, bool] = {
        "corpus_fidelity": True,
        "relevance": False,
        "thumb": True,
        "accuracy": True,
    }
    found = agreement_with_people([judged(1, 1.0)], [vote(1, says)])
    assert [(one.scale, one.metric, one.agreeing) for one in found] == [
        ("thumb", "answer_correctness", 1),
        ("accuracy", "answer_correctness", 1),
        ("relevance", "answer_relevancy", 0),
        ("corpus_fidelity", "faithfulness", 1),
    ]


def test_where_all_say_the_same_there_is_no_kappa() -> None:
    (found,) = agreed([1.0, 1.0], [True, True])
    assert (found.kappa, found.agreeing, found.count) == (None, 1, 2)


def test_an_answer_is_known_by_its_ids_or_by_its_texts_and_counts_once() -> None:
    told: dict[Scale, bool] = {"thumb": True}
    known = (
        PersonVote("s1", "eval-q1", "Question 1?", "Answer 1 [case p1].", told),
        PersonVote("elsewhere", "qa-7", " question 1? ", "Answer  1 .", told),
    )
    (found,) = agreement_with_people([judged(1, 1.0), judged(2, 0.0)], known[:1])
    assert found.count == 1
    strangers = (
        vote(1, told, session="another run"),
        PersonVote("elsewhere", "qa-8", "Question 1?", "Another answer.", told),
        PersonVote("elsewhere", "qa-9", "", "", told),
    )
    assert agreement_with_people([judged(1, 1.0)], strangers) == []


def test_the_same_answer_given_elsewhere_is_known_by_its_texts() -> None:
    elsewhere = PersonVote("s9", "qa-7", " question 1?", "Answer 1. [case p1]", {"thumb": True})
    (found,) = agreement_with_people([judged(1, 1.0)], [elsewhere])
    assert found.count == 1


def test_people_are_not_compared_with_an_estimate() -> None:
    assert agreement_with_people([judged(1, 1.0, "heuristic")], [vote(1, {"thumb": True})]) == []


def test_the_middle_mark_says_neither() -> None:
    assert [approval(mark) for mark in range(1, 6)] == [False, False, None, True, True]
