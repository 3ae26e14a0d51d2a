"""Follow-ups: offered, searched for where it is wanted, and never at the cost of an answer.

The rules by which they are read are cases of `cases.toml`.
"""

import json
from collections.abc import Sequence
from io import StringIO
from typing import Any

import pytest
from flask.testing import FlaskClient
from rich.console import Console

from atlas_search.answer.follow_up import LONGEST, FollowUp, read_follow_up
from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_answer
from atlas_search.core.domain import ChatTurn
from atlas_search.providers.chat import Usage
from tests.answer.models import LIBEL, Both, cited
from tests.answering import asked
from tests.chat_server import Reply, Says
from tests.servers import app_of

CASE = "What did Plessy v. Ferguson decide?"
DISSENT = "Who dissented in it?"
READ_AS = "Who dissented in Plessy v. Ferguson?"
HISTORY = [
    {"role": "user", "content": CASE},
    {"role": "assistant", "content": "Separate but equal."},
]
UNCLEAR = "The question was not rewritten: it is not clear what “{}” points to."

TURNS = (ChatTurn("user", LIBEL), ChatTurn("assistant", "No, it cannot."))
FOLLOW_UP = "Why can it not?"
STANDALONE = "Why can a local authority not sue a newspaper for libel?"
CONDENSED: dict[str, Any] = {"history": TURNS, "condense_followups": True}


def ask(client: FlaskClient, **body: object) -> dict[str, Any]:
    response = client.post("/api/ask", json={"question": DISSENT, "chat_history": HISTORY} | body)
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.get_json()
    return answer


def rewritten(answer: dict[str, Any]) -> tuple[str | None, str | None, str | None]:
    return answer["read_as"], answer["standalone_question"], answer["standalone_note"]


# without a model


def test_a_follow_up_is_not_answered_as_if_it_stood_alone_but_its_reading_is_offered(
    client: FlaskClient,
) -> None:
    answer = ask(client)
    assert rewritten(answer) == (READ_AS, None, None)
    assert (answer["decision"], answer["reason"]["code"]) == ("ABSTAIN", "unclear")
    assert READ_AS in answer["reason"]["message"]
    assert answer["closest"] == []


def test_a_follow_up_is_answered_as_written_where_that_is_wanted(client: FlaskClient) -> None:
    answer = ask(client, read_follow_ups=False)
    assert rewritten(answer) == (READ_AS, None, None)
    assert answer["reason"]["code"] != "unclear"
    alone = ask(client, chat_history=[], read_follow_ups=False)
    assert answer["retrieval"] == alone["retrieval"]


def test_a_follow_up_is_searched_for_as_it_is_read_where_that_is_wanted(
    client: FlaskClient,
) -> None:
    answer = ask(client, read_follow_ups=True)
    assert rewritten(answer) == (READ_AS, READ_AS, None)
    assert answer["decision"] == "ANSWER"
    assert answer["citations"] == ask(client, question=READ_AS, chat_history=[])["citations"]
    body = {"question": DISSENT, "chat_history": HISTORY, "read_follow_ups": True}
    last = client.post("/api/ask/stream", json=body).text.split("event: complete")[1]
    assert rewritten(json.loads(last.split("data: ")[1])) == (READ_AS, READ_AS, None)


@pytest.mark.parametrize(
    ("question", "before", "pointer"),
    [
        ("When was he killed?", [], "he"),
        ("What about Canada?", [], "What about Canada?"),
        ("Who dissented?", HISTORY[1:], "Who dissented?"),
        (
            "Who wrote it?",
            [{"role": "user", "content": "Did Plessy v. Ferguson follow Roberts v. Boston?"}],
            "it",
        ),
    ],
)
def test_what_is_meant_is_asked_where_it_is_not_clear(
    client: FlaskClient, question: str, before: Sequence[dict[str, str]], pointer: str
) -> None:
    for wish in (None, True):
        answer = ask(client, question=question, chat_history=before, read_follow_ups=wish)
        assert rewritten(answer) == (None, None, UNCLEAR.format(pointer))
        assert (answer["decision"], answer["reason"]["code"]) == ("ABSTAIN", "unclear")
        assert f"“{pointer}”" in answer["reason"]["message"]
    console = Console(file=StringIO(), record=True, width=200)
    print_answer(console, answer)
    assert f"Note: {answer['standalone_note']}" in console.export_text()


