"""Scales, raters, ratings in the folder of a run, and how far raters agree."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from atlas_search.cli.evaluate_judge import rated_answers
from atlas_search.cli.main import app
from atlas_search.core.errors import RequestError, SourceError, UnwritableFolder
from atlas_search.evaluation.people import (
    COHEN,
    FLEISS,
    KRIPPENDORFF,
    RATINGS,
    USUAL,
    WEIGHTED,
    Rating,
    Ratings,
    Scale,
    agreements,
    own_order,
    rater_name,
    read_scales,
)
from tests.evaluation.made_runs import LABELS, kept, made_run, unanswered
from tests.test_full_disk import longest_file

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TALL = Scale(name="tall", low=0, high=2)


def rating(rater: str, label_id: str, comment: str = "", **scores: int) -> Rating:
    return Rating(rater=rater, label_id=label_id, scores=scores, comment=comment, at=NOW)


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    made = Ratings(tmp_path)
    made.begin([TALL])
    return made


def test_scales_are_chosen_by_name_and_range() -> None:
    relevance, depth = read_scales("relevance, depth of it: 0-3")
    assert relevance == USUAL[0]
    assert (depth.name, list(depth.steps)) == ("depth of it", [0, 1, 2, 3])


def test_scales_of_a_file_have_their_own_descriptions(tmp_path: Path) -> None:
    path = tmp_path / "scales.toml"
    path.write_text('[tone]\nlow = 0\nhigh = 1\ndescription = "Is it polite?"\n[accuracy]\n')
    tone, accuracy = read_scales(str(path))
    assert (tone.low, tone.high, tone.description) == (0, 1, "Is it polite?")
    assert accuracy == USUAL[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' is no scale"),
        ("accuracy,accuracy", "each once"),
        ("accuracy:1", "is no scale"),
        ("accuracy:5-1", "2 to 11 steps"),
        ("accuracy:0-100", "2 to 11 steps"),
        ("missing.toml", "cannot be read as scales"),
    ],
)
def test_scales_that_cannot_be_rated_on_are_told(text: str, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read_scales(text)


def test_a_rater_is_the_same_however_the_name_is_spelt() -> None:
    assert rater_name("  anna  Reed ", [], others=True) == "anna Reed"
    assert rater_name("ANNA", ["anna"], others=False) == "anna"
    with pytest.raises(RequestError, match="not among the raters"):
        rater_name("carl", ["anna"], others=False)
    for name in ("", " ", "a\x00b", "a" * 61):
        with pytest.raises(RequestError, match="Give a name"):
            rater_name(name, [], others=True)


def test_each_rater_has_an_order_that_stays() -> None:
    ids = [f"q{number}" for number in range(50)]
    assert own_order(ids, "anna", 0) == own_order(ids[::-1], "anna", 0)
    assert own_order(ids, "anna", 0) != own_order(ids, "ben", 0)
    assert own_order(ids, "anna", 0) != own_order(ids, "anna", 1)
    assert sorted(own_order(ids, "anna", 0)) == sorted(ids)


def test_the_last_rating_counts_and_all_are_kept(ratings: Ratings, tmp_path: Path) -> None:
    ratings.add(rating("anna", "q1", tall=1))
    ratings.add(rating("ben", "q1", tall=0))
    ratings.add(rating("anna", "q1", "I looked again", tall=2))
    assert [(one.rater, one.scores["tall"]) for one in Ratings(tmp_path).all()] == [
        ("anna", 2),
        ("ben", 0),
    ]
    assert list(ratings.of_rater("ben")) == ["q1"]
    assert len((tmp_path / RATINGS).read_text().splitlines()) == 3


def test_scales_that_were_rated_earlier_stay_rated(ratings: Ratings) -> None:
    ratings.add(rating("anna", "q1", "Tall enough", tall=1))
    ratings.begin([Scale(name="wide")])
    ratings.add(rating("anna", "q1", "And wide", wide=4))
    [found] = ratings.all()
    assert (found.scores, found.comment) == ({"tall": 1, "wide": 4}, "And wide")
    with pytest.raises(SourceError, match="tall was rated from 0 to 2"):
        ratings.begin([Scale(name="tall", low=1, high=5)])


def test_a_rating_is_of_the_answer_that_was_shown(ratings: Ratings) -> None:
    first = rating("anna", "q1", tall=1).model_copy(update={"answer": "one"})
    ratings.add(first)
    assert ratings.all({"q1": "one"}) == [first]
    assert ratings.of_rater("anna", {"q1": "other"}) == {}
    again = rating("anna", "q1").model_copy(update={"answer": "other"})
    ratings.add(again)
    assert ratings.all({"q1": "other"}) == ratings.all() == [again]


def test_who_has_no_room_to_save_is_told_what_to_do(ratings: Ratings, tmp_path: Path) -> None:
    ratings.add(rating("anna", "q1", tall=1))
    path = tmp_path / RATINGS
    before = path.read_text()
    with longest_file(len(before)), pytest.raises(UnwritableFolder) as raised:
        ratings.add(rating("anna", "q2", tall=1))
    assert "Nothing of the file has changed" in str(raised.value)
    assert "read and embedded" not in str(raised.value)
    assert path.read_text() == before


def test_a_number_that_is_not_on_the_scale_is_refused(ratings: Ratings) -> None:
    for scores, why in (({"tall": 3}, "from 0 to 2; 3 is not"), ({"wide": 1}, "no scale 'wide'")):
        with pytest.raises(RequestError, match=why):
            ratings.add(rating("anna", "q1", **scores))
    assert ratings.all() == []


def test_scales_that_were_rated_on_keep_their_range(ratings: Ratings) -> None:
    ratings.begin([Scale(name="tall", low=1, high=5), Scale(name="wide")])
    ratings.begin([TALL])
    ratings.add(rating("anna", "q1", tall=1))
    with pytest.raises(SourceError, match="tall was rated from 0 to 2"):
        ratings.begin([Scale(name="tall", low=1, high=5)])
    ratings.begin([Scale(name="wide")])
    assert [scale.name for scale in ratings.scales()] == ["wide", "tall"]


def test_a_broken_file_of_ratings_is_told_with_its_line(ratings: Ratings, tmp_path: Path) -> None:
    ratings.add(rating("anna", "q1", tall=1))
    with (tmp_path / RATINGS).open("a") as file:
        file.write("{\n")
    with pytest.raises(SourceError, match="line 2 is no rating"):
        ratings.all()


def test_three_raters_have_no_kappa_of_two() -> None:
    given = [rating(name, f"q{n}", tall=n % 3) for name in "abc" for n in range(6)]
    [found] = agreements(given, [TALL])
    assert found.coefficients == {FLEISS: 1, KRIPPENDORFF: 1}
    assert found.missing == dict.fromkeys((COHEN, WEIGHTED), "Cohen's kappa is of two raters.")


def test_kappas_are_over_what_all_rated_and_alpha_over_what_two_did() -> None:
    a = {"q1": 0, "q2": 1, "q3": 2, "q4": 2}
    b = {"q1": 0, "q2": 2, "q3": 2}
    given = [rating("a", id_, tall=n) for id_, n in a.items()]
    given += [rating("b", id_, tall=n) for id_, n in b.items()]
    [found] = agreements(given, [TALL])
    assert (found.items, found.shared, found.ratings) == (4, 3, 7)
    # of three they agree on two; by chance on 0: 1/9, on 1: 0, on 2: 1/3 * 2/3
    assert found.coefficients[COHEN] == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    # one step apart once costs 1 of 3; by chance 0-2 costs 4 * 2/9, 1-0 and 1-2 1/9 + 2/9,
    # 2-0 4 * 1/9
    assert found.coefficients[WEIGHTED] == pytest.approx(1 - (1 / 3) / (8 / 9 + 3 / 9 + 4 / 9))
    assert found.mean
    assert found.mean.mean == pytest.approx((0 + 1.5 + 2 + 2) / 4)
    assert found.mean.low < found.mean.mean < found.mean.high


def test_the_command_tells_the_agreement_as_a_table_and_as_json(tmp_path: Path) -> None:
    folder = kept(made_run("rated", labels=LABELS[:4]), tmp_path)
    ratings = Ratings(folder)
    ratings.begin([TALL, Scale(name="wide")])
    for name in ("anna", "ben"):
        for number, label in enumerate(LABELS[:4]):
            ratings.add(rating(name, label.id, tall=number % 3))
    table = CliRunner().invoke(app, ["eval", "agreement", str(folder)])
    assert table.exit_code == 0, table.output
    row = next(line for line in table.output.splitlines() if line.startswith("tall"))
    assert row.split() == "tall (0-2) 2 4 4 1.000 1.000 1.000 1.000 0.75 0.00-1.50".split()
    assert "wide, no Fleiss, Krippendorff: No item has two ratings to compare." in table.output
    told = json.loads(CliRunner().invoke(app, ["eval", "agreement", str(folder), "--json"]).output)
    tall, wide = told["scales"]
    assert tall["coefficients"] == dict.fromkeys((COHEN, WEIGHTED, FLEISS, KRIPPENDORFF), 1)
    assert (tall["scale"]["name"], tall["raters"]) == ("tall", ["anna", "ben"])
    assert (wide["coefficients"], wide["mean"]) == ({}, None)


def test_a_run_that_nobody_has_rated_names_the_command(tmp_path: Path) -> None:
    folder = kept(made_run("rated", labels=LABELS[:2]), tmp_path)
    found = CliRunner().invoke(app, ["eval", "agreement", str(folder)])
    assert found.exit_code == 1
    assert "atlas eval rate" in str(found.exception)


def test_only_what_was_answered_is_rated(tmp_path: Path) -> None:
    run = unanswered(made_run("rated", labels=LABELS[:3]), {LABELS[1].id: "It broke."})
    folder = kept(run, tmp_path)
    assert [one.label.id for one in rated_answers(folder)] == [LABELS[0].id, LABELS[2].id]
    (folder / "scores.jsonl").unlink()  # as of a run that was stopped
    assert len(rated_answers(folder)) == 2
    (folder / "replies.jsonl").unlink()
    with pytest.raises(SourceError, match="no answers to rate"):
        rated_answers(folder)
