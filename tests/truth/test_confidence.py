"""How surely quotes answer, and what kind of thing they must hold."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.answer.quotes.choose import Chosen, Part
from atlas_search.answer.quotes.kinds import KINDS
from atlas_search.answer.quotes.likelihood import LIKELY, Grounds, Signs
from atlas_search.answer.quotes.mismatch import denies_what_is_asked
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, said, warnings

HEAD = "---\ntitle: The pier of Norport\n---\n"
MATCH = (
    f"{HEAD}The crew of Norport won the rowing match of 1904 by two lengths. The cup was given by "
    "the mayor. Fishing boats with sails are allowed in the inner basin during the match.\n"
)
ALL = "ANSWER_LIKELIHOOD=0\n"


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Atlas]:
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
    assert said(answer)[0] == said(turned)[0]
    assert answer.confidence
    assert turned.confidence
    assert (answer.confidence.word, turned.confidence.word) == ("likely", "possible")
    assert turned.confidence.likelihood < 0.2 < LIKELY <= answer.confidence.likelihood


def test_what_is_too_unlikely_is_declined(tmp_path: Path, embedder: Embedder) -> None:
    with collection(tmp_path, embedder, {"town/match.txt": MATCH}) as atlas:
        answer = atlas.ask("Who lost the rowing match of 1904?")
    assert (answer.outcome.code, answer.confidence) == ("not_held", None)
    assert answer.outcome.numbers["likelihood"] < answer.outcome.numbers["needed"] == LIKELY
    assert closest(answer)[0] == "The crew of Norport won the rowing match of 1904 by two lengths."


# the kind, a question, a sentence that holds what is asked for, and one that only is about it
HELD = [
    (
        "date",
        "When was the pier of Norport opened?",
        "The pier of Norport was opened on 3 May 1880.",
        "The pier of Norport was opened by the mayor in rain.",
    ),
    (
        "name",
        "Where was the keel of the brig laid?",
        "The keel of the brig was laid at Sudhaven.",
        "The keel of the brig was laid with much noise.",
    ),
    (
        "name",
        "Who built the pier?",
        "The pier was built by Amos Tyler.",
        "The pier was built in haste by a carpenter of the town.",
    ),
    (
        "time",
        "How long did the repair of the pier last?",
        "The repair of the pier lasted fourteen months.",
        "The repair of the pier lasted and was a burden to all.",
    ),
    (
        "money",
        "How much did the pier cost?",
        "The pier cost 900 pounds.",
        "The pier cost more than anybody had thought.",
    ),
    (
        "money",
        "How much was the income of the ferry?",
        "The income of the ferry was $1,200.",
        "The income of the ferry was a wonder to all.",
    ),
    (
        "number",
        "How many boats were lost in the storm?",
        "In the storm eleven boats were lost.",
        "In the storm the boats of the widow were lost.",
    ),
    (
        "number",
        "How many boats may the harbour hold?",
        "Under section 6 the harbour may hold forty boats.",
        "Under section 6 the harbour may hold boats of every kind.",
    ),
    (
        "time",
        "How many working days does the clerk have to decide on a request?",
        "The clerk decides on a request within 20 working days.",
        "The clerk decides on a request without delay, under section 32.",
    ),
    (
        "share",
        "What percentage of the catch goes to the owner of the boat?",
        "Of the catch, 40 per cent goes to the owner of the boat.",
        "Of the catch, the larger part goes to the owner of the boat.",
    ),
    (
        "time",
        "How long must a pilot be away to lose his place?",
        "A pilot who is away for two consecutive months loses his place.",
        "A pilot who is away without leave of the board loses his place.",
    ),
    (
        "age",
        "Up to what age may a boy row in the harbour?",
        "A boy may row in the harbour up to his 14th birthday.",
        "A boy may row in the harbour while the bell is silent.",
    ),
    (
        "age",
        "How old must a pilot be?",
        "A pilot must be at least 21 years of age.",
        "A pilot must be known to the harbour master.",
    ),
    (
        "amount",
        "What is the maximum penalty for fishing from the pier?",
        "The maximum penalty for fishing from the pier is prison for two months.",
        "The maximum penalty for fishing from the pier was much spoken of by the board.",
    ),
    (
        "amount",
        "How high is the fee for the use of the pier?",
        "The fee for the use of the pier is R6,20 a day.",
        "The fee for the use of the pier is set by the board.",
    ),
    (
        "votes",
        "What was the vote of the board on the pier?",
        "The vote of the board on the pier was 7 to 2.",
        "The vote of the board on the pier was taken in May.",
    ),
    (
        "question",
        "What is the question presented in the case of the pier?",
        "The question presented in the case of the pier is whether the board may close it.",
        "The board presented the case of the pier with a heavy heart.",
    ),
    (
        "name",
        "Who appoints the pilot of Norport?",
        "The pilot of Norport is appointed by the Harbour Board.",
        "The pilot of Norport made an appointment with the Harbour Board.",
    ),
    (
        "date",
        "When does the Pier Act of Norport enter into force?",
        "The Pier Act of Norport enters into force 30 days after it is signed.",
        "Within five years of the entry into force of the Pier Act of Norport it is reviewed.",
    ),
    (
        "name",
        "Who appoints the Warden for Piers?",
        "The Mayor of Norport appoints the Warden for Piers; the Warden for Ferries has a boat.",
        "The Keeper hears the Warden for Piers; he may appoint a deputy of his own.",
    ),
    (
        "name",
        "Who appoints the Warden for Ferries?",
        "The Mayor of Norport appoints the Warden for Ferries.",
        "The Mayor of Norport appoints the Warden for Piers; the Warden for Ferries has a boat.",
    ),
    (
        "reason",
        "Why was the pier closed?",
        "The pier was closed because its planks were rotten.",
        "The pier was closed and the boats went elsewhere.",
    ),
]


@pytest.mark.parametrize(
    ("kind", "question", "holds", "lacks"), HELD, ids=[question for _, question, *_ in HELD]
)
def test_an_answer_holds_the_kind_of_thing_asked_for(
    tmp_path: Path, embedder: Embedder, kind: str, question: str, holds: str, lacks: str
) -> None:
    files = {"town/pier.txt": f"{HEAD}{holds} The bell is rung in fog.\n"}
    with collection(tmp_path / "holds", embedder, files, ALL) as atlas:
        assert said(atlas.ask(question))[0] == holds
    files = {"town/pier.txt": f"{HEAD}{lacks} The bell is rung in fog.\n"}
    with collection(tmp_path / "lacks", embedder, files, ALL) as atlas:
        answer = atlas.ask(question)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "not_held")
    assert answer.outcome.message.endswith(f"None of them gives {KINDS[kind]}.")
    assert closest(answer)[0] == lacks


def test_who_appoints_another_is_no_answer(tmp_path: Path, embedder: Embedder) -> None:
    other = "The mayor of Norport appoints the keeper of the lamps at the pier of Norport."
    own = "The pilot at the pier of Norport is appointed by the Harbour Board."
    question = "Who appoints the pilot at the pier of Norport?"
    files = {"town/pier.txt": f"{HEAD}{other} {own}\n"}
    with collection(tmp_path / "both", embedder, files, ALL) as atlas:
        assert said(atlas.ask(question))[0] == own
    with collection(tmp_path / "one", embedder, {"town/pier.txt": HEAD + other}, ALL) as atlas:
        answer = atlas.ask(question)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "not_held")


def test_of_what_is_not_so_the_sentence_that_denies_it_leads(
    tmp_path: Path, embedder: Embedder
) -> None:
    denied = "The Harbour Act does not apply to boats of the navy."
    text = (
        "---\ntitle: Harbour Act\n---\nThe Harbour Act applies to whoever keeps a boat in the "
        f"harbour. {denied} No boat of more than 20 feet may enter.\n"
    )
    with collection(tmp_path, embedder, {"town/act.txt": text}, ALL) as atlas:
        answer = atlas.ask("What does the Harbour Act not apply to?")
        plain = atlas.ask("What does the Harbour Act apply to?")
    assert said(answer)[0] == denied
    assert said(plain)[0] != denied


@pytest.mark.parametrize(
    ("sentence", "denies"),
    [
        ("The Act does not apply to courts.", True),
        ("It can't apply to courts.", True),
        ("It was not itself a ground.", False),
        ("It applies where not more than twenty apply.", False),
        ("No one applies for more than one.", False),
        ("The Act applies to courts.", False),
    ],
)
def test_what_a_sentence_denies_is_what_is_asked(sentence: str, denies: bool) -> None:
    question = "To whom does the Act not apply?"
    assert denies_what_is_asked(question, sentence) is denies


def test_the_sentence_with_the_date_leads(tmp_path: Path, embedder: Embedder) -> None:
    dated = "She was appointed on 28 July 1915."
    text = (
        "---\ntitle: Deputies of the harbour master\n---\nZelda Moor became deputy harbour master "
        "of Norport and was a properly appointed deputy of the harbour master. Deputies are "
        f"appointed by the board. {dated}\n"
    )
    with collection(tmp_path, embedder, {"town/deputies.txt": text}, ALL) as atlas:
        answer = atlas.ask("When was Zelda Moor appointed deputy harbour master?")
    told = said(answer)
    assert dated in told[:2]
    assert told[0] == dated or told.index(dated) == 1  # behind the one that `She` leans on


@pytest.mark.parametrize("question", ["Is the contract of the agent void?"])
def test_what_counsel_argued_stands_behind_what_was_found(
    tmp_path: Path, embedder: Embedder, question: str
) -> None:
    argued = "Mr Low argued very forcefully that the contract of the agent is void."
    found = "The contract of the agent is not void, but nobody can be made to keep it."
    head = "---\ntitle: Agents\n---\n"
    with collection(
        tmp_path / "both", embedder, {"town/a.txt": f"{head}{argued} {found}\n"}
    ) as atlas:
        assert said(atlas.ask(question))[:1] == [found]
    with collection(tmp_path / "one", embedder, {"town/a.txt": f"{head}{argued}\n"}, ALL) as atlas:
        answer, asked = atlas.ask(question), atlas.ask("What did Mr Low argue of the contract?")
    note = "What is quoted is what somebody argued; no quote says what was found."
    assert (said(answer), note in warnings(answer)) == ([argued], True)
    assert (said(asked), note in warnings(asked)) == ([argued], False)


def test_the_name_of_a_case_is_not_what_is_asked_of_it(tmp_path: Path, embedder: Embedder) -> None:
    text = (
        "---\ntitle: Hemlock Pathe v Suresh Party\n---\nThe house of Hemlock Pathe was sold to "
        "Suresh Party in May. The price was paid at once.\n"
    )
    with collection(tmp_path, embedder, {"town/case.txt": text}) as atlas:
        answer = atlas.ask("Who represented the plaintiff in Hemlock Pathe v Suresh Party?")
    assert answer.outcome.decision == "ABSTAIN"


def test_a_court_named_in_full_is_not_the_court_of_another_country(
    tmp_path: Path, embedder: Embedder
) -> None:
    files = {
        "law/a.txt": "---\ntitle: Charter of Norland\n---\nA Justice of a federal court of the "
        "constitutional order must retire at the age of 70 years.\n",
        "law/b.txt": "---\ntitle: Basic Law of Sudland\n---\nThe Federal Constitutional Court has "
        "two chambers. Its members are elected.\n",
    }
    with collection(tmp_path, embedder, files) as atlas:
        answer = atlas.ask("At what age must a Justice of the Federal Constitutional Court retire?")
    assert answer.outcome.decision == "ABSTAIN"


def test_of_nothing_that_is_quoted_nobody_is_said_to_have_argued_it() -> None:
    nothing = Part("Is the contract of the agent void?", (), Grounds(Signs(), 0.0))
    assert Chosen(nothing).notes(LIKELY) == ()
