"""Each kind of request is one whole trace, however it is asked and read."""

import json
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from atlas_search.atlas import Atlas
from atlas_search.core.errors import EmbeddingUnavailable
from atlas_search.evaluation.labels import Label, Split
from atlas_search.evaluation.run import evaluate
from atlas_search.evaluation.scored import summarise
from atlas_search.server.app import create_app
from tests.conftest import TODAY
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import Recorded, recording, said, traced_by
from tests.tiny import FARM, build_tiny, write_sources

WOOL = "Do sheep give wool?"


class FailingEmbedder(HashEmbedder):
    """Out of reach once it is told so."""

    away = False

    def embed_query(self, text: str):  # type: ignore[no-untyped-def]
        if self.away:
            raise EmbeddingUnavailable("It is out of reach. Try again.")
        return super().embed_query(text)


Found = tuple[Atlas, FlaskClient, Recorded, FailingEmbedder]


@pytest.fixture(params=[True, False], ids=["content", "no content"])
def found(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Found]:
    root = tmp_path_factory.mktemp("whole")
    embedder = FailingEmbedder()
    build_tiny(write_sources(root / "source", FARM), root / "farm", embedder)
    with (
        recording(content=request.param) as (tracer, recorded),
        Atlas.open(root / "farm", embedder=embedder) as opened,
    ):
        atlas = Atlas(traced_by(opened.services, tracer))
        app = create_app(lambda: atlas)
        yield atlas, app.test_client(), recorded, embedder
        app.extensions["runs"].close()


def is_one_trace(recorded: Recorded) -> bool:
    return len({span.context.trace_id for span in recorded.spans}) == 1


def test_a_search_is_one_trace(found: Found) -> None:
    _, client, recorded, _ = found
    foreign = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    assert client.post("/api/search", json={"question": WOOL}, headers=foreign).status_code == 200
    assert recorded.root("search").context.trace_id != int("0af7651916cd43dd8448eb211c80319c", 16)
    assert is_one_trace(recorded)
    assert {"embed", "rerank", "retrieve farm"} <= {span.name for span in recorded.spans}


def test_a_search_that_fails_is_told_once(found: Found) -> None:
    _, client, recorded, embedder = found
    embedder.away = True
    assert client.post("/api/search", json={"question": WOOL}).status_code == 503
    assert not recorded.root("search").status.is_ok
    recorded.clear()
    assert client.post("/api/ask", json={"question": WOOL}).status_code == 503
    assert not recorded.root("ask").status.is_ok


@pytest.mark.parametrize("mode", ["answer", "compare"])
def test_a_stream_is_one_trace_though_it_is_read_again(found: Found, mode: str) -> None:
    _, client, recorded, _ = found
    asked = {"question": WOOL, "mode": mode, "qa_id": "q1"}
    lines = client.post("/api/ask/stream", json=asked).get_data(as_text=True).splitlines()
    complete = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    again = client.get("/api/ask/q1/stream", headers={"Last-Event-ID": "1"})
    assert "event: complete" in again.get_data(as_text=True)
    resumed = client.post("/api/ask/stream", json=asked, headers={"Last-Event-ID": "1"})
    assert "event: complete" in resumed.get_data(as_text=True)
    root = recorded.root("ask")
    assert format(root.context.trace_id, "032x") == complete["trace_id"]
    assert is_one_trace(recorded)
    assert recorded.spans[-1] is root  # it ends last
    searches = len(recorded.named("search"))
    assert searches == (2 if mode == "compare" else 1)


def test_a_check_is_one_trace(found: Found, request: pytest.FixtureRequest) -> None:
    atlas, client, recorded, _ = found
    passage = atlas.passages("farm.sheep")[0]
    good = f"Sheep give wool {passage.marker}."
    checked = client.post("/api/validate", json={"answer": good}).json
    root = recorded.root("validate")
    assert said(root)["openinference.span.kind"] == "GUARDRAIL"
    assert said(root) | {
        "collection": "farm",
        "decision": "valid",
        "citation_valid": True,
        "sentence_groundedness": checked["sentence_groundedness"],
        "sentences": 1,
        "citations": 1,
        "errors": 0,
    } == said(root)
    wanted = request.node.callspec.params["found"]
    assert ("Sheep give wool" in recorded.text) is wanted
    recorded.clear()
    checked = client.post("/api/validate", json={"answer": "Sheep give milk [farm.none p9]."}).json
    bad = said(recorded.root("validate"))
    assert (bad["decision"], bad["errors"]) == ("invalid", len(checked["errors"]))
    assert ("farm.none" in recorded.text) is wanted


def test_a_run_of_an_evaluation_is_found_by_its_name(found: Found) -> None:
    atlas, _, recorded, _ = found
    labels = [
        Label("q1", Split.TEST, "factual", WOOL, ("wool",), frozenset({"farm.sheep"})),
        Label("q2", Split.TEST, "unanswerable", "Who owns the moon?", (), frozenset()),
    ]
    target = atlas.services.settings.test_target
    scores = evaluate(atlas, labels, target, TODAY)
    (root,) = [span for span in recorded.roots if span.name == "evaluation"]
    asked = [said(span) for span in recorded.roots if span.name == "ask"]
    assert [each["eval.label"] for each in asked] == ["q1", "q2"]
    assert [each["eval.category"] for each in asked] == ["factual", "unanswerable"]
    assert {each["eval.run"] for each in asked} == {said(root)["eval.run"]}
    summary = summarise(scores)
    assert said(root)["eval.questions"] == 2
    assert said(root)["eval.recall"] == summary["recall"].mean
    assert said(root)["composite_target"] == f"{target}_sentences_farm"
    recorded.clear()
    atlas.ask(WOOL)
    assert "eval.run" not in said(recorded.root("ask"))
    recorded.clear()
    evaluate(atlas, labels, target, TODAY)
    again = [span for span in recorded.roots if span.name == "evaluation"]
    assert said(again[0])["eval.run"] != said(root)["eval.run"]
