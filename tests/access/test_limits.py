"""How much a key or an address may take, and what is told when it was too much."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from atlas_search import Atlas
from atlas_search.core.errors import TooManyQuestions
from atlas_search.core.settings import Settings
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import KeyLimits, add_key
from atlas_search.server.access.quotas import Limiter, Spending
from atlas_search.server.app import create_app
from atlas_search.server.problems import problem_of
from tests.access.conftest import Signed, guard
from tests.access.two_corpora import QUESTION, two_corpora
from tests.chat_server import KEY
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server

TODAY = date(2026, 5, 1)
ASKED = {"question": QUESTION}
NO_KEY = Caller(frozenset({"reader"}))


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def limiter(tmp_path: Path, clock: Clock) -> Callable[..., Limiter]:
    def make(**settings: Any) -> Limiter:
        return Limiter(Settings(**settings), Spending(tmp_path / "spent" / "s.sqlite"), clock)

    return make


def caller_with(keys_file: Path, name: str, **limits: Any) -> Caller:
    key = add_key(keys_file, name, limits=KeyLimits(**limits)).key
    return Caller(frozenset({"reader"}), owner=key.id, key=key)


def test_requests_of_the_last_minute_count(limiter, clock: Clock, keys_file: Path) -> None:
    anna = caller_with(keys_file, "Anna", requests_per_minute=2)
    counted = limiter()
    counted.count_request(anna, "a")
    clock.now += 20
    counted.count_request(anna, "b")
    with pytest.raises(TooManyQuestions) as refused:
        counted.count_request(anna, "c")
    assert refused.value.retry_after == 40
    clock.now += 40
    counted.count_request(anna, "a")


def test_keys_and_addresses_are_counted_apart(limiter, keys_file: Path) -> None:
    anna, ben = (caller_with(keys_file, name) for name in ("Anna", "Ben"))
    counted = limiter(limit_requests_per_minute=1)
    for caller, address in ((anna, "a"), (ben, "a"), (NO_KEY, "a"), (NO_KEY, "b")):
        counted.count_request(caller, address)
    for caller, address in ((anna, "b"), (ben, "b"), (NO_KEY, "a"), (NO_KEY, "b")):
        with pytest.raises(TooManyQuestions):
            counted.count_request(caller, address)


def test_a_key_with_a_limit_of_its_own_has_that(limiter, keys_file: Path) -> None:
    anna = caller_with(keys_file, "Anna", requests_per_minute=3)
    counted = limiter(limit_requests_per_minute=1)
    for _ in range(3):
        counted.count_request(anna, "a")


def test_without_limits_nothing_is_counted(limiter) -> None:
    counted = limiter()
    for _ in range(500):
        counted.count_request(NO_KEY, "a")
        counted.open_stream(NO_KEY, "a")
    counted.check_cost(NO_KEY, "a")


def test_a_place_for_a_stream_is_given_back_once(limiter) -> None:
    counted = limiter(limit_streams=2)
    first, _ = counted.open_stream(NO_KEY, "a"), counted.open_stream(NO_KEY, "a")
    with pytest.raises(TooManyQuestions) as refused:
        counted.open_stream(NO_KEY, "a")
    assert refused.value.retry_after > 0
    first()
    first()
    counted.open_stream(NO_KEY, "a")
    with pytest.raises(TooManyQuestions):
        counted.open_stream(NO_KEY, "a")


def test_what_was_spent_outlives_the_server_but_not_the_day(tmp_path: Path) -> None:
    path = tmp_path / "new" / "spending.sqlite"
    assert Spending(path).of("anna", TODAY) == 0
    Spending(path).add("anna", TODAY, 0.25)
    Spending(path).add("anna", TODAY, 0.5)
    assert Spending(path).of("anna", TODAY) == 0.75
    assert Spending(path).of("ben", TODAY) == 0
    assert Spending(path).of("anna", date(2026, 5, 2)) == 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


# over HTTP


def keyed(parish: Atlas, keys_file: Path, tmp_path: Path, **limits: Any) -> Signed:
    key = add_key(keys_file, "Anna", limits=KeyLimits(**limits)).text
    guarded = guard(parish, keys_file, atlas_state_directory=tmp_path / "state")
    return Signed(create_app(lambda: guarded).test_client(), key)


def test_too_many_requests_are_told_when_to_come_again(
    parish: Atlas, keys_file: Path, tmp_path: Path
) -> None:
    signed = keyed(parish, keys_file, tmp_path, requests_per_minute=2)
    assert signed.get("/api/corpora").status_code == 200
    assert signed.get("/api/targets").status_code == 200
    refused = signed.get("/api/corpora")
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    assert refused.get_json(force=True)["retry_after"] == int(refused.headers["Retry-After"])
    assert signed.get("/api/health").status_code == 200


def test_guesses_at_keys_count_by_address(parish: Atlas, keys_file: Path) -> None:
    add_key(keys_file, "Anna")
    guarded = guard(parish, keys_file, limit_requests_per_minute=3)
    client = create_app(lambda: guarded).test_client()
    guesses = [
        client.get("/api/corpora", headers={"Authorization": f"Bearer atlas_{n}_{n}"}).status_code
        for n in range(5)
    ]
    assert guesses == [401, 401, 401, 429, 429]


def test_a_stream_holds_its_place_until_it_is_closed(
    parish: Atlas, keys_file: Path, tmp_path: Path
) -> None:
    signed = keyed(parish, keys_file, tmp_path, streams=1)
    stream = signed.post("/api/ask/stream", ASKED | {"qa_id": "q1"})
    assert signed.post("/api/ask", ASKED).status_code == 429
    assert signed.get("/api/ask/q1/stream").status_code == 429
    assert signed.post("/api/search", ASKED).status_code == 200
    stream.close()
    assert signed.post("/api/ask", ASKED, buffered=True).status_code == 200
    # a request that is refused gives its place back too
    assert signed.post("/api/ask", {"question": ""}, buffered=True).status_code == 400
    assert signed.post("/api/ask/stream", ASKED, buffered=True).status_code == 200


def test_a_key_that_has_spent_its_day_asks_no_more_models(keys_file: Path, tmp_path: Path) -> None:
    targets = tmp_path / "models"
    targets.mkdir()
    (targets / "model.txt").write_text(
        "LLM_PROVIDER=openai\nLLM_PRICE_INPUT=1000000\nLLM_PRICE_OUTPUT=1000000\n"
        "ANSWER_THRESHOLD=0\n"
    )
    with (
        openai_server() as model,
        two_corpora(
            tmp_path,
            HashEmbedder(),
            targets_directory=targets,
            test_target="model",
            openai_base_url=model.address,
            openai_api_key=KEY,
            query_cache_enabled=False,
        ) as opened,
    ):
        signed = keyed(opened, keys_file, tmp_path, cost_per_day=1)
        answer = signed.post("/api/ask", ASKED, buffered=True).get_json()
        assert answer["usage"]["cost"] > 1
        spending = Spending(tmp_path / "state" / "spending.sqlite")
        key = signed.headers["Authorization"].split("_")[1]
        assert spending.of(key, datetime.now(UTC).date()) == answer["usage"]["cost"]
        assert signed.post("/api/ask", ASKED).status_code == 429
        # what was spent is known to the next server
        guarded = guard(opened, keys_file, atlas_state_directory=tmp_path / "state")
        signed.client = create_app(lambda: guarded).test_client()
        refused = signed.post("/api/ask/stream", ASKED)
        assert refused.status_code == 429
        assert int(refused.headers["Retry-After"]) <= 24 * 3600
        assert "a new day begins at midnight" in refused.get_json(force=True)["detail"]
        assert signed.post("/api/search", ASKED).status_code == 200


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.3, "1 second"),
        (8.2, "9 seconds"),
        (119, "119 seconds"),
        (3000, "50 minutes"),
        (40_000, "12 hours"),
    ],
)
def test_a_problem_says_when_to_try_again(seconds: float, said: str) -> None:
    problem = problem_of(TooManyQuestions("Too much was asked.", seconds), "/api/ask")
    assert problem.detail == f"Too much was asked. Try again in {said}."
