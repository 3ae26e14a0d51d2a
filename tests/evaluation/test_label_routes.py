"""The routes of the labelling page: who may use them, and what a label may say."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search import Atlas
from atlas_search.core.domain import Passage
from atlas_search.evaluation.labels.label import Label, Span
from atlas_search.evaluation.labels.load import load_labels
from atlas_search.evaluation.people.label_file import LabelFile
from atlas_search.server.access.rules import RULES
from atlas_search.server.labelling.label_routes import LABEL_ROUTES
from atlas_search.server.labelling.rating_routes import RATING_ROUTES
from tests.access.two_corpora import QUESTION, two_corpora
from tests.hash_embedder import HashEmbedder
from tests.page.labelling import KEY, label_server

ASKED = {"id": "l1", "question": QUESTION}


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Iterator[Atlas]:
    # neither keys nor other names of the server hold here: the page is for who started it
    settings = {
        "api_keys_file": tmp_path_factory.mktemp("keys") / "keys.toml",
        "atlas_allowed_origins": "https://elsewhere.example",
    }
    with two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder(), **settings) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> LabelFile:
    return LabelFile(tmp_path / "labels.jsonl")


@pytest.fixture
def client(atlas: Atlas, file: LabelFile) -> Iterator[httpx2.Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    with (
        label_server(atlas, file.path) as address,
        httpx2.Client(base_url=address, headers=headers) as opened,
    ):
        yield opened


@pytest.fixture
def bridge(atlas: Atlas) -> Passage:
    return atlas.passages("meadow.bridge")[0]


def put(client: httpx2.Client, **fields: object) -> httpx2.Response:
    return client.put("/api/label", json=ASKED | fields)


def problem(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["detail"]


def span(passage: Passage, words: str, **changes: object) -> dict[str, Any]:
    start = passage.start + passage.text.index(words)
    place = {"document_id": passage.document_id, "start": start, "end": start + len(words)}
    return place | {"quote": words} | changes


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer another"}])
def test_nothing_but_the_page_is_there_without_the_key(
    client: httpx2.Client, headers: dict[str, str]
) -> None:
    with httpx2.Client(base_url=client.base_url, headers=headers) as stranger:
        assert stranger.get("/").is_success
        assert stranger.get("/static/labelling/label.js").is_success
        for method, path in (
            ("GET", "/api/labels"),
            ("GET", "/api/label?id=l1"),
            ("PUT", "/api/label"),
            ("DELETE", "/api/label?id=l1"),
            ("POST", "/api/search"),
        ):
            body = None if method in ("GET", "DELETE") else ASKED
            status, detail = problem(stranger.request(method, path, json=body))
            assert (status, "needs the key" in detail) == (401, True), (method, path)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "elsewhere.example"}, 421),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_pages_of_other_origins_may_not_write(
    client: httpx2.Client, file: LabelFile, headers: dict[str, str], status: int
) -> None:
    sent = {"Content-Type": "application/json"} | headers
    body = json.dumps(ASKED | {"should_answer": True})
    assert client.put("/api/label", content=body, headers=sent).status_code == status
    assert file.saved() == []


def test_of_the_routes_of_the_server_only_the_search_is_there(client: httpx2.Client) -> None:
    for path in ("/api/ask", "/api/ingest", "/api/cache/clear"):
        assert client.post(path, json={}).status_code == 404
    for path in ("/api/documents", "/api/openapi.json", "/api/config", "/metrics"):
        assert client.get(path).status_code in (403, 404)
    assert client.post("/api/search", json={"question": QUESTION}).is_success
    assert not (LABEL_ROUTES | RATING_ROUTES) & RULES.keys()


def test_words_that_do_not_stand_there_are_not_saved(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    right = span(bridge, "granite bridge")
    for wrong in (
        {"start": right["start"] + 1},
        {"quote": "granite Bridge"},
        {"end": 10**9},
        {"document_id": "meadow.mill"},
    ):
        status, detail = problem(put(client, spans=[right | wrong]))
        assert status == 400
        assert "do not stand at this place" in detail
    status, detail = problem(put(client, spans=[right | {"document_id": "meadow.gone"}]))
    assert (status, "meadow.gone" in detail) == (404, True)
    assert file.saved() == []
    assert put(client, spans=[right]).is_success
    [label] = load_labels(file.path)
    assert label.gold_spans == (Span("meadow.bridge", right["start"], right["end"]),)
    assert label.gold_document_ids == {"meadow.bridge"}


@pytest.mark.parametrize(
    ("fields", "status", "why"),
    [
        ({"marks": {"meadow.bridge:0-1": 1}}, 404, "no passage"),
        ({"marks": {"meadow.bridge:0-1": 4}}, 400, "from 0 to 3"),
        ({"marks": {"meadow.bridge:0-1": -1}}, 400, "from 0 to 3"),
        ({"should_answer": True, "question": "  "}, 400, "Write the question"),
        ({"answers": ["An answer"]}, 400, "say whether the collection answers"),
        ({"should_answer": True, "rating": 1}, 400, "rating"),
    ],
)
def test_a_label_that_cannot_be_meant_is_refused(
    client: httpx2.Client, file: LabelFile, fields: dict[str, object], status: int, why: str
) -> None:
    found, detail = problem(put(client, **fields))
    assert (found, why in detail) == (status, True), detail
    assert file.saved() == []


def test_what_the_page_does_not_show_stays(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    before = Label(
        "l1",
        "train",
        "old",
        "Who keeps it?",
        (),
        frozenset({"meadow.bridge", "meadow.gone", "meadow.mill"}),
        kind="by hand",
        gold_passage_ids=frozenset({bridge.id, "meadow.gone:0-9"}),
        gold_spans=(Span("meadow.gone", 2, 5),),
        grades={"meadow.mill": 2, "meadow.other": 0, bridge.id: 3, "meadow.bridge": 3},
        corpus_filter=("meadow",),
        filters={"year": 1931.0},
    )
    file.save(before)
    shown = client.get("/api/label", params={"id": "l1"}).json()
    assert shown["missing"] == ["meadow.gone:0-9"]
    assert shown["documents"] == ["meadow.mill"]
    assert shown["marks"] == {bridge.id: 3, "meadow.gone:0-9": 1}
    assert [passage["passage_id"] for passage in shown["passages"]] == [bridge.id]
    del shown["passages"], shown["missing"]
    assert put(client, **shown | {"category": "new"}).is_success
    [after] = load_labels(file.path)
    told = {"meadow.gone": 1, "meadow.gone:0-9": 1}
    assert after == replace(before, category="new", grades=before.grades | told)


def test_what_is_judged_as_not_relevant_is_kept_and_is_not_gold(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    saved = put(client, marks={bridge.id: 0}, should_answer=False)
    assert saved.json()["marks"] == {bridge.id: 0}
    [label] = load_labels(file.path)
    assert (label.gold_passage_ids, label.gold_document_ids) == (frozenset(), frozenset())
    assert (label.grades, label.answerable) == ({bridge.id: 0}, False)


def test_a_category_that_nobody_named_follows_what_is_known(
    client: httpx2.Client, file: LabelFile
) -> None:
    first = put(client, should_answer=True).json()
    assert first["category"] == "answerable"
    fields = {"category": "answerable", "revision": first["revision"]}
    second = put(client, should_answer=False, **fields).json()
    assert second["category"] == "unanswerable"
    named = {"category": " tall ", "revision": second["revision"]}
    assert put(client, should_answer=False, **named).is_success
    assert load_labels(file.path)[0].category == "tall"


def test_a_label_that_changed_meanwhile_is_a_conflict(
    client: httpx2.Client, file: LabelFile
) -> None:
    first = put(client, should_answer=True).json()["revision"]
    assert put(client, should_answer=False, revision=first).is_success
    assert put(client, category="mine", should_answer=True, revision=first).status_code == 409
    gone = client.delete("/api/label", params={"id": "l1", "revision": first})
    assert gone.status_code == 409
    [line] = client.get("/api/labels").json()["labels"]
    deleted = client.delete("/api/label", params={"id": "l1", "revision": line["revision"]})
    assert deleted.is_success
    assert client.get("/api/label", params={"id": "l1"}).status_code == 404
