"""Follow-ups at the API: offered, searched for where it is wanted, refused where they invent."""

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from flask.testing import FlaskClient
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_answer
from atlas_search.server.app import create_app
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.chat_server import ChatServer, Says
from tests.test_condense import CONDENSED, FOLLOW_UP
from tests.test_generate import cited

CASE = "What did Plessy v. Ferguson decide?"
DISSENT = "Who dissented in it?"
READ_AS = "Who dissented in Plessy v. Ferguson?"
HISTORY = [
    {"role": "user", "content": CASE},
    {"role": "assistant", "content": "Separate but equal."},
]
UNCLEAR = "The question was not rewritten: it is not clear what “{}” points to."

Both = tuple[Services, ChatServer]


@pytest.fixture
def both(services: Services) -> Iterator[Both]:
    with answered_by("openai", services) as found:
        yield found


def ask(client: FlaskClient, **body: object) -> dict:
    response = client.post("/api/ask", json={"question": DISSENT, "chat_history": HISTORY} | body)
    assert response.status_code == 200, response.text
    return response.get_json()


def rewritten(answer: dict) -> tuple[str | None, str | None, str | None]:
    return answer["read_as"], answer["standalone_question"], answer["standalone_note"]


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
    assert "Plessy" in answer["citations"][0]["title"]
    whole = ask(client, question=READ_AS, chat_history=[])
    assert answer["citations"] == whole["citations"]


def test_a_stream_reads_a_follow_up_likewise(client: FlaskClient) -> None:
    body = {"question": DISSENT, "chat_history": HISTORY, "read_follow_ups": True}
    last = client.post("/api/ask/stream", json=body).text.split("event: complete")[1]
    assert rewritten(json.loads(last.split("data: ")[1])) == (READ_AS, READ_AS, None)


@pytest.mark.parametrize(
    ("question", "history", "pointer"),
    [
        ("When was he killed?", [], "he"),
        ("What about Canada?", [], "What about Canada?"),
        ("Who dissented?", HISTORY[1:], "Who dissented?"),
        ("Who wrote it?", ["Did Plessy v. Ferguson follow Roberts v. Boston?"], "it"),
    ],
)
def test_what_is_meant_is_asked_where_it_is_not_clear(
    client: FlaskClient, question: str, history: list, pointer: str
) -> None:
    said = [h if isinstance(h, dict) else {"role": "user", "content": h} for h in history]
    for wanted in (None, True):
        answer = ask(client, question=question, chat_history=said, read_follow_ups=wanted)
        assert rewritten(answer) == (None, None, UNCLEAR.format(pointer))
        assert (answer["decision"], answer["reason"]["code"]) == ("ABSTAIN", "unclear")
        assert f"“{pointer}”" in answer["reason"]["message"]


def test_a_question_that_stands_alone_is_left_alone(client: FlaskClient) -> None:
    for question in (READ_AS, "Is it lawful to segregate?", CASE):
        answer = ask(client, question=question, chat_history=[])
        assert rewritten(answer) == (None, None, None)
        assert answer["reason"]["code"] != "unclear"


def test_the_request_says_so_before_the_target(both: Both) -> None:
    services, server = both
    server.says(cited)
    settled = {"condense_followups": True, "llm_provider": "extractive"}
    target = services.targets["model"].model_copy(update=settled)
    services.targets["model"] = target
    client = create_app(lambda: Atlas(services)).test_client()
    assert rewritten(ask(client, target="model")) == (READ_AS, READ_AS, None)
    as_written = ask(client, target="model", read_follow_ups=False)
    assert rewritten(as_written) == (READ_AS, None, None)


def test_a_target_that_does_not_condense_asks_no_model_to_rewrite(both: Both) -> None:
    services, server = both
    server.says(cited)
    client = create_app(lambda: Atlas(services)).test_client()
    answer = ask(client, target="model", read_follow_ups=True)
    assert rewritten(answer) == (READ_AS, READ_AS, None)
    assert len(server.requests) == 1  # the answer


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("Why can a local authority not sue Robert Menzies?",
         "the rewriting names “Robert Menzies”, which nobody mentioned."),
        ("Why can a local authority not sue a newspaper since 1993?",
         "the rewriting gives the number “1993”, which nobody mentioned."),
        ("Why does [legal_uk.derbyshire p1] say so?",
         "the rewriting holds the citation “[legal_uk.derbyshire p1]”, and a question cites "
         "nothing."),
    ],
)  # fmt: skip
def test_a_model_that_invents_is_not_believed(both: Both, written: str, why: str) -> None:
    services, server = both
    server.then(Says(written))
    server.says(cited)
    answer, _ = asked(services, FOLLOW_UP, **CONDENSED)
    assert answer.standalone == ""
    assert answer.standalone_note == f"The question was not rewritten: {why}"
    assert answer.result.query.text == FOLLOW_UP


def test_the_description_of_the_api_names_the_request_and_the_answer(client: FlaskClient) -> None:
    schemas = client.get("/api/openapi.json").get_json()["components"]["schemas"]
    assert "read_as" in schemas["AskBody"]["properties"]["read_follow_ups"]["description"]
    assert "read_as" in schemas["AnswerOut"]["properties"]


def test_the_terminal_says_what_a_question_leaves_open(client: FlaskClient) -> None:
    answer = ask(client, question="When did he file it?", chat_history=[])
    assert "“he”" in answer["standalone_note"]
    console = Console(file=StringIO(), record=True, width=200)
    print_answer(console, answer)
    assert f"Note: {answer['standalone_note']}" in console.export_text()
