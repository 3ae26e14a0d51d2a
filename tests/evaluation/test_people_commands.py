"""`atlas eval label` and `atlas eval rate` as somebody starts them."""

import json
import signal
import subprocess
from pathlib import Path
from urllib.parse import urldefrag

import httpx2

from atlas_search.building.flow import BuildReport
from atlas_search.evaluation.people import Ratings
from tests.evaluation.made_runs import LABELS, kept, made_run
from tests.servers import ATLAS, Server, running, wait_for

BROWSER = """#!/bin/sh
# one for the terminal: it stays for as long as the page is served
echo "$@" > arguments
cp "${1#file://}" part && mv part opened
while kill -0 $PPID 2> /dev/null; do sleep 0.1; done
"""
QUESTION = "Can a local authority sue a newspaper for libel?"


def client_of(server: Server) -> httpx2.Client:
    """A client with the key of the printed address."""
    address, fragment = urldefrag(server.address("The page"))
    key = fragment.removeprefix("key=")
    return httpx2.Client(base_url=address, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def test_what_the_page_saves_is_evaluated_at_once(
    stores: Path, demo: BuildReport, tmp_path: Path
) -> None:
    collection = demo.manifest.collection
    environment = {"CHROMA_PERSIST_DIRECTORY": str(stores), "CHROMA_COLLECTION_NAME": collection}
    command = (*ATLAS, "eval", "label", "--labels", "mine/labels.jsonl", "--no-browser")
    with running(*command, environment=environment, folder=tmp_path) as server:
        with client_of(server) as client:
            found = client.post("/api/search", json={"question": QUESTION, "k": 20}).json()
            best = found["passages"][0]
            span = {name: best[name] for name in ("document_id", "start", "end")}
            label = {
                "id": "label-1",
                "question": QUESTION,
                "answers": ["No."],
                "marks": {best["passage_id"]: 3},
                "spans": [span | {"quote": best["text"]}],
                "split": "test",
            }
            assert client.put("/api/label", json=label).is_success
        assert server.stop(signal.SIGINT) == 0
    with running(
        *ATLAS, "eval", "--labels", "mine/labels.jsonl", environment=environment, folder=tmp_path
    ) as evaluation:
        assert evaluation.process.wait(120) == 0, evaluation.lines
    assert any("recall" in line for line in evaluation.lines), evaluation.lines


def test_the_answers_of_a_run_are_rated_without_its_collection(tmp_path: Path) -> None:
    folder = kept(made_run("rated", labels=LABELS[:3]), tmp_path)
    command = (*ATLAS, "eval", "rate", str(folder), "--scales", "relevance,tone:0-1")
    command += ("--raters", "anna,ben", "--no-browser")
    with running(*command, environment={}, folder=tmp_path) as server:
        port = httpx2.URL(server.address("The page")).port
        with client_of(server) as client:
            about = client.get("/api/rating").json()
            assert [scale["name"] for scale in about["scales"]] == ["relevance", "tone"]
            assert about["raters"] == ["anna", "ben"]
            for rater in about["raters"]:
                for label in LABELS[:3]:
                    scores = {"relevance": 4, "tone": int(label.id == "q1")}
                    body = {"rater": rater, "label_id": label.id, "scores": scores}
                    assert client.put("/api/rating", json=body).is_success
            stranger = client.get("/api/ratings", params={"rater": "carl"})
            assert stranger.status_code == 400
        assert server.stop(signal.SIGINT) == 0
    assert len(Ratings(folder).all()) == 6
    # the page of the same run is at the same address again, so that drafts are found
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o700)
    opening = (*command[:-1], "--browser")
    with running(*opening, environment={"BROWSER": f"{browser} %s"}, folder=tmp_path) as again:
        assert httpx2.URL(again.address("The page")).port == port
        with client_of(again) as client:
            found = client.get("/api/ratings", params={"rater": "Anna"}).json()
            assert found["rater"] == "anna"
            assert len(found["ratings"]) == 3
        key = urldefrag(again.address("The page")).fragment
        wait_for(lambda: (tmp_path / "opened").exists(), 60, "the browser")
        assert key not in (tmp_path / "arguments").read_text()
        assert key in (tmp_path / "opened").read_text()
    told = subprocess.run(
        [*ATLAS, "eval", "agreement", str(folder), "--json"], capture_output=True, text=True
    )
    relevance, tone = json.loads(told.stdout)["scales"]
    assert relevance["missing"]["krippendorff"].startswith("All ratings are the same")
    assert tone["coefficients"]["cohen"] == 1
