"""What no passage speaks of is told to the model, and nothing it states of it is sent."""

from collections.abc import Iterator

import pytest

from atlas_search.services import Services
from tests.answering import SERVERS, answered_by, asked
from tests.chat_server import ChatServer, Request
from tests.slow_model import TOKEN

QUESTION = "What did Lord Quillfeather say about a local authority that sues a newspaper for libel?"
Both = tuple[Services, ChatServer]


@pytest.fixture(params=list(SERVERS))
def both(request: pytest.FixtureRequest, services: Services) -> Iterator[Both]:
    with answered_by(request.param, services) as found:
        yield found


def token(request: Request) -> str:
    return next(iter(TOKEN.findall(request.prompt)), "")


def asserting(request: Request) -> str:
    return f"Lord Quillfeather said that a council may not be libelled {token(request)}."


def admitting(request: Request) -> str:
    return (
        f"No passage names Lord Quillfeather {token(request)}. "
        f"A local authority has no action for libel {token(request)}."
    )


def plain(request: Request) -> str:
    return f"Quillfeather holds that a council sues nobody for libel {token(request)}."


def test_the_model_is_told_what_no_passage_speaks_of(both: Both) -> None:
    services, server = both
    server.says(admitting)
    answer, _ = asked(services, QUESTION, answer_threshold=0.0)
    assert "No passage speaks of: Quillfeather" in server.requests[0].prompt
    assert answer.outcome.decision == "ANSWER"
    assert "No passage found speaks of Quillfeather." in answer.verification.warnings


def test_what_it_states_of_it_all_the_same_is_repaired_then_blocked(both: Both) -> None:
    services, server = both
    server.says(asserting)
    answer, _ = asked(services, QUESTION.replace("Lord ", ""), answer_threshold=0.0)
    assert answer.outcome.decision == "BLOCK"
    assert answer.outcome.code == "unknown_name"
    assert answer.text == ""
    assert "which no passage speaks of" in server.requests[1].prompt
    assert answer.closest


def test_a_repair_that_asserts_nothing_of_it_is_sent(both: Both) -> None:
    services, server = both
    server.says(lambda request: (plain if len(server.requests) < 2 else admitting)(request))
    answer, _ = asked(services, QUESTION.replace("Lord ", ""), answer_threshold=0.0)
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.attempts == 2