@pytest.mark.parametrize("question", [READ_AS, "Is it lawful to segregate?", CASE])
def test_a_question_that_stands_alone_is_left_alone(client: FlaskClient, question: str) -> None:
    answer = ask(client, question=question, chat_history=[])
    assert rewritten(answer) == (None, None, None)
    assert answer["reason"]["code"] != "unclear"


def test_a_citation_token_of_the_history_does_not_come_into_the_question() -> None:
    before = [ChatTurn("user", "What does [aus.privacy-act p1] of the Privacy Act 1993 say?")]
    assert "[" not in read_follow_up("When was it passed?", before).question


def test_a_long_text_says_what_it_is_about() -> None:
    question = f"{'He drove. ' * LONGEST} Is he liable?"
    assert read_follow_up(question, [ChatTurn("user", "Who was Harold Holt?")]) == FollowUp()


def test_what_was_said_long_ago_and_at_length_takes_no_time() -> None:
    long = [
        ChatTurn("user", "Who was Harold Holt? " * 400),
        ChatTurn("assistant", "Cheviot Beach " * 4000),
    ]
    follow_up = read_follow_up("When was he killed?", long * 100)
    assert follow_up.question == "When was Harold Holt killed?"


# with a model


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
        Says("Why can a local authority not sue Robert Menzies?"),
    ],
    ids=["refused", "empty", "refusal", "two lines", "leaves out", "long", "invention"],
)
def test_whatever_goes_wrong_the_question_is_searched_for_as_asked(
    both: Both, useless: Reply | Says
) -> None:
    services, server = both
    server.then(useless)
    server.says(cited)
    answer, _ = asked(services, FOLLOW_UP, **CONDENSED)
    assert answer.standalone == ""
    assert answer.standalone_note.startswith("The question was not rewritten: ")
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


def test_a_question_that_stands_alone_is_left_as_it_is(both: Both) -> None:
    services, server = both
    server.then(Says(STANDALONE))
    server.says(cited)
    answer, _ = asked(services, STANDALONE, **CONDENSED)
    assert (answer.standalone, answer.standalone_note) == ("", "")
    # without a history or the wish no model is asked to rewrite
    asked(services, STANDALONE, condense_followups=True)
    asked(services, STANDALONE, history=TURNS)
    assert len(server.requests) == 2 + 2


@pytest.mark.parametrize(
    ("question", "standalone"),
    [
        ("And in New Zealand?", "Can a local authority sue a newspaper for libel in New Zealand?"),
        (FOLLOW_UP, ""),
        ("When was capital punishment abolished in Britain?", ""),
    ],
)
def test_a_target_that_quotes_reads_follow_ups_by_rule(
    both: Both, question: str, standalone: str
) -> None:
    services, server = both
    answer, _ = asked(services, question, **CONDENSED, llm_provider="extractive")
    assert answer.standalone == standalone
    assert server.requests == []


def test_the_request_comes_before_the_target(both: Both) -> None:
    services, server = both
    server.says(cited)
    model = services.targets["model"]
    quoting = {"condense_followups": True, "llm_provider": "extractive"}
    services.targets["quotes"] = model.model_copy(update=quoting)  # type: ignore[index]
    client = app_of(Atlas(services)).test_client()
    assert rewritten(ask(client, target="quotes")) == (READ_AS, READ_AS, None)
    as_written = ask(client, target="quotes", read_follow_ups=False)
    assert rewritten(as_written) == (READ_AS, None, None)
    # a target that does not condense asks no model to rewrite
    answer = ask(client, target="model", read_follow_ups=True)
    assert rewritten(answer) == (READ_AS, READ_AS, None)
    assert len(server.requests) == 1  # the answer


def test_what_of_the_history_does_not_fit_is_counted(both: Both) -> None:
    services, server = both
    server.says(cited)
    long = (ChatTurn("user", "word " * 100), ChatTurn("assistant", "short answer"))
    answer, _ = asked(services, STANDALONE, history=long, chat_memory_tokens=20)
    assert (answer.context.turns, answer.context.turns_dropped) == (1, 1)
    assert answer.context.turn_tokens == 2
    roles = [message["role"] for message in server.requests[0].body["messages"]]
    assert roles == ["system", "assistant", "user"]
