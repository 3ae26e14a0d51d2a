"""The routes of the labelling page: who may use them, and what a label may say."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search import Atlas
from atlas_search.core.domain import Passage
from atlas_search.evaluation.label_files import load_labels
from atlas_search.evaluation.labels import Decision, GoldSpan, Label
from atlas_search.evaluation.people import LabelFile
from atlas_search.server.access.caller import RULES
from atlas_search.server.labelling import LABEL_ROUTES, RATING_ROUTES
from tests.hash_embedder import HashEmbedder
from tests.page.labelling import KEY, label_server
from tests.recorded_spans import recording, traced_by
from tests.server.two_corpora import QUESTION, two_corpora

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


def test_what_tells_of_the_collection_is_kept_nowhere_and_the_parts_of_the_page_are(
    client: httpx2.Client,
) -> None:
    page = client.get("/")
    assert page.headers["Cache-Control"] == "no-store"
    (script,) = re.findall(r'src="([^"]+)"', page.text)
    assert "immutable" in client.get(f"/{script}").headers["Cache-Control"]
    for path in ("/api/labels", "/none", "/static/none"):
        assert client.get(path).headers["Cache-Control"] == "no-store", path


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


@pytest.mark.parametrize("wish", ["telemetry", "Sec-GPC", ""])
def test_who_wants_no_trace_leaves_none(atlas: Atlas, tmp_path: Path, wish: str) -> None:
    body = {"question": QUESTION} | ({"telemetry": False} if wish == "telemetry" else {})
    headers = {"Authorization": f"Bearer {KEY}"} | ({"Sec-GPC": "1"} if wish == "Sec-GPC" else {})
    with recording() as (tracer, recorded):
        traced = Atlas(traced_by(atlas.services, tracer))
        with label_server(traced, tmp_path / "labels.jsonl") as address:
            result = httpx2.post(f"{address}/api/search", json=body, headers=headers)
        assert result.status_code == 200
        assert bool(recorded.spans) is not bool(wish)


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
    assert label.gold_spans == (GoldSpan("meadow.bridge", right["start"], right["end"]),)
    assert label.gold_document_ids == {"meadow.bridge"}


@pytest.mark.parametrize(
    ("fields", "status", "why"),
    [
        ({"marks": {"meadow.bridge:0-1": 1}}, 404, "no passage"),
        ({"marks": {"meadow.bridge:0-1": 4}}, 400, "from 0 to 3; meadow.bridge:0-1 was given 4"),
        ({"marks": {"meadow.bridge:0-1": -1}}, 400, "from 0 to 3"),
        ({"should_answer": True, "question": "  "}, 400, "Enter the question"),
        ({"answers": [" "]}, 400, "say whether the collection answers"),
        ({"should_answer": True, "rating": 1}, 400, "rating"),
        ({"should_answer": True, "question": "?" * 4001}, 400, "question"),
    ],
)
def test_a_label_that_cannot_be_meant_is_refused(
    client: httpx2.Client, file: LabelFile, fields: dict[str, object], status: int, why: str
) -> None:
    result, detail = problem(put(client, **fields))
    assert (result, why in detail) == (status, True), detail
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
        gold_spans=(GoldSpan("meadow.gone", 2, 5),),
        grades={"meadow.mill": 2, "meadow.other": 0, bridge.id: 3, "meadow.bridge": 3},
        corpus_filter=("meadow",),
        filters={"year": 1931.0},
    )
    file.save(before)
    view = client.get("/api/label", params={"id": "l1"}).json()
    assert view["missing"] == ["meadow.gone:0-9"]
    assert view["documents"] == ["meadow.mill"]
    assert view["marks"] == {bridge.id: 3, "meadow.gone:0-9": 1}
    assert [passage["passage_id"] for passage in view["passages"]] == [bridge.id]
    del view["passages"], view["missing"]
    assert put(client, **view | {"category": "new"}).is_success
    after = file.find("l1").label
    gone = {"meadow.gone": 1, "meadow.gone:0-9": 1}
    assert after == replace(before, category="new", grades=before.grades | gone)


def save_twice(client: httpx2.Client, **changes: object) -> None:
    """Open the label, save it with changes, open it again and save it as it is."""
    for changed in (changes, {}):
        view = client.get("/api/label", params={"id": "l1"}).json()
        del view["passages"], view["missing"]
        response = put(client, **view | changed)
        assert response.is_success, response.text


@pytest.mark.parametrize("grade", [0, 1, 3])
def test_a_document_that_is_known_without_its_passage_keeps_its_grade(
    client: httpx2.Client, file: LabelFile, bridge: Passage, grade: int
) -> None:
    before = Label("l1", "", "tall", QUESTION, (), frozenset({"meadow.bridge"}))
    file.save(replace(before, grades={"meadow.bridge": 3}))
    save_twice(client, marks={bridge.id: grade})
    after = file.find("l1").label
    assert after.relevance == {"meadow.bridge": 3}
    assert after.grades == {"meadow.bridge": 3, bridge.id: grade}


def test_a_document_that_follows_from_its_passage_has_the_grade_of_that(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    put(client, marks={bridge.id: 3})
    save_twice(client, marks={bridge.id: 1})
    assert file.find("l1").label.relevance == {"meadow.bridge": 1}
    save_twice(client, marks={bridge.id: 0}, should_answer=False)
    assert file.find("l1").label.relevance == {}


def test_grades_of_documents_alone_are_gold_as_an_evaluation_reads_them(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    line = {"id": "l1", "split": "", "category": "tall", "question": QUESTION}
    grades = {"meadow.bridge": 2, "meadow.mill": 0}
    file.path.write_text(json.dumps(line | {"grades": grades}))
    [read] = load_labels(file.path)
    assert client.get("/api/labels").json()["labels"][0]["relevant"] == 1
    save_twice(client, category="new")
    assert file.find("l1").label.grades == grades
    assert load_labels(file.path) == [replace(read, category="new")]


@pytest.mark.parametrize(
    ("answered", "decision"), [(True, "ABSTAIN"), (True, "BLOCK"), (False, "ANSWER")]
)
def test_what_becomes_of_a_question_does_not_contradict_whether_it_is_answered(
    client: httpx2.Client, file: LabelFile, answered: bool, decision: Decision
) -> None:
    file.save(Label("l1", "", "tall", QUESTION, expected_decision=decision))
    save_twice(client)
    assert file.find("l1").label.expected_decision == decision
    save_twice(client, should_answer=answered)
    [label] = load_labels(file.path)
    assert (label.answerable, label.expected_decision) == (answered, None)


def test_what_a_file_holds_and_the_page_would_not_write_is_shown_and_kept(
    client: httpx2.Client, file: LabelFile, bridge: Passage
) -> None:
    other = Label("l1", "", "c" * 300, QUESTION, tuple(map(str, range(60))))
    marked = {"gold_passage_ids": frozenset({bridge.id}), "grades": {bridge.id: 5}}
    file.save(replace(other, **marked))
    save_twice(client, split="dev")
    after = file.find("l1").label
    assert (after.answers, after.category, after.split) == (other.answers, other.category, "dev")
    assert after.grades == {"meadow.bridge": 5, bridge.id: 5}
    status, detail = problem(put(client, marks={bridge.id: 4}))
    assert (status, f"{bridge.id} was given 4" in detail) == (400, True)
    file.save(replace(other, id="l2", question="?" * 5000))
    assert client.get("/api/label", params={"id": "l2"}).json()["question"] == "?" * 5000


def test_a_category_that_nobody_named_follows_and_a_label_is_changed_by_its_revision(
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
    # the label has changed since it was opened
    stale = put(client, category="mine", should_answer=True, revision=first["revision"])
    assert stale.status_code == 409
    [line] = client.get("/api/labels").json()["labels"]
    for revision, status in ((first["revision"], 409), (line["revision"], 200)):
        gone = client.delete("/api/label", params={"id": "l1", "revision": revision})
        assert gone.status_code == status
    assert client.get("/api/label", params={"id": "l1"}).status_code == 404
