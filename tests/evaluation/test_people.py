"""Labels and ratings that people write: nobody's words are lost, and how far raters agree."""

import json
import re
import resource
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from math import comb
from multiprocessing import get_context
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from atlas_search.cli.evaluate_judge import rated_answers
from atlas_search.cli.main import app
from atlas_search.core.errors import Conflict, NotFound, RequestError, SourceError, UnwritableFolder
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import GoldSpan, Label
from atlas_search.evaluation.people import (
    COHEN,
    KRIPPENDORFF,
    RATINGS,
    USUAL,
    WEIGHTED,
    LabelFile,
    Rating,
    Ratings,
    Scale,
    agreements,
    allocate,
    label_line,
    own_order,
    rater_name,
    read_scales,
)
from tests.evaluation.made_runs import LABELS, kept, made_run, unanswered
from tests.page.labelling import rated, rating_server
from tests.places import ROOT

LABEL = Label(
    "q1",
    "test",
    "height",
    "How tall is the lighthouse?",
    ("Nine metres.", "9 m"),
    frozenset({"coast.light", "coast.keeper"}),
    gold_passage_ids=frozenset({"coast.light:0-20"}),
    gold_spans=(GoldSpan("coast.light", 3, 9),),
    grades={"coast.keeper": 1, "coast.light": 3, "coast.light:0-20": 3, "coast.mole:0-9": 0},
    filters={"year": {"from": "1900", "to": None}},
)


@pytest.fixture
def file(tmp_path: Path) -> LabelFile:
    return LabelFile(tmp_path / "new" / "labels.jsonl")


def test_what_is_saved_is_what_an_evaluation_reads(file: LabelFile) -> None:
    assert file.saved() == []
    saved = file.save(LABEL)
    assert file.find("q1") == saved
    assert saved.label == LABEL
    # whoever evaluates need not know what was looked at and is not relevant
    relevant = {id_: grade for id_, grade in LABEL.grades.items() if grade}
    assert load_labels(file.path) == [replace(LABEL, grades=relevant)]
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_label_that_somebody_changed_meanwhile_is_not_written_over(file: LabelFile) -> None:
    first = file.save(LABEL)
    other = file.save(replace(LABEL, category="other"), first.revision)
    with pytest.raises(Conflict, match="changed in the file meanwhile"):
        file.save(replace(LABEL, category="mine"), first.revision)
    with pytest.raises(Conflict, match="changed"):
        file.save(replace(LABEL, category="mine"))
    with pytest.raises(Conflict, match="changed"):
        file.remove("q1", first.revision)
    assert [saved.label.category for saved in file.saved()] == ["other"]
    file.remove("q1", other.revision)
    with pytest.raises(Conflict, match="removed"):
        file.save(LABEL, other.revision)
    with pytest.raises(NotFound, match="no label 'q1'"):
        file.remove("q1", other.revision)


def test_other_lines_stay_as_they_are(file: LabelFile) -> None:
    file.path.parent.mkdir()
    own = '{"question": "Wo\u2028steht er?",  "split": "dev", "category": "", "id": "b"}'
    file.path.write_text(f"\ufeff{own}\r\n\n", encoding="utf-8")
    saved = file.save(LABEL)
    file.save(replace(LABEL, category="changed"), saved.revision)
    assert file.path.read_text(encoding="utf-8").split("\n")[0] == own
    assert [one.label.id for one in file.saved()] == ["b", "q1"]


def test_a_linked_file_stays_a_link_and_keeps_who_may_read_it(tmp_path: Path) -> None:
    real, link = tmp_path / "real.jsonl", tmp_path / "link.jsonl"
    real.touch()
    real.chmod(0o640)
    link.symlink_to(real)
    LabelFile(link).save(LABEL)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert [saved.label for saved in LabelFile(real).saved()] == [LABEL]


@pytest.mark.parametrize("line", ['{"query": "of another form"}', "{", "[]", "\x00"])
def test_a_file_of_another_form_is_told_and_left_alone(file: LabelFile, line: str) -> None:
    file.path.parent.mkdir()
    text = f"{label_line(LABEL)}\n{line}\n"
    file.path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match="line 2 is no label"):
        file.save(replace(LABEL, id="q2"))
    assert file.path.read_text(encoding="utf-8") == text


