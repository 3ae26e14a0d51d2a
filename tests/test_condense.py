"""Follow-ups: rewritten where the target wants it, and never at the cost of an answer."""

from collections.abc import Iterator

import pytest

from atlas_search.core.domain import ChatTurn
from atlas_search.providers.chat import Usage
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Reply, Says
from tests.test_generate import cited

HISTORY = (
    ChatTurn("user", "Can a local authority sue a newspaper for libel?"),
    ChatTurn("assistant", "No, it cannot."),
)
FOLLOW_UP = "Why can it not?"
STANDALONE = "Why can a local authority not sue a newspaper for libel?"
CONDENSED = {"history": HISTORY, "condense_followups": True}

Both = tuple[Services, ChatServer]


@pytest.fixture
def both(services: Services) -> Iterator[Both]:
    with answered_by("openai", services) as found:
        yield found


def test_the_rewritten_question_is_searched_for_and_shown(both: Both) -> None:
    services, server = both
    server.then(Says(STANDALONE))
    server.says(cited)
    answer, _ = asked(services, FOLLOW_UP, **CONDENSED)
    assert answer.standalone == answer.result.query.text == STANDALONE
    assert answer.request.search.question == FOLLOW_UP
    assert f"Question: {STANDALONE}" in server.requests[1].prompt
    assert "user: Can a local authority" in server.requests[0].prompt
    assert answer.writer.usage == Usage(22, 14)


@pytest.mark.parametrize(
    "useless",
    [
        Reply(404, {"error": {"message": "no"}}),
        Says(""),
        Says("I don't know."),
        Says("Two lines,\nno question"),
        Says('-"court" -"void"'),
        Says("long " * 500),
    ],
    ids=["refused", "empty", "refusal", "two lines", "leaves out", "long"],
)
def test_whatever_goes_wrong_the_question_is_searched_for_as_asked(
    both: Both, useless: Reply | Says
) -> None:
    services, server = both
    server.then(useless)
    server.says(cited)
    answer, _ = asked(services, FOLLOW_UP, **CONDENSED)
    assert answer.standalone == ""
    assert answer.standalone_note
    assert answer.result.query.text == FOLLOW_UP


@pytest.mark.parametrize(
    ("written", "standalone"),
    [
        ('"What is libel?"', "What is libel?"),
        ('Who wrote of "the rights of man"', 'Who wrote of "the rights of man"'),
        ('"Libel" or "slander"', '"Libel" or "slander"'),
    ],
)
def test_quotation_marks_around_the_whole_are_the_model_s_own(
    both: Both, written: str, standalone: str
) -> None:
    services, server = both
    server.then(Says(written))
    server.says(cited)
    answer, _ = asked(services, FOLLOW_UP, **CONDENSED)
    assert answer.standalone == standalone


def test_without_a_history_or_the_wish_no_model_is_asked(both: Both) -> None:
    services, server = both
    server.says(cited)
    asked(services, STANDALONE, condense_followups=True)
    asked(services, STANDALONE, history=HISTORY)
    assert len(server.requests) == 2  # an answer each


def test_a_question_that_stands_alone_is_left_as_it_is(both: Both) -> None:
    services, server = both
    server.then(Says(STANDALONE))
    server.says(cited)
    answer, _ = asked(services, STANDALONE, **CONDENSED)
    assert (answer.standalone, answer.standalone_note) == ("", "")


@pytest.mark.parametrize(
    ("question", "standalone"),
    [
        ("And in New Zealand?", "Can a local authority sue a newspaper for libel in New Zealand?"),
        (FOLLOW_UP, ""),
        ("When was capital punishment abolished in Britain?", ""),
    ],
)
def test_without_a_model_a_question_that_points_back_is_read_by_rule(
    services: Services, question: str, standalone: str
) -> None:
    own = {"llm_provider": "extractive"}
    with answered_by("openai", services) as (with_model, server):
        answer, _ = asked(with_model, question, **CONDENSED, **own)
    assert answer.standalone == standalone
    assert server.requests == []


def test_what_of_the_history_does_not_fit_is_counted(both: Both) -> None:
    services, server = both
    server.says(cited)
    long = (ChatTurn("user", "word " * 100), ChatTurn("assistant", "short answer"))
    answer, _ = asked(services, STANDALONE, history=long, chat_memory_tokens=20)
    assert (answer.context.turns, answer.context.turns_dropped) == (1, 1)
    assert answer.context.turn_tokens == 2
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["system", "assistant", "user"]
