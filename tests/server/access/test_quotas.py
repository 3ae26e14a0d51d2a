"""Limits of a key or an address, and the links to answers that it may give away."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from flask.testing import FlaskClient
from pydantic import SecretStr

from atlas_search import Atlas
from atlas_search.core.errors import Conflict, NotFound, TooManyQuestions
from atlas_search.core.settings import Settings
from atlas_search.server.access import quotas
from atlas_search.server.access.caller import Caller
from atlas_search.server.access.keys import KeyFile, KeyLimits, add_key, revoke_key
from atlas_search.server.access.quotas import (
    REQUESTS_TABLE,
    SHARED_TABLE,
    SPENDING_TABLE,
    Limiter,
    SharedAnswers,
    Spending,
)
from atlas_search.server.problems import problem_of
from atlas_search.server.state import OpenState, StateFile
from tests.chat_server import KEY
from tests.hash_embedder import HashEmbedder
from tests.openai_server import openai_server
from tests.server.listening import listening
from tests.server.two_corpora import COLLECTION, QUESTION, TOKEN, Signed, client_of, guard
from tests.servers import app_of

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
def limiter(open_state: OpenState, clock: Clock) -> Callable[..., Limiter]:
    def make(**settings: Any) -> Limiter:
        spending = Spending(open_state("spending", SPENDING_TABLE))
        minute = open_state("requests", REQUESTS_TABLE)
        return Limiter(Settings(**settings), spending, clock, minute if minute.is_shared else None)

    return make


def caller_with(keys_file: Path, name: str, **limits: Any) -> Caller:
    key = add_key(KeyFile(keys_file), name, limits=KeyLimits(**limits)).key
    return Caller(frozenset({"reader"}), owner=key.id, key=key)


def test_requests_of_the_last_minute_count(
    limiter: Callable[..., Limiter], clock: Clock, keys_file: Path
) -> None:
    anna = caller_with(keys_file, "Anna", requests_per_minute=2)
    counted = limiter()
    counted.count_request(anna, "a")
    clock.now += 20
    counted.count_request(anna, "b")
    with pytest.raises(TooManyQuestions) as refusal:
        counted.count_request(anna, "c")
    assert refusal.value.retry_after == 40
    clock.now += 40
    counted.count_request(anna, "a")


def test_keys_and_addresses_are_counted_apart_and_a_limit_of_its_own_goes_first(
    limiter: Callable[..., Limiter], keys_file: Path
) -> None:
    anna, ben = (caller_with(keys_file, name) for name in ("Anna", "Ben"))
    cleo = caller_with(keys_file, "Cleo", requests_per_minute=3)
    counted = limiter(limit_requests_per_minute=1)
    taken = ((anna, "a"), (ben, "a"), (NO_KEY, "a"), (NO_KEY, "b"), *[(cleo, "a")] * 3)
    for caller, address in taken:
        counted.count_request(caller, address)
    for caller, address in ((anna, "b"), (ben, "b"), (NO_KEY, "a"), (NO_KEY, "b"), (cleo, "a")):
        with pytest.raises(TooManyQuestions):
            counted.count_request(caller, address)


def test_without_limits_nothing_is_counted(limiter: Callable[..., Limiter]) -> None:
    counted = limiter()
    for _ in range(500):
        counted.count_request(NO_KEY, "a")
        counted.open_stream(NO_KEY, "a")
    counted.check_cost(NO_KEY, "a")


def test_a_place_for_a_stream_is_given_back_once(limiter: Callable[..., Limiter]) -> None:
    counted = limiter(limit_streams=2)
    first, _ = counted.open_stream(NO_KEY, "a"), counted.open_stream(NO_KEY, "a")
    with pytest.raises(TooManyQuestions) as refusal:
        counted.open_stream(NO_KEY, "a")
    assert refusal.value.retry_after > 0
    first()
    first()
    counted.open_stream(NO_KEY, "a")
    with pytest.raises(TooManyQuestions):
        counted.open_stream(NO_KEY, "a")


def test_a_days_spending_outlives_the_server_but_not_the_day(open_state: OpenState) -> None:
    def spending() -> Spending:
        return Spending(open_state("spending", SPENDING_TABLE))

    assert spending().of("anna", TODAY) == 0
    spending().add("anna", TODAY, 0.25)
    spending().add("anna", TODAY, 0.5)
    assert spending().of("anna", TODAY) == 0.75
    assert spending().of("ben", TODAY) == 0
    assert spending().of("anna", date(2026, 5, 2)) == 0
    spending().add("anna", date(2026, 6, 2), 1)
    assert spending().of("anna", TODAY) == 0


def test_the_file_of_costs_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "spending.sqlite"
    Spending(StateFile(path, SPENDING_TABLE)).add("anna", TODAY, 0.25)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("seconds", "time"),
    [
        (0.3, "1 second"),
        (8.2, "9 seconds"),
        (119, "119 seconds"),
        (3000, "50 minutes"),
        (40_000, "12 hours"),
    ],
)
def test_a_problem_says_when_to_try_again(seconds: float, time: str) -> None:
    problem = problem_of(TooManyQuestions("Too much was asked.", seconds), "/api/ask")
    assert problem.detail == f"Too much was asked. Try again in {time}."


# over HTTP


def keyed(parish: Atlas, keys_file: Path, state: Path, **limits: Any) -> Signed:
    key = add_key(KeyFile(keys_file), "Anna", limits=KeyLimits(**limits)).text
    return Signed(client_of(parish, keys_file, atlas_state_directory=state), key)


def test_too_many_requests_are_told_when_to_come_again(
    parish: Atlas, keys_file: Path, tmp_path: Path
) -> None:
    signed = keyed(parish, keys_file, tmp_path, requests_per_minute=2)
    assert signed.get("/api/corpora").status_code == 200
    assert signed.get("/api/targets").status_code == 200
    refusal = signed.get("/api/corpora")
    assert refusal.status_code == 429
    assert 1 <= int(refusal.headers["Retry-After"]) <= 60
    assert refusal.get_json(force=True)["retry_after"] == int(refusal.headers["Retry-After"])
    assert signed.get("/api/health").status_code == 200


def test_guesses_at_keys_count_by_address(parish: Atlas, keys_file: Path) -> None:
    add_key(KeyFile(keys_file), "Anna")
    client = client_of(parish, keys_file, limit_requests_per_minute=3)
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


def test_a_key_that_has_spent_its_day_asks_no_more_models(
    parish: Atlas, keys_file: Path, tmp_path: Path
) -> None:
    targets = tmp_path / "models"
    targets.mkdir()
    (targets / "model.txt").write_text(
        "LLM_PROVIDER=openai\nLLM_PRICE_INPUT=1000000\nLLM_PRICE_OUTPUT=1000000\n"
        "ANSWER_THRESHOLD=0\n"
    )
    options = {"targets_directory": targets, "test_target": "model", "query_cache_enabled": False}
    with openai_server() as model:
        options |= {"openai_base_url": model.address, "openai_api_key": KEY}
        folder = parish.services.settings.collection_folder
        with Atlas.open(folder, embedder=HashEmbedder(), **options) as opened:
            signed = keyed(opened, keys_file, tmp_path / "spent", cost_per_day=1)
            answer = signed.post("/api/ask", ASKED, buffered=True).get_json()
            assert answer["usage"]["cost"] > 1
            path = tmp_path / "spent" / "spending.sqlite"
            spending = Spending(StateFile(path, SPENDING_TABLE))
            key = signed.headers["Authorization"].split("_")[1]
            assert spending.of(key, datetime.now(UTC).date()) == answer["usage"]["cost"]
            assert signed.post("/api/ask", ASKED).status_code == 429
            # the next server knows it too
            signed.client = client_of(opened, keys_file, atlas_state_directory=tmp_path / "spent")
            refusal = signed.post("/api/ask/stream", ASKED)
            assert refusal.status_code == 429
            assert int(refusal.headers["Retry-After"]) <= 24 * 3600
            assert "a new day begins at midnight" in refusal.get_json(force=True)["detail"]
            assert signed.post("/api/search", ASKED).status_code == 200


# links to answers

LINKED = {"question": QUESTION, "qa_id": "q1", "include_context": True}


def link_of(signed: Signed, **changes: object) -> str:
    assert signed.post("/api/ask", LINKED | changes).status_code == 200
    link = signed.post("/api/ask/q1/link", {"hours": 1})
    assert link.status_code == 200
    assert link.get_json()["expires"].endswith("+00:00")
    return str(link.get_json()["url"].removeprefix("http://localhost"))


def test_whoever_has_the_link_reads_this_answer_alone_without_a_key(
    client: FlaskClient, narrow: Signed
) -> None:
    shared = client.get(link_of(narrow))
    assert shared.get_json() == narrow.get("/api/ask/q1").get_json()
    assert shared.headers["Cache-Control"] == "no-store"
    assert client.get("/api/ask/q1").status_code == 401
    assert client.get("/api/corpora").status_code == 401


def test_a_link_can_be_read_as_a_page_and_in_every_format(
    client: FlaskClient, narrow: Signed
) -> None:
    path = link_of(narrow)
    page = client.get(f"{path}?format=html")
    assert page.mimetype == "text/html"
    assert "<h1>" in page.text
    assert "keeps the granite bridge" in page.text
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert client.get(f"{path}?format=markdown").text.startswith("# Who keeps")
    assert len(client.get(f"{path}?format=json").get_json()["answers"]) == 1
    refusal = client.get(f"{path}?format=exe")
    assert refusal.status_code == 400
    assert refusal.get_json()["detail"].startswith("format='exe': give 'markdown', ")


def test_no_source_or_question_is_markup_of_the_page(client: FlaskClient, narrow: Signed) -> None:
    question = f"<script>alert(1)</script> <img src=x> ![a](http://b/c) {QUESTION}"
    page = client.get(f"{link_of(narrow, question=question)}?format=html").text
    assert "alert(1)" in page
    assert "<script" not in page
    assert "<img" not in page


def test_a_link_outlives_the_server_and_its_memory(guarded: Atlas, narrow: Signed) -> None:
    path = link_of(narrow)
    again = app_of(guarded).test_client()
    assert again.get(path).get_json()["question"] == QUESTION


@pytest.mark.parametrize("change", ["revoked", "other corpora"])
def test_a_link_is_taken_back_with_the_key(
    client: FlaskClient, keys_file: Path, narrow: Signed, change: str
) -> None:
    path = link_of(narrow)
    if change == "revoked":
        revoke_key(KeyFile(keys_file), "narrow")
    else:
        content = json.loads(keys_file.read_text())
        content["keys"][0]["corpora"] = {COLLECTION: []}
        keys_file.write_text(json.dumps(content))
    assert client.get(path).status_code == 404


def test_without_keys_links_work_until_keys_are_used(parish: Atlas, client: FlaskClient) -> None:
    anyone = client_of(parish, None)
    anyone.post("/api/ask", json=LINKED)
    url = anyone.post("/api/ask/q1/link", json={}).get_json()["url"]
    assert anyone.get(url).get_json()["trace_id"] == ""
    assert anyone.get(url).get_json()["span_id"] == ""
    assert client.get(url).status_code == 404


def test_an_administrators_link_needs_the_token_to_be_set(
    client: FlaskClient, parish: Atlas, keys_file: Path
) -> None:
    path = link_of(Signed(client, TOKEN))
    assert client.get(path).status_code == 200
    without = client_of(parish, keys_file, atlas_admin_token=SecretStr(""))
    assert without.get(path).status_code == 404


def test_a_link_is_good_for_a_bounded_time_and_as_usual_without_a_body(
    client: FlaskClient, narrow: Signed
) -> None:
    narrow.post("/api/ask", LINKED)
    for hours in (0, -1, 2161, 1.5, "x", None):
        assert narrow.post("/api/ask/q1/link", {"hours": hours}).status_code == 400, hours
    link = client.post("/api/ask/q1/link", headers=narrow.headers)
    assert link.status_code == 200
    assert client.get(link.get_json()["url"].removeprefix("http://localhost")).status_code == 200


def test_anothers_answer_cannot_be_shared(narrow: Signed, whole: Signed) -> None:
    narrow.post("/api/ask", LINKED)
    assert whole.post("/api/ask/q1/link", {"hours": 1}).status_code == 404


def test_another_token_is_answered_as_one_that_is_not_known(
    client: FlaskClient, narrow: Signed
) -> None:
    link_of(narrow)
    assert client.get("/api/shared/../q1").status_code == 404
    for token in ("x" * 43, "q1", "%00", "x" * 5000):
        refusal = client.get(f"/api/shared/{token}")
        assert refusal.status_code == 404
        assert "There is no such link" in refusal.get_json()["detail"]


@pytest.fixture
def answers(open_state: OpenState, clock: Clock) -> SharedAnswers:
    return SharedAnswers(open_state("shared", SHARED_TABLE), lambda owner: owner == "a", clock)


def test_a_link_expires_and_its_answer_goes_a_month_later(
    answers: SharedAnswers, clock: Clock
) -> None:
    first = answers.share({"answer": "planted words"}, "a", 10)
    assert answers.read(first.token) == {"answer": "planted words"}
    clock.now = first.expires
    with pytest.raises(NotFound):
        answers.read(first.token)
    clock.now += 31 * 86_400
    second = answers.share({}, "a", 10)
    clock.now -= 31 * 86_400 + 5
    with pytest.raises(NotFound):
        answers.read(first.token)
    assert answers.read(second.token) == {}


def test_the_file_of_answers_is_private_and_gives_no_link_away(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "state" / "shared.sqlite"
    answers = SharedAnswers(StateFile(path, SHARED_TABLE), lambda _: True, clock)
    link = answers.share({}, "a", 10)
    assert path.stat().st_mode & 0o777 == 0o600
    assert link.token.encode() not in path.read_bytes()


def test_nobody_has_more_links_than_may_be(
    answers: SharedAnswers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "MOST_OF_ONE", 2)
    for _ in range(2):
        answers.share({}, "a", 10, "x")
    with pytest.raises(Conflict, match="2 links of yours are open"):
        answers.share({}, "a", 10, "x")
    answers.share({}, "a", 10, "y")


def test_a_link_needs_the_room_of_one_that_expired_and_a_clock_ahead_deletes_none(
    answers: SharedAnswers, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "MOST_LINKS", 2)
    first = answers.share({"answer": 1}, "a", 10, "x")
    clock.now += 20 * 86_400
    answers.share({}, "a", 10, "x")
    clock.now -= 20 * 86_400
    assert answers.read(first.token) == {"answer": 1}
    with pytest.raises(Conflict, match=r"2 links of all are open.* 1970-01-01 00:16 \(UTC\)"):
        answers.share({}, "a", 10, "y")
    clock.now += 20
    answers.share({}, "a", 10, "y")
    clock.now -= 20
    with pytest.raises(NotFound):
        answers.read(first.token)


def test_without_keys_each_address_has_its_share_of_links_and_deletes_its_own(
    parish: Atlas, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "MOST_OF_ONE", 2)
    guarded = guard(parish, None, atlas_state_directory=tmp_path, trusted_proxies="127.0.0.1")
    with listening(app_of(guarded)) as (host, port):

        def send(method: str, path: str, address: str, **options: Any) -> Any:
            headers = {"X-Forwarded-For": address, **options.pop("headers", {})}
            address = f"http://{host}:{port}{path}"
            return httpx2.request(method, address, headers=headers, timeout=60, **options)

        send("POST", "/api/ask", "2001:db8::1", json=LINKED)
        urls = []
        for last in ("1", "2"):
            link = send("POST", "/api/ask/q1/link", f"2001:db8::{last}", json={})
            urls.append("/api/shared/" + link.json()["url"].rpartition("/")[2])
        refusal = send("POST", "/api/ask/q1/link", "2001:db8::3", json={})
        assert refusal.status_code == 409
        assert "2 links of yours are open" in refusal.json()["detail"]
        assert "the first expires at 20" in refusal.json()["detail"]
        assert send("POST", "/api/ask/q1/link", "2001:db8:0:1::1", json={}).status_code == 200
        assert send("DELETE", urls[0], "192.0.2.1").status_code == 403
        assert send("DELETE", urls[0], "2001:db8::9").json() == {"deleted": True}
        assert send("GET", urls[0], "2001:db8::9").status_code == 404
        assert send("DELETE", urls[0], "2001:db8::9").status_code == 404
        assert send("POST", "/api/ask/q1/link", "2001:db8::3", json={}).status_code == 200
        token = {"Authorization": f"Bearer {TOKEN}"}
        assert send("DELETE", urls[1], "192.0.2.1", headers=token).status_code == 200


def test_requests_of_an_ipv6_client_count_by_its_64(limiter: Callable[..., Limiter]) -> None:
    counted = limiter(limit_requests_per_minute=1)
    counted.count_request(NO_KEY, "2001:db8::1")
    with pytest.raises(TooManyQuestions):
        counted.count_request(NO_KEY, "2001:db8::2")
    counted.count_request(NO_KEY, "2001:db8:0:1::1")
