"""What a real Phoenix gives back of each kind of request is what the response to it said."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search.answer.write.prompt import count_tokens
from atlas_search.stores.manifest import Manifest
from tests.chat_server import KEY, Hang, Request, Says, sentence
from tests.openai_server import openai_server
from tests.phoenix_readback import (
    PROJECT,
    Spans,
    Traced,
    counts,
    documents,
    kept,
    ranked,
    told,
)
from tests.servers import ATLAS, Server, running, wait_for
from tests.test_generate import first_token
from tests.tiny import FARM, write_sources
from tests.without_model import settings_without_model

pytestmark = pytest.mark.phoenix

TOKEN = {"Authorization": "Bearer open sesame"}
STAGES = dict.fromkeys(("read", "embed", "write", "index", "activate"), "OK")
WOOL = "Do sheep give wool?"
TARGET = (
    "LLM_PROVIDER=openai\nANSWER_THRESHOLD=0\nMULTI_HOP=0\n"
    "LLM_PRICE_INPUT=1000\nLLM_PRICE_OUTPUT=2000\n"
)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory, phoenix: str) -> Iterator[Traced]:
    folder = tmp_path_factory.mktemp("responses")
    targets = folder / "targets"
    targets.mkdir()
    (targets / "chat.txt").write_text(TARGET)
    with settings_without_model(folder) as found, openai_server() as model:
        settings = found | {
            "TARGETS_DIRECTORY": str(targets),
            "TEST_TARGET": "chat",
            "OPENAI_BASE_URL": model.address,
            "OPENAI_API_KEY": KEY,
            "QUERY_CACHE_ENABLED": "0",
            "PHOENIX_COLLECTOR_ENDPOINT": phoenix,
            "PHOENIX_PROJECT_NAME": PROJECT,
            "INGEST_ROOT": str(folder / "ingest"),
            "ATLAS_ADMIN_TOKEN": "open sesame",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        with running(*ATLAS, "serve", environment=settings, folder=folder) as server:
            address = server.address("Atlas")
            with httpx2.Client(base_url=address, timeout=60) as client:
                yield Traced(client, model, phoenix, settings, folder)


@pytest.fixture(autouse=True)
def _speaks(traced: Traced) -> None:
    traced.model.told.clear()
    traced.model.says(lambda request: f"Sheep give wool {first_token(request)}.")


def check_answer(spans: Spans, answer: dict[str, Any], **expected: Any) -> None:
    """The trace of an answer says what the answer says."""
    root, said = spans[0], spans[0]["attributes"]
    assert root["context"] == {"trace_id": answer["trace_id"], "span_id": answer["span_id"]}
    assert (
        said
        | {
            "input.value": answer["question"],
            "output.value": answer["answer"],
            "qa_id": answer["qa_id"],
            "session.id": answer["session_id"],
            "decision": answer["decision"],
            "reason": answer["reason"]["code"],
            "target": answer["target"],
            "composite_target": answer["composite_target"],
            "llm_provider": answer["usage"]["provider"],
            "llm_model": answer["usage"]["model"],
            "attempts": answer["usage"]["attempts"],
            "citations": len(answer["citations"]),
            "collection_version": answer["collection_version"],
            "mode": answer["mode"],
            **expected,
        }
        == said
    )
    listed = documents(root)
    assert ranked(listed) == kept(answer) != []
    cited = {each["passage_id"] for each in answer["citations"]}
    assert {each["id"] for each in listed if each["metadata.cited"]} == cited != set()
    for each, passage in zip(listed, answer["passages"], strict=True):
        start = "metadata.signals."
        signals = {k.removeprefix(start): v for k, v in each.items() if k.startswith(start)}
        assert signals == passage["signals"]
    stages = ("candidates", "kept", "cited")
    assert counts(said, *stages) == told(answer, *stages)
    assert Counter(each["metadata.corpus"] for each in listed) == {
        corpus: of["kept"] for corpus, of in told(answer, "kept").items() if of["kept"]
    }
    calls = [span["attributes"] for span in spans if span["name"] == "generate"]
    usage = answer["usage"]
    for name, kind in (("prompt_tokens", "prompt"), ("completion_tokens", "completion")):
        assert sum(call.get(f"llm.token_count.{kind}", 0) for call in calls) == usage[name] > 0
    assert sum(call["llm.cost.total"] for call in calls) == pytest.approx(usage["cost"])


def check_legs(spans: Spans, response: dict[str, Any]) -> None:
    """Each leg lists as many as the response counts."""
    by_name = {span["name"]: span for span in spans}
    for corpus, of in response["retrieval"]["per_corpus"].items():
        for leg in ("dense", "lexical"):
            span = by_name[f"{leg} {corpus}"]
            assert len(documents(span)) == span["attributes"]["candidates"] == of[leg]


def test_ask(traced: Traced) -> None:
    answer = traced.ask(WOOL, session_id="asked-1", qa_id="asked-2")
    spans = traced.trace("ask", trace_id=answer["trace_id"])
    check_answer(spans, answer, streamed=False, history_turns=0)
    check_legs(spans, answer)
    by_name = {span["name"]: span for span in spans}
    assert ranked(documents(by_name["search"])) == kept(answer)
    given = by_name["generate"]["attributes"]["llm.input_messages.1.message.content"]
    assert all(passage["text"] in given for passage in answer["passages"] if passage["valid"])
    assert {span["attributes"]["qa_id"] for span in spans} == {"asked-2"}


def test_stream(traced: Traced) -> None:
    body = {"question": WOOL, "include_context": True, "session_id": "stream-1"}
    text = traced.client.post("/api/ask/stream", json=body).text
    lines = text.splitlines()
    complete = json.loads(lines[lines.index("event: complete") + 1].removeprefix("data: "))
    spans = traced.trace("ask", trace_id=complete["trace_id"])
    check_answer(spans, complete, streamed=True)


def test_compare(traced: Traced) -> None:
    answer = traced.ask(WOOL, mode="compare", session_id="compared-1")
    spans = traced.trace("ask", trace_id=answer["trace_id"])
    check_answer(spans, answer)
    searches = [span for span in spans if span["name"] == "search"]
    found = [one for search in searches for one in ranked(documents(search))]
    assert sorted(found) == sorted(kept(answer))
    by_name = {span["name"]: span["attributes"] for span in spans}
    for part in answer["comparison"]["answers"]:
        said = by_name[f"answer {part['corpus']}"]
        assert (said["decision"], said["reason"]) == (part["decision"], part["reason"]["code"])


def test_search(traced: Traced) -> None:
    found = traced.client.post("/api/search", json={"question": WOOL}).json()
    spans = traced.trace("search", trace_id=found["trace_id"])
    assert ranked(documents(spans[0])) == kept(found) != []
    stages = ("candidates", "kept")
    assert counts(spans[0]["attributes"], *stages) == told(found, *stages)
    check_legs(spans, found)
    (rerank,) = [span for span in spans if span["name"] == "rerank"]
    best = ranked(documents(rerank, "reranker.output_documents"))
    assert {*kept(found)} <= {*best}
    assert [score for _, score in best] == sorted((s for _, s in best), reverse=True)


def test_validate(traced: Traced) -> None:
    answer = (
        f"Sheep give wool {traced.ask(WOOL)['passages'][0]['marker']}. Cows fly [farm.none p9]."
    )
    checked = traced.client.post("/api/validate", json={"answer": answer}).json()
    (root,) = traced.trace("validate", **{"input.value": answer})
    assert (
        root["attributes"]
        | {
            "decision": "invalid",
            "citation_valid": checked["citation_valid"],
            "sentence_groundedness": checked["sentence_groundedness"],
            "sentences": len(checked["sentences"]),
            "citations": sum(len(each["citations"]) for each in checked["sentences"]),
            "errors": len(checked["errors"]),
            "warnings": len(checked["warnings"]),
        }
        == root["attributes"]
    )
    said = {"errors": checked["errors"], "warnings": checked["warnings"]}
    assert json.loads(root["attributes"]["output.value"]) == said


def test_refused(traced: Traced) -> None:
    body = {"question": WOOL, "corpus_filter": "the refused sea"}
    problem = traced.client.post("/api/ask", json=body)
    (root,) = traced.trace("refused", route="/api/ask")
    said = root["attributes"]
    assert (said["status"], said["method"]) == (problem.status_code, "POST") == (400, "POST")
    assert problem.json()["type"].endswith(said["problem"])
    assert said["input.value"] == WOOL
    files = {"files": ("bees.txt", b"Bees give honey.")}
    assert traced.client.post("/api/ingest", files=files).status_code == 403
    (root,) = traced.trace("refused", status=403)
    assert (root["attributes"]["route"], root["status_code"]) == ("/api/ingest", "OK")


def test_cancelled(traced: Traced) -> None:
    traced.model.says(lambda request: Says(begun(request), Hang()))
    body = {"question": WOOL, "qa_id": "cancelled-1"}
    with traced.client.stream("POST", "/api/ask/stream", json=body) as response:
        for line in response.iter_lines():
            if line == "event: token":  # the model has written
                traced.client.delete("/api/ask/cancelled-1")
                break
        else:
            pytest.fail("It ended before a token came.")
    request = traced.model.requests[-1]
    *read, written = count_tokens(
        [*(message["content"] for message in request.body["messages"]), begun(request)]
    )
    assert min(*read, written) > 0
    spans = traced.trace("ask", qa_id="cancelled-1")
    said = spans[0]["attributes"]
    assert (said["cancelled"], said["cancelled_because"]) == (True, "The answer was stopped.")
    assert "decision" not in said
    assert spans[0]["status_code"] == "OK"
    assert (said["prompt_tokens"], said["completion_tokens"]) == (sum(read), written)
    assert said["estimated"] is True
    (call,) = [span["attributes"] for span in spans if span["name"] == "generate"]
    assert call["llm.token_count.prompt"] == sum(read)
    assert call["llm.token_count.completion"] == written
    assert said["cost"] == pytest.approx((sum(read) * 1000 + written * 2000) / 1e6)


def begun(request: Request) -> str:
    """An answer whose first sentence is whole, so that it is sent on."""
    return sentence(f"Sheep give wool. {first_token(request)}") + '{"text": "Cows'


def test_three_turns_are_one_session(traced: Traced) -> None:
    history: list[dict[str, str]] = []
    answers = []
    for question in (WOOL, "Do cows give milk?", "Who sells cloth?"):
        answer = traced.ask(question, session_id="three-turns", chat_history=history)
        history += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answer["answer"]},
        ]
        answers.append(answer)
    for turn, answer in enumerate(answers):
        root = traced.trace("ask", trace_id=answer["trace_id"])[0]
        assert root["attributes"]["session.id"] == "three-turns"
        assert root["attributes"]["history_turns"] == 2 * turn
    found = httpx2.get(f"{traced.phoenix}/v1/projects/{PROJECT}/sessions", params={"limit": 100})
    (session,) = [each for each in found.json()["data"] if each["session_id"] == "three-turns"]
    traces = [each["trace_id"] for each in session["traces"]]
    assert traces == [answer["trace_id"] for answer in answers]


def test_evaluation(traced: Traced) -> None:
    labels = traced.folder / "labels.jsonl"
    label = {
        "id": "q1", "split": "test", "category": "factual", "question": WOOL,
        "answers": ["wool"], "gold_document_ids": ["farm.sheep"],
    }  # fmt: skip
    labels.write_text(json.dumps(label) + "\n")
    command = (*ATLAS, "eval", "--labels", str(labels), "--json")
    with running(*command, environment=traced.settings, folder=traced.folder) as process:
        assert process.process.wait(120) == 0, process.lines
        figures = printed(process)
    (root,) = traced.trace("evaluation")
    said = root["attributes"]
    assert {
        name.removeprefix("eval."): said[name] for name in said if name.startswith("eval.")
    } == {
        "run": said["eval.run"],
        "questions": 1,
        **{name: figure["mean"] for name, figure in figures["all"].items() if "." not in name},
    }
    asked = traced.trace("ask", **{"eval.run": said["eval.run"]})[0]["attributes"]
    assert (asked["eval.label"], asked["input.value"]) == ("q1", WOOL)
    assert asked["decision"] == "ANSWER"


def printed(process: Server) -> dict[str, Any]:
    """The JSON document that a command printed last."""

    def read() -> dict[str, Any] | None:
        text = "\n".join(process.lines)  # what goes to stderr stands around it
        try:
            found: dict[str, Any] = json.JSONDecoder().raw_decode(text, text.index("{\n"))[0]
        except ValueError:
            return None
        return found

    return wait_for(read, 60, "the figures")


def test_create(traced: Traced) -> None:
    source = write_sources(traced.folder / "more", {**FARM, "farm/swans.txt": ""})
    command = (*ATLAS, "create", "txt", source, "--collection", "barn", "--chunk-size", "300")
    with running(*command, environment=traced.settings, folder=traced.folder) as process:
        assert process.process.wait(120) == 0, process.lines
    root, *stages = traced.trace("create", collection="barn")
    manifest = Manifest.read(Path(traced.settings["CHROMA_PERSIST_DIRECTORY"]) / "barn")
    assert (
        root["attributes"]
        | {
            "version": manifest.version,
            "documents": manifest.documents,
            "passages": manifest.passages,
            "embedding_model": manifest.embedding.name,
            "added": 3,
            "refused": 1,
            "source_type": "txt",
            "chunk_size": 300,
            "files": 4,
        }
        == root["attributes"]
    )
    assert {stage["name"]: stage["status_code"] for stage in stages} == STAGES
    assert "swans" in str(root["events"])


def test_ingest(traced: Traced) -> None:
    files = {"files": ("bees.txt", b"Bees give honey.")}
    job = traced.client.post("/api/ingest", files=files, headers=TOKEN).json()

    def over() -> dict[str, Any] | None:
        found = traced.client.get(f"/api/jobs/{job['id']}", headers=TOKEN).json()
        return None if found["state"] in ("queued", "running") else found

    job = wait_for(over, 90, "the end of the job")
    root, *stages = traced.trace("ingest", trace_id=job["trace_id"])
    said, result, chunks = root["attributes"], job["result"], job["chunks"]
    manifest = Manifest.read(Path(traced.settings["CHROMA_PERSIST_DIRECTORY"]) / "farm")
    same = ("version", "documents", "passages", "passages_added", "unchanged", "seconds")
    assert (
        said
        | {
            **{name: result[name] for name in same},
            **{name: result[f"documents_{name}"] for name in ("added", "changed", "removed")},
            "job": job["id"],
            "collection": job["collection"],
            "corpus": job["corpus"],
            "files": len(job["files"]),
            "chunk_size": chunks["size"],
            "chunk_overlap": chunks["overlap"],
            "embedding_model": manifest.embedding.name,
        }
        == said
    )
    assert {stage["name"]: stage["status_code"] for stage in stages} == STAGES
