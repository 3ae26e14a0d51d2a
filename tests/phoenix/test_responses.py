"""A real Phoenix gives back of each kind of request the facts of the response to it."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from atlas_search.answer.write.prompt import count_tokens
from atlas_search.core.telemetry.span import NAME_JOINT
from atlas_search.stores.manifest import Manifest
from tests.chat_server import KEY, Hang, Request, Says, sentence
from tests.openai_server import OpenAIServer, openai_server
from tests.servers import ATLAS, running, wait_for
from tests.slow_model import TOKEN as MARK
from tests.tiny import FARM, write_sources
from tests.without_model import settings_without_model

pytestmark = [pytest.mark.phoenix, pytest.mark.thorough]

PROJECT = "atlas-responses"
Spans = list[dict[str, Any]]
TOKEN = {"Authorization": "Bearer open sesame"}
STAGES = dict.fromkeys(("read", "embed", "write", "activate"), "OK")
WOOL = "Do sheep give wool?"
TARGET = (
    "LLM_PROVIDER=openai\nANSWER_THRESHOLD=0\nMULTI_HOP=0\n"
    "LLM_PRICE_INPUT=1000\nLLM_PRICE_OUTPUT=2000\n"
)


@dataclass(frozen=True)
class Traced:
    """A server that answers with a model, and the Phoenix that its traces go to."""

    client: httpx2.Client
    model: OpenAIServer
    phoenix: str
    settings: dict[str, str]
    folder: Path

    def ask(self, question: str, **body: Any) -> dict[str, Any]:
        """The answer, with its passages."""
        request = {"question": question, "include_context": True, **body}
        response = self.client.post("/api/ask", json=request)
        assert response.status_code == 200, response.text
        return response.json()

    def trace(self, root: str, **attributes: Any) -> Spans:
        """The spans of the one trace whose root has this name and these attributes, root first."""

        def arrived() -> Spans | None:
            address = f"{self.phoenix}/v1/projects/{PROJECT}/spans"
            response = httpx2.get(address, params={"limit": 1000})
            spans = response.json()["data"] if response.is_success else []
            for span in spans:
                span["name"] = span["name"].partition(NAME_JOINT)[0]
                own = {**span["attributes"], "trace_id": span["context"]["trace_id"]}
                if span["name"] == root and attributes.items() <= own.items():
                    tree = [s for s in spans if s["context"]["trace_id"] == own["trace_id"]]
                    return sorted(tree, key=lambda each: each["parent_id"] is not None)
            return None

        spans = wait_for(arrived, 60, root)
        assert [span["name"] for span in spans if span["parent_id"] is None] == [root]
        return spans


def documents(span: dict[str, Any], prefix: str = "retrieval.documents") -> list[dict[str, Any]]:
    """Ids, scores and facts of a list, by its places."""
    attributes, listed = span["attributes"], []
    while f"{prefix}.{len(listed)}.document.id" in attributes:
        start = f"{prefix}.{len(listed)}.document."
        listed.append(
            {k.removeprefix(start): v for k, v in attributes.items() if k.startswith(start)}
        )
    return listed


def ranked(listed: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(each["id"], round(each["score"], 6)) for each in listed]


def kept(response: dict[str, Any]) -> list[tuple[str, float]]:
    return [(each["passage_id"], round(each["score"], 6)) for each in response["passages"]]


def check_counts(span: dict[str, Any], response: dict[str, Any], *stages: str) -> None:
    """The counts of each corpus are in the span as in the response."""
    for corpus, counts in response["retrieval"]["per_corpus"].items():
        assert {stage: span["attributes"][f"{stage}.{corpus}"] for stage in stages} == {
            stage: counts[stage] for stage in stages
        }


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


def first_token(request: Request) -> str:
    """The token of the best passage; none is named in the prompt of a comparison."""
    return next(iter(MARK.findall(request.prompt)), "")


@pytest.fixture(autouse=True)
def _speaks(traced: Traced) -> None:
    traced.model.told.clear()
    traced.model.says(lambda request: f"Sheep give wool {first_token(request)}.")


def check_answer(spans: Spans, answer: dict[str, Any], **expected: Any) -> None:
    """The trace of an answer says the facts of the answer."""
    root, attributes = spans[0], spans[0]["attributes"]
    assert root["context"] == {"trace_id": answer["trace_id"], "span_id": answer["span_id"]}
    same = ("qa_id", "decision", "target", "composite_target", "collection_version", "mode")
    facts = {
        **{name: answer[name] for name in same},
        "input.value": answer["question"],
        "output.value": answer["answer"],
        "session.id": answer["session_id"],
        "reason": answer["reason"]["code"],
        "llm_provider": answer["usage"]["provider"],
        "llm_model": answer["usage"]["model"],
        "attempts": answer["usage"]["attempts"],
        "citations": len(answer["citations"]),
        **expected,
    }
    assert facts.items() <= attributes.items()
    listed = documents(root)
    assert ranked(listed) == kept(answer) != []
    cited = {each["passage_id"] for each in answer["citations"]}
    assert {each["id"] for each in listed if each["metadata.cited"]} == cited != set()
    for each, passage in zip(listed, answer["passages"], strict=True):
        start = "metadata.signals."
        signals = {k.removeprefix(start): v for k, v in each.items() if k.startswith(start)}
        assert signals == passage["signals"]
    check_counts(root, answer, "candidates", "kept", "cited")
    corpora = Counter(each["metadata.corpus"] for each in listed)
    per_corpus = answer["retrieval"]["per_corpus"]
    assert corpora == {corpus: of["kept"] for corpus, of in per_corpus.items() if of["kept"]}
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
    check_counts(spans[0], found, "candidates", "kept")
    check_legs(spans, found)
    (rerank,) = [span for span in spans if span["name"] == "rerank"]
    best = ranked(documents(rerank, "reranker.output_documents"))
    assert {*kept(found)} <= {*best}
    assert [score for _, score in best] == sorted((s for _, s in best), reverse=True)


def test_validate(traced: Traced) -> None:
    marker = traced.ask(WOOL)["passages"][0]["marker"]
    answer = f"Sheep give wool {marker}. Cows fly [farm.none p9]."
    checked = traced.client.post("/api/validate", json={"answer": answer}).json()
    (root,) = traced.trace("validate", **{"input.value": answer})
    facts = {
        "decision": "invalid",
        "citation_valid": checked["citation_valid"],
        "sentence_groundedness": checked["sentence_groundedness"],
        "sentences": len(checked["sentences"]),
        "citations": sum(len(each["citations"]) for each in checked["sentences"]),
        "errors": len(checked["errors"]),
        "warnings": len(checked["warnings"]),
    }
    assert facts.items() <= root["attributes"].items()
    problems = {"errors": checked["errors"], "warnings": checked["warnings"]}
    assert json.loads(root["attributes"]["output.value"]) == problems


def test_refused(traced: Traced) -> None:
    body = {"question": WOOL, "corpus_filter": "the refused sea"}
    problem = traced.client.post("/api/ask", json=body)
    (root,) = traced.trace("refused", route="/api/ask")
    attributes = root["attributes"]
    assert (attributes["status"], attributes["input.value"]) == (problem.status_code, WOOL)
    assert problem.json()["type"].endswith(attributes["problem"])
    assert root["status_code"] == "OK"


def begun(request: Request) -> str:
    """An answer whose first sentence is whole, so that it is sent on."""
    return sentence(f"Sheep give wool. {first_token(request)}") + '{"text": "Cows'


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
    texts = [message["content"] for message in request.body["messages"]]
    *read, written = count_tokens([*texts, begun(request)])
    spans = traced.trace("ask", qa_id="cancelled-1")
    root = spans[0]["attributes"]
    assert (root["cancelled"], root["cancelled_because"]) == (True, "The answer was stopped.")
    assert spans[0]["status_code"] == "OK"
    assert (root["prompt_tokens"], root["completion_tokens"]) == (sum(read), written)
    assert root["cost"] == pytest.approx((sum(read) * 1000 + written * 2000) / 1e6)


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


def test_create(traced: Traced) -> None:
    source = write_sources(traced.folder / "more", {**FARM, "farm/swans.txt": ""})
    command = (*ATLAS, "create", "txt", source, "--collection", "barn", "--chunk-size", "300")
    with running(*command, environment=traced.settings, folder=traced.folder) as process:
        assert process.process.wait(120) == 0, process.lines
    root, *stages = traced.trace("create", collection="barn")
    manifest = Manifest.read(Path(traced.settings["CHROMA_PERSIST_DIRECTORY"]) / "barn")
    facts = {
        "version": manifest.version,
        "passages": manifest.passages,
        "chunk_size": 300,
        "added": 3,
        "refused": 1,
    }
    assert facts.items() <= root["attributes"].items()
    assert {stage["name"]: stage["status_code"] for stage in stages} == STAGES
    assert "swans" in str(root["events"])


def test_ingest(traced: Traced) -> None:
    files = {"files": ("bees.txt", b"Bees give honey.")}
    job = traced.client.post("/api/ingest", files=files, headers=TOKEN).json()

    def over() -> dict[str, Any] | None:
        state = traced.client.get(f"/api/jobs/{job['id']}", headers=TOKEN).json()
        return None if state["state"] in ("queued", "running") else state

    job = wait_for(over, 90, "the end of the job")
    root, *stages = traced.trace("ingest", trace_id=job["trace_id"])
    result = job["result"]
    facts = {name: result[name] for name in ("version", "documents", "passages", "seconds")}
    facts |= {"job": job["id"], "added": result["documents_added"], "corpus": job["corpus"]}
    assert facts.items() <= root["attributes"].items()
    assert {stage["name"]: stage["status_code"] for stage in stages} == STAGES
