"""Answers of quotes: how surely they answer, what speaks against them, and what comes closest."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.answer.quotes.scores import LIKELY, POSSIBLE, Signs, likelihood, missing_words
from atlas_search.providers.embedding import Embedder
from atlas_search.services import Services
from tests.answer.collection import closest, collection, is_verbatim, warnings
from tests.answer.collection import said as sentences
from tests.answer.passages import passage
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Says

HEAD = "---\ntitle: The pier of Norport\n---\n"
MATCH = (
    f"{HEAD}The crew of Norport won the rowing match of 1904 by two lengths. The cup was given by "
    "the mayor. Fishing boats with sails are allowed in the inner basin during the match.\n"
)
WON = "The crew of Norport won the rowing match of 1904 by two lengths."
ALL = "ANSWER_LIKELIHOOD=0\n"
Factory = pytest.TempPathFactory


@pytest.fixture(scope="module")
def match(tmp_path_factory: Factory, embedder: Embedder) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("match")
    with collection(folder, embedder, {"town/match.txt": MATCH}, ALL) as opened:
        yield opened


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("Who won the rowing match of 1904?", "Who lost the rowing match of 1904?"),
        (
            "Which boats are allowed in the inner basin during the match?",
            "Which boats are not allowed in the inner basin during the match?",
        ),
    ],
    ids=["opposite", "denied"],
)
def test_an_opposite_and_a_denied_question_are_less_likely_answered(
    match: Atlas, plain: str, other: str
) -> None:
    answer, turned = match.ask(plain), match.ask(other)
    assert sentences(answer)[0] == sentences(turned)[0]
    assert answer.confidence
    assert turned.confidence
    assert (answer.confidence.word, turned.confidence.word) == ("likely", "possible")
    assert turned.confidence.likelihood < POSSIBLE < LIKELY <= answer.confidence.likelihood
    assert "The quote may say the opposite of what is asked." in warnings(turned)
    assert warnings(answer) == ""


@pytest.mark.parametrize(
    ("target", "question", "decision"),
    [
        ("", "Who lost the rowing match of 1904?", "ABSTAIN"),
        ("RISK=dose,gave\n", "What may be paid for the cup that the mayor gave?", "ABSTAIN"),
        ("RISK=dose\n", "What may be paid for the cup that the mayor gave?", "ANSWER"),
    ],
    ids=["too unlikely", "a risk", "no risk"],
)
def test_what_is_too_unlikely_is_declined_and_said_to_come_nearest(
    tmp_path: Path, embedder: Embedder, target: str, question: str, decision: str
) -> None:
    with collection(tmp_path, embedder, {"town/match.txt": MATCH}, target) as atlas:
        answer = atlas.ask(question)
    assert answer.outcome.decision == decision
    if not target:
        assert (answer.outcome.code, answer.confidence) == ("not_held", None)
        assert answer.outcome.numbers["likelihood"] < answer.outcome.numbers["needed"] == POSSIBLE
        assert closest(answer)[0] == WON
        head = f"No passage clearly answers this. The nearest says: “{WON}”"
        assert answer.outcome.message.startswith(head)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "question", "holds", "lacks"),
    [
        (
            "a date",
            "When was the pier of Norport opened?",
            "The pier of Norport was opened on 3 May 1880.",
            "The pier of Norport was opened by the mayor in rain.",
        ),
        (
            "a name",
            "Who built the pier?",
            "The pier was built by Amos Tyler.",
            "The pier was built in haste and in the rain of autumn.",
        ),
        (
            "an amount",
            "How much did the pier cost?",
            "The pier cost 900 pounds.",
            "The pier cost more than anybody had thought.",
        ),
        (
            "a number",
            "How many boats were lost in the storm?",
            "In the storm eleven boats were lost.",
            "In the storm the boats of the widow were lost.",
        ),
    ],
)
def test_an_answer_that_lacks_what_is_asked_for_is_less_likely_and_says_so(
    tmp_path: Path, embedder: Embedder, kind: str, question: str, holds: str, lacks: str
) -> None:
    answers = []
    for name, sentence in (("holds", holds), ("lacks", lacks)):
        files = {"town/pier.txt": f"{HEAD}{sentence} The bell is rung in fog.\n"}
        with collection(tmp_path / name, embedder, files, ALL) as atlas:
            answer = atlas.ask(question)
        assert sentences(answer)[0] == sentence
        assert answer.confidence
        answers.append(answer.confidence.likelihood)
    assert answers[0] > answers[1] + 0.1
    if answers[1] < LIKELY:
        assert f"No quote gives {kind}." in warnings(answer)


MOLE = "The mole was opened by the king on 4 June 1913."
KEYS = "Encryption keys must be rotated every 90 days."
WATER = (
    "Water usage at the Portland campus fell by 18% year over year, through recycling and "
    "rainwater harvesting."
)


def test_plain_questions_over_plain_files_are_answered(tmp_path: Path, embedder: Embedder) -> None:
    """An earlier scale mostly declined them."""
    files = {
        f"town/{number}.txt": f"The board met on day {number}. Its clerk kept the minutes.\n"
        for number in range(9)
    } | {
        "town/mole.txt": f"{MOLE} Ships pay by weight.\n",
        "town/keys.txt": f"{KEYS} Passwords are kept in a vault.\n",
        "town/water.txt": f"{WATER} The Austin campus added solar panels.\n",
    }
    with collection(tmp_path, embedder, files) as atlas:
        for question, right in (
            ("Who opened the mole?", MOLE),
            ("How often should encryption keys be rotated?", KEYS),
            ("How did water usage change at the Portland campus?", WATER),
        ):
            assert sentences(atlas.ask(question))[0] == right


def test_a_longer_question_is_not_more_surely_answered() -> None:
    assert likelihood(Signs(score=0.45, similarity=0.5, terms=1.0)) < POSSIBLE
    assert likelihood(Signs(score=1.1, similarity=0.8, terms=1.0)) > LIKELY


JUDGMENT = (
    "---\ntitle: Alder v Quay Board\ndate: 1932-05-26\njudges: [Lord Hay, Lady Moor]\n"
    "votes: 3 to 2\n---\nThe board may not close the quay of Norport without notice. The appeal of "
    "the owners was allowed with costs.\n"
)


def test_who_and_when_are_told_from_metadata_where_no_sentence_says_it(
    tmp_path: Path, embedder: Embedder, match: Atlas
) -> None:
    with collection(tmp_path, embedder, {"law/alder.txt": JUDGMENT}) as atlas:
        for question, report in {
            "When was Alder v Quay Board decided?": "date 1932-05-26",
            "Who decided Alder v Quay Board?": "judges Lord Hay, Lady Moor",
            "Which judges heard Alder v Quay Board?": "judges Lord Hay, Lady Moor",
            "By how many votes was Alder v Quay Board decided?": "votes 3 to 2",
        }.items():
            answer = atlas.ask(question)
            beside = f"{warnings(answer)} {answer.outcome.message}"
            assert f"The metadata of “Alder v Quay Board” say: {report}." in beside
    assert "metadata" not in warnings(match.ask("When was the rowing match of Norport?"))


# words that no passage has


NAMES = st.sampled_from(
    [
        *("Canadian Human Rights Commission", "Commission canadienne des droits de la personne"),
        *("Brindle Looms", "O'Malley", "Wool-Growers' League", "Straße", "Łódź", "ÉGALITÉ"),
        *("x1247", "3.5", "camelCase"),
    ]
)
CASES = st.sampled_from([str, str.upper, str.lower, str.title])
AROUND = st.sampled_from(["", "café — ", "“Yes”: ", "l’", "é ", "the\u00a0", "(", "de l’"])


@given(NAMES, CASES, CASES, AROUND, st.sampled_from(["text", "title", "section", "speaker"]))
def test_what_a_passage_has_in_any_form_is_never_said_to_be_missing(
    name: str, asked: object, written: object, around: str, where: str
) -> None:
    text = f"{around}{written(name)} spoke."  # type: ignore[operator]
    held = replace(passage("The board sat."), **{where: text})
    missing = missing_words(f"What did {asked(name)} say?", [passage("Nothing."), held])  # type: ignore[operator]
    assert missing in ((), ("say",))


REPORT = (
    "---\ntitle: Annual report\n---\nHarlow Mills sold more cloth than in any year before it. "
    "Net income for the year was $4.2 million, against $3.9 million the year before. The board "
    "thanks the weavers for their work.\n"
)
INCOME = "Net income for the year was $4.2 million, against $3.9 million the year before."


def test_the_income_of_a_company_nobody_speaks_of_is_not_that_of_another(
    tmp_path: Path, embedder: Embedder
) -> None:
    with collection(tmp_path, embedder, {"reports/harlow.txt": REPORT}) as atlas:
        for question, missing in {
            "What was the net income of Brindle Looms for the year?": "“Brindle” or “Looms”",
            "How much was the net income of Brindle Looms?": "“Brindle” or “Looms”",
            "What was the net income of Harlow Mills in 1987?": "“1987”",
        }.items():
            answer = atlas.ask(question)
            assert answer.confidence is None or answer.confidence.word == "possible"
            report = warnings(answer) if answer.text else answer.outcome.message
            assert f"No passage found has {missing}." in report
        held = atlas.ask("What was the net income of Harlow Mills for the year?")
    assert held.confidence
    assert held.citations[0].quote == INCOME


# comparisons quote each side, or say which is silent


RULES = "---\ntitle: Harbour rules of {}\n---\n"
LEASH = "Dogs must be kept on a leash on the quays of Norport."
FREE = "Dogs may run free on the quays of Sudhaven before nine in the morning."
NORPORT = f"{RULES.format('Norport')}{LEASH} A mooring costs $40 for the month.\n"
SUDHAVEN = f"{RULES.format('Sudhaven')}{FREE} A mooring costs $75 for the month.\n"
OTHERS = {
    "both": {"sudhaven/rules.txt": SUDHAVEN},
    "other rules": {
        "sudhaven/rules.txt": f"{RULES.format('Sudhaven')}The pilot of Sudhaven rings a bell. No "
        "oil may be poured out.\n"
    },
    "nothing": {
        "norport/pier.txt": f"{RULES.format('Norport')}The pier is of oak. Ships call on Mondays.\n"
    },
}
COMPARED = [
    "How do the harbour rules of Norport and Sudhaven differ on dogs?",
    "How do Norport and Sudhaven differ on dogs?",
    "Compare the rules on dogs in Norport with those in Sudhaven.",
    "Compare Norport with Sudhaven on dogs.",
    "What is the difference between the rules on dogs in Norport and in Sudhaven?",
]
WHICH = "Which of the two, Norport or Sudhaven, lets dogs run free?"
LEASHED = "Are dogs on the quays free or on a leash?"


@pytest.fixture(scope="module", params=OTHERS)
def harbours(
    request: pytest.FixtureRequest, tmp_path_factory: Factory, embedder: Embedder
) -> Iterator[tuple[str, Atlas]]:
    """The rules of Norport, and what is held of Sudhaven."""
    files = {"norport/rules.txt": NORPORT, **OTHERS[request.param]}
    with collection(tmp_path_factory.mktemp("harbours"), embedder, files) as opened:
        yield request.param, opened


@pytest.mark.parametrize("question", COMPARED)
def test_each_side_is_quoted_or_named_as_silent(harbours: tuple[str, Atlas], question: str) -> None:
    held, atlas = harbours
    answer = atlas.ask(question)
    if held == "both":
        assert set(sentences(answer)[:2]) == {LEASH, FREE}
        assert warnings(answer) == ""
    elif answer.outcome.decision == "ABSTAIN":
        assert "Sudhaven" in answer.outcome.message
    else:
        assert sentences(answer)[0] == LEASH
        assert {citation.passage.corpus for citation in answer.citations} == {"norport"}
        assert "Sudhaven" in warnings(answer)


def test_which_of_two_is_told_from_its_own_words_alone(harbours: tuple[str, Atlas]) -> None:
    held, atlas = harbours
    answer = atlas.ask(WHICH)
    if held == "both":
        assert FREE in sentences(answer)
    else:
        assert answer.confidence is None or answer.confidence.word == "possible"
        assert "“Sudhaven”" in f"{warnings(answer)} {answer.outcome.message}"


def test_corpora_compared_answer_each_for_itself(harbours: tuple[str, Atlas]) -> None:
    held, atlas = harbours
    parts = {part.corpus: part for part in atlas.compare(LEASHED).comparison.answers}
    assert LEASH in parts["norport"].text
    if held == "both":
        assert {part.outcome.decision for part in parts.values()} == {"ANSWER"}
    elif "sudhaven" in parts:
        assert (parts["sudhaven"].outcome.decision, parts["sudhaven"].text) == ("ABSTAIN", "")
    assert ("sudhaven" in parts) or held == "nothing"


# of several deadlines in one act the one asked for is quoted


NOTICE = (
    "Where access to a record is requested under this Act, the head of the office to which the "
    "request is made shall, within thirty days after the request is received,\n"
    "(a) give written notice to the person who made the request as to whether or not access to "
    "the record will be given; and\n"
    "(b) if access is to be given, give that person access to the record."
)
TRANSFER = (
    "Where the head of an office considers that another office has a greater interest in the "
    "record, the head may, within fifteen days after the request is received, transfer the "
    "request to that other office."
)
REVIEW = (
    "Any person who has been refused access to a record may apply to the court for a review of "
    "the matter within 90 days after the time the results of an investigation are reported to "
    "that person."
)
ACT = "---\ntitle: Records Access Act\n---\n# Time limits\n\n" + "".join(
    f"## {heading}\n\n{text}\n\nR.S., 1985, c. A-1, s. 7; 2019, c. 18, s. 6\n\n"
    for heading, text in (
        ("7 Notice where access is requested", NOTICE),
        ("8 Transfer of request", TRANSFER),
        ("41 Review by the court", REVIEW),
    )
)
DEADLINES = {
    "Within how many days must the head of the office give written notice after a request is "
    "received?": "within thirty days after the request is received, (a) give written notice",
    "Within how many days must a person apply to the court for a review?": "within 90 days",
    "How long may the head take to transfer a request to another office?": "within fifteen days",
}


def test_the_deadline_asked_for_is_quoted_first(tmp_path: Path, embedder: Embedder) -> None:
    files = {"acts/records.txt": ACT}
    with collection(tmp_path, embedder, files, "ANSWER_LIKELIHOOD=0.2\n") as atlas:
        for question, deadline in DEADLINES.items():
            answer = atlas.ask(question)
            assert answer.outcome.decision == "ANSWER"
            assert deadline in sentences(answer)[0]
            assert all(is_verbatim(atlas, citation) for citation in answer.citations)
            assert "R.S., 1985" not in answer.text


@pytest.mark.parametrize("limit", [1, 3])
def test_no_more_places_are_cited_than_wanted(
    tmp_path: Path, embedder: Embedder, limit: int
) -> None:
    rules = "The pier of Norport is of oak. It was mended by Amos Tyler after the storm of 1902."
    debate = "Will the Prime Minister set apart a day for the old-age pension question?"
    files = {"town/pier.txt": rules, "town/debate.txt": f"{debate} The Ministers will see.\n"}
    target = f"CITATION_LIMIT={limit}\nANSWER_SENTENCES=1\n{ALL}"
    with collection(tmp_path, embedder, files, target) as atlas:
        answer = atlas.ask("Who mended it after the storm of 1902?", read_follow_ups=False)
        assert all(is_verbatim(atlas, citation) for citation in answer.citations)
        # words that are looked for may stand in a question, which else is no statement
        assert sentences(atlas.ask('"old-age pension" Prime Minister'))[0] == debate
        assert debate not in sentences(atlas.ask("What did the Prime Minister say of a pension?"))
    mended = "It was mended by Amos Tyler after the storm of 1902."
    # what answers goes before what it leans on
    leaning = [mended] if limit == 1 else ["The pier of Norport is of oak.", mended]
    assert sentences(answer) == leaning


# whatever is declined shows what comes closest, in the sources' own words


PIER = (
    f"{HEAD}The pier of Norport was built of oak in 1880. Boats moor at the pier of Norport from "
    "May. Its lamps burn all night. Nobody may fish from the pier of Norport by night. The pier of "
    "Norport has a bell. It is rung in fog.\n"
)
QUAY = "---\ntitle: The quay\n---\nThe quay is of stone. Carts must go at a walk on the quay.\n"
WHY_CLOSED = "Why did the mayor close the pier of Norport?"
Both = tuple[Services, ChatServer]


@pytest.fixture(scope="module")
def norport(tmp_path_factory: Factory, embedder: Embedder) -> Iterator[Atlas]:
    files = {"town/pier.txt": PIER, "town/quay.txt": QUAY}
    folder = tmp_path_factory.mktemp("norport")
    with collection(folder, embedder, files, query_cache_enabled=False) as opened:
        yield opened


@pytest.fixture
def modelled(norport: Atlas) -> Iterator[Both]:
    with answered_by("openai", norport.services, kept=False) as both:
        yield both


def shows_what_is_closest(atlas: Atlas, answer: Answer) -> bool:
    """One to three quotes, each as it stands in its document and none twice."""
    places = [citation.place for citation in answer.closest]
    held = all(is_verbatim(atlas, citation) for citation in answer.closest)
    return 0 < len(places) <= 3 and len(set(places)) == len(places) and held


@pytest.mark.parametrize(
    ("question", "code", "message"),
    [
        (WHY_CLOSED, "not_held", ""),
        ("Who built the pier of Eastmouth?", "not_held", "No passage found has “Eastmouth”."),
    ],
)
def test_a_question_that_is_not_answered_shows_what_comes_closest(
    norport: Atlas, question: str, code: str, message: str
) -> None:
    answer = norport.ask(question)
    assert (answer.outcome.code, answer.text, answer.citations) == (code, "", ())
    assert message in answer.outcome.message
    assert shows_what_is_closest(norport, answer)
    assert "pier of Norport" in closest(answer)[0]
    assert [one["quote"] for one in answer.to_dict()["closest"]] == closest(answer)


def test_a_model_that_is_not_asked_or_not_believed_leaves_what_comes_closest(
    modelled: Both, norport: Atlas
) -> None:
    services, server = modelled
    weak, _ = asked(services, WHY_CLOSED, answer_threshold=0.99)
    assert (weak.outcome.code, server.requests) == ("weak_evidence", [])
    server.says("NO ANSWER")
    refused, _ = asked(services, WHY_CLOSED)
    assert refused.outcome.code == "model_refused"
    server.says(lambda _: Says("The mayor closed the pier [town.invented p9]."))
    invented, _ = asked(services, WHY_CLOSED)
    assert (invented.outcome.decision, invented.text) == ("BLOCK", "")
    assert "mayor closed" not in "\n".join(closest(invented))
    for answer in (weak, refused, invented):
        assert shows_what_is_closest(norport, answer)


def test_nothing_comes_closest_to_no_subject_or_to_nothing_and_beside_an_answer(
    norport: Atlas,
) -> None:
    answer = norport.ask("What is it?", read_follow_ups=False)
    assert (answer.outcome.code, answer.closest) == ("no_subject", ())
    answer = norport.ask(WHY_CLOSED, exclude=["pier", "quay"])
    assert (answer.outcome.code, answer.closest) == ("no_passages", ())
    answer = norport.ask("When was the pier of Norport built?")
    assert (answer.outcome.decision, answer.closest) == ("ANSWER", ())


UPDATE = (
    "Operations update\n\nThe Portland campus reports an 18% drop in water usage year over year, "
    "achieved through recycling and rainwater harvesting.\n\nRevenue grew by 6%, and "
    "the price of shipping fell. Stock in the warehouses was reduced from nine weeks to seven.\n\n"
    "The audit team checks every supplier twice a year.\n"
)


def test_one_short_report_answers_what_it_holds_and_nothing_else(
    tmp_path: Path, embedder: Embedder
) -> None:
    """Of one passage every question finds that one; words alone, `stock` and `price`, do not do."""
    with collection(tmp_path, embedder, {"ops/operations_update.txt": UPDATE}, "") as atlas:
        held = atlas.ask("How did water usage change at the Portland campus?")
        assert "an 18% drop in water usage year over year" in sentences(held)[0]
        assert atlas.ask("What is the stock price today?").outcome.code == "not_held"