def test_bytes_that_are_no_text_and_ids_that_are_there_twice_are_told(file: LabelFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(SourceError, match="cannot be read"):
        file.saved()
    file.path.write_text(f"{label_line(LABEL)}\n" * 2, encoding="utf-8")
    with pytest.raises(SourceError, match="two labels have the id q1"):
        file.saved()


@pytest.mark.thorough
def test_many_threads_and_processes_that_save_lose_nothing(file: LabelFile) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: save_some(file.path, "thread", number, 1), range(20)))
    processes = [
        get_context("spawn").Process(target=save_some, args=(file.path, "process", number, 5))
        for number in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert len(file.saved()) == 20 + 15
    lines = file.path.read_text(encoding="utf-8").splitlines()
    assert all(json.loads(line)["question"] == LABEL.question for line in lines)


def save_some(path: Path, who: str, number: int, count: int) -> None:
    for each in range(count):
        LabelFile(path).save(replace(LABEL, id=f"{who}-{number}-{each}"))


NOW = datetime(2026, 1, 1, tzinfo=UTC)
TALL = Scale(name="tall", low=0, high=2)


def rating(rater: str, label_id: str, comment: str = "", **scores: int) -> Rating:
    return Rating(rater=rater, label_id=label_id, scores=scores, comment=comment, at=NOW)


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    made = Ratings(tmp_path)
    made.begin([TALL])
    return made


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


@pytest.mark.parametrize("each", [1, 2, 3, 4])
def test_answers_are_shared_evenly_and_who_rates_together_changes(each: int) -> None:
    ids, raters = [f"q{number}" for number in range(30)], ["anna", "ben", "carl", "dora"]
    shares = allocate(ids, raters, each, 7)
    assert shares == allocate(ids[::-1], raters[::-1], each, 7)
    counts = [len(own) for own in shares.values()]
    assert sum(counts) == 30 * each
    assert max(counts) - min(counts) <= 1
    groups = [frozenset(name for name in raters if id_ in shares[name]) for id_ in ids]
    assert {len(group) for group in groups} == {each}
    assert len(set(groups)) == comb(4, each)
    assert shares != allocate(ids, raters, each, 8) or each == 4


def test_the_key_of_a_link_stays_and_is_of_one_rater_and_run(tmp_path: Path) -> None:
    one, other = Ratings(tmp_path / "one"), Ratings(tmp_path / "other")
    keys = [one.rater_key("anna"), one.rater_key("ben"), other.rater_key("anna")]
    assert len(set(keys)) == 3
    assert one.rater_key("anna") == keys[0]
    assert (tmp_path / "one" / "rating.key").stat().st_mode & 0o777 == 0o600


def test_a_rater_sees_their_own_answers_and_ratings_and_no_name_of_a_target(
    tmp_path: Path,
) -> None:
    shares = {"anna": ["q0", "q1"], "ben": ["q1", "q2"]}
    answers = [rated(number) for number in range(3)]
    body = {"label_id": "q1", "scores": {"tall": 1}, "rationales": {"tall": "I measured."}}
    with rating_server(tmp_path, answers, [TALL], shares) as address:
        anna, ben, nobody = (
            httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {key}"})
            for key in ("anna", "ben", "dora")
        )
        assert nobody.get("/api/ratings").status_code == 401
        assert anna.put("/api/rating", json=body).json()["rationales"] == {"tall": "I measured."}
        for refused in ({"label_id": "q2"}, {"rater": "ben"}, {"rationales": {"wide": "?"}}):
            assert anna.put("/api/rating", json=body | refused).is_client_error
        assert anna.get("/api/ratings", params={"rater": "ben"}).status_code == 400
        pages = [client.get("/api/ratings") for client in (anna, ben)]
        documents = [page.json() for page in pages]
        assert [{item["label_id"] for item in each["items"]} for each in documents] == [
            {"q0", "q1"},
            {"q1", "q2"},
        ]
        assert [list(each["ratings"]) for each in documents] == [["q1"], []]
        shown = "".join(page.text for page in (*pages, anna.get("/api/rating"), anna.get("/")))
        for client in (anna, ben, nobody):
            client.close()
    for secret in ("k10", "extractive", "sentences_hand", "eval-", str(tmp_path)):
        assert secret not in shown
    assert [(one.rater, one.label_id) for one in Ratings(tmp_path).all()] == [("anna", "q1")]


def test_a_scale_of_a_file_says_what_each_step_means(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "scales.toml"
    path.write_text(next(block for block in blocks if "meanings" in block), encoding="utf-8")
    scales = read_scales(str(path))
    assert [scale.name for scale in scales] == ["coherence"]
    assert all(len(scale.meanings) == len(scale.steps) for scale in scales)
    path.write_text('[tone]\nmeanings = ["No.", "Yes."]\n', encoding="utf-8")
    with pytest.raises(SourceError, match="tone has 5 steps and 2 meanings"):
        read_scales(str(path))


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
    [result] = ratings.all()
    assert (result.scores, result.comment) == ({"tall": 1, "wide": 4}, "And wide")
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


def test_a_number_that_is_not_on_the_scale_is_refused(ratings: Ratings) -> None:
    for scores, why in (({"tall": 3}, "from 0 to 2; 3 is not"), ({"wide": 1}, "no scale 'wide'")):
        with pytest.raises(RequestError, match=why):
            ratings.add(rating("anna", "q1", **scores))
    assert ratings.all() == []


def test_a_broken_file_of_ratings_is_told_with_its_line(ratings: Ratings, tmp_path: Path) -> None:
    ratings.add(rating("anna", "q1", tall=1))
    with (tmp_path / RATINGS).open("a") as file:
        file.write("{\n")
    with pytest.raises(SourceError, match="line 2 is no rating"):
        ratings.all()


def test_kappa_is_over_what_both_rated_and_alpha_over_what_two_did() -> None:
    a = {"q1": 0, "q2": 1, "q3": 2, "q4": 2}
    b = {"q1": 0, "q2": 2, "q3": 2}
    inputs = [rating("a", id_, tall=n) for id_, n in a.items()]
    inputs += [rating("b", id_, tall=n) for id_, n in b.items()]
    [result] = agreements(inputs, [TALL])
    assert (result.items, result.shared, result.ratings) == (4, 3, 7)
    # of three they agree on two; by chance on 0: 1/9, on 1: 0, on 2: 1/3 * 2/3
    assert result.coefficients[COHEN] == pytest.approx((2 / 3 - 3 / 9) / (1 - 3 / 9))
    # one step apart once costs 1 of 3; by chance 0-2 costs 4 * 2/9, 1-0 and 1-2 1/9 + 2/9,
    # 2-0 4 * 1/9
    assert result.coefficients[WEIGHTED] == pytest.approx(1 - (1 / 3) / (8 / 9 + 3 / 9 + 4 / 9))
    assert result.mean
    assert result.mean.mean == pytest.approx((0 + 1.5 + 2 + 2) / 4)
    assert result.mean.low < result.mean.mean < result.mean.high


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
    assert row.split() == "tall (0-2) 2 4 4 1.000 1.000 1.000 0.75 0.00-1.50".split()
    assert "wide, no Krippendorff: No item has two ratings to compare." in table.output
    report = json.loads(
        CliRunner().invoke(app, ["eval", "agreement", str(folder), "--json"]).output
    )
    tall, wide = report["scales"]
    assert tall["coefficients"] == dict.fromkeys((COHEN, WEIGHTED, KRIPPENDORFF), 1)
    assert (tall["scale"]["name"], tall["raters"]) == ("tall", ["anna", "ben"])
    assert (wide["coefficients"], wide["mean"]) == ({}, None)


def test_only_what_was_answered_is_rated(tmp_path: Path) -> None:
    run = unanswered(made_run("rated", labels=LABELS[:3]), {LABELS[1].id: "It broke."})
    folder = kept(run, tmp_path)
    assert [one.label.id for one in rated_answers(folder)] == [LABELS[0].id, LABELS[2].id]
    (folder / "scores.jsonl").unlink()  # as of a run that was stopped
    assert len(rated_answers(folder)) == 2
    (folder / "replies.jsonl").unlink()
    with pytest.raises(SourceError, match="no answers to rate"):
        rated_answers(folder)


def test_scales_are_chosen_by_name_and_range_or_by_a_file(tmp_path: Path) -> None:
    relevance, depth = read_scales("relevance, depth of it: 0-3")
    assert relevance == USUAL[0]
    assert (depth.name, list(depth.steps)) == ("depth of it", [0, 1, 2, 3])
    path = tmp_path / "scales.toml"
    path.write_text('[tone]\nlow = 0\nhigh = 1\ndescription = "Is it polite?"\n[accuracy]\n')
    tone, accuracy = read_scales(str(path))
    assert (tone.low, tone.high, tone.description) == (0, 1, "Is it polite?")
    assert accuracy == USUAL[1]


def test_who_has_no_room_to_save_is_told_what_to_do(ratings: Ratings, tmp_path: Path) -> None:
    ratings.add(rating("anna", "q1", tall=1))
    path = tmp_path / RATINGS
    before = path.read_text()
    kept_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before), kept_limit[1]))
    try:
        with pytest.raises(UnwritableFolder, match="Nothing of the file has changed"):
            ratings.add(rating("anna", "q2", tall=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, kept_limit)
    assert path.read_text() == before
