"""Long conversations: an answer keeps what it needs of them, and counts the tokens of no more."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.answer.answer import Answer
from atlas_search.answer.follow_up import CHARACTERS_READ, TURNS_READ
from atlas_search.answer.write.prompt import CHARACTERS_OF_TOKEN, count_tokens
from atlas_search.documents.bundle import RunBundle, replay
from atlas_search.server.app import create_app
from atlas_search.server.runs import Runs
from tests.slow_model import SlowModel

BUDGET = 300  # tokens of chat memory
QUESTION = "Who gives wool?"
LONG = [
    {"role": role, "content": f"{role} speaks of wool {number}. " * 300}
    for number in range(100)
    for role in ("user", "assistant")
]
SHORT = [
    {"role": "user", "content": "Do cows give milk?"},
    {"role": "assistant", "content": "Cows give milk."},
]
OTHERS = {
    "one turn": [{"role": "user", "content": "wool " * 350_000}],
    "one word": [{"role": "user", "content": "w" * 1_500_000}],
    "blanks": [{"role": "user", "content": " " * 1_500_000}],
    "long turns": LONG,
    "long turns before short ones": LONG[:198] + SHORT,
}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every text whose tokens are counted."""
    found: list[str] = []

    def count(texts: Sequence[str]) -> list[int]:
        found.extend(texts)
        return count_tokens(texts)

    for module in ("asking", "answer.write.condense", "answer.write.prompt"):
        monkeypatch.setattr(f"atlas_search.{module}.count_tokens", count)
    return found


@pytest.fixture
def atlas(farm: Atlas) -> Atlas:
    """The farm, answered by a model that may write at once."""
    model = SlowModel()
    model.go.release(1000)
    name = farm.services.settings.test_target
    changed = {"llm_provider": "openai", "chat_memory_tokens": BUDGET, "answer_threshold": 0.0}
    target = farm.services.targets[name].model_copy(update=changed)
    answerer = replace(farm.services.answerer, models={"openai": model})
    return Atlas(replace(farm.services, answerer=answerer, targets={name: target}))


@pytest.fixture
def client(atlas: Atlas) -> FlaskClient:
    return create_app(lambda: atlas).test_client()


def asked(client: FlaskClient, history: object, number: int = 0) -> Answer:
    """The answer as the server keeps it."""
    body = {"question": QUESTION, "chat_history": history, "qa_id": f"q{number}"}
    response = client.post("/api/ask", json=body)
    assert response.status_code == 200, response.text
    runs = client.application.extensions["runs"]
    assert isinstance(runs, Runs)
    found = runs.get(f"q{number}").answer
    assert found
    return found


def kept(answer: Answer) -> int:
    """Characters of the conversation that an answer holds on to."""
    turns = {id(turn.content): len(turn.content) for turn in answer.request.history}
    # the last message is the question with its passages
    told = {id(m.content): len(m.content) for m in answer.context.messages[1:-1]}
    return sum({**turns, **told}.values())


MOST_KEPT = BUDGET * CHARACTERS_OF_TOKEN + TURNS_READ * CHARACTERS_READ


@pytest.mark.parametrize("history", OTHERS.values(), ids=OTHERS)
def test_an_answer_keeps_little_of_a_long_conversation(
    client: FlaskClient, counted: list[str], history: list[dict[str, str]]
) -> None:
    answer = asked(client, history)
    assert kept(answer) <= MOST_KEPT
    of_turns = [text for text in counted if not text.startswith("<passage")]
    assert sum(map(len, of_turns)) <= 4 * BUDGET * CHARACTERS_OF_TOKEN
    assert answer.context.turns + answer.context.turns_dropped == len(history)


def test_forty_questions_keep_forty_times_that(client: FlaskClient) -> None:
    answers = [asked(client, LONG, number) for number in range(40)]
    assert sum(map(kept, answers)) <= 40 * MOST_KEPT


def test_the_newest_turns_reach_the_model_whole(client: FlaskClient) -> None:
    answer = asked(client, OTHERS["long turns before short ones"])
    told = [message.content for message in answer.context.messages[1:-1]]
    assert told == [turn["content"] for turn in SHORT]
    assert (answer.context.turns, answer.context.turns_dropped) == (2, 198)


def test_a_bundle_says_how_many_turns_were_used_and_can_be_replayed(
    client: FlaskClient, atlas: Atlas
) -> None:
    asked(client, OTHERS["long turns before short ones"])
    content = client.get("/api/ask/q0/export?format=bundle").text
    bundle = RunBundle.from_json(content, "the answer")
    assert (bundle.conversation.turns, bundle.conversation.turns_dropped) == (2, 198)
    assert [message.content for message in bundle.prompt[1:-1]] == [t["content"] for t in SHORT]
    assert replay(atlas.services.searcher, bundle).identical


def test_a_bundle_of_before_that_counts_no_turns_is_read(client: FlaskClient) -> None:
    asked(client, SHORT)
    content = client.get("/api/ask/q0/export?format=bundle").get_json(force=True)
    del content["conversation"]
    assert RunBundle.from_json(json.dumps(content), "it").conversation.turns == 0


def test_without_a_model_only_what_follow_ups_are_read_after_is_kept(
    farm_client: FlaskClient, counted: list[str]
) -> None:
    answer = asked(farm_client, LONG)
    assert len(answer.request.history) == TURNS_READ
    assert answer.request.turns_dropped == len(LONG) - TURNS_READ
    assert kept(answer) == TURNS_READ * CHARACTERS_READ
    assert counted == []


def test_a_follow_up_is_read_after_the_last_turns(farm_client: FlaskClient) -> None:
    body = {"question": "Why not?", "chat_history": [*LONG[:150], *SHORT]}
    found = farm_client.post("/api/ask", json=body).get_json()
    alone = farm_client.post("/api/ask", json={**body, "chat_history": SHORT}).get_json()
    assert found["read_as"] == alone["read_as"] != ""
