"""What a search, an answer, a model's call and a job change in the counts."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from atlas_search.core.errors import Cancelled, ModelRefused
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.metrics import Metrics
from tests.access.two_corpora import OPEN, QUESTION, VAULT, two_corpora
from tests.chat_server import KEY, ChatServer, Gate, Reply, Says
from tests.hash_embedder import HashEmbedder
from tests.ingest.handing import done, send, served_by, settings_for
from tests.metrics.scraped import Scrape, client_of, scrape, with_metrics
from tests.openai_server import openai_server
from tests.servers import wait_for
from tests.test_generate import cited
from tests.tiny import FARM, build_tiny, write_sources

WRITER = (
    "LLM_PROVIDER=openai\nLLM_MODEL=gpt-4o-mini\nLLM_PRICE_INPUT=1000\nLLM_PRICE_OUTPUT=2000\n"
    "ANSWER_THRESHOLD=0\nLLM_FALLBACK=none\nLLM_SECONDS=5\n"
)
CALLS = "gen_ai_client_operation_duration_seconds_count"
TOKENS = "gen_ai_client_token_usage_sum"


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with openai_server() as server:
        yield server


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory, model: ChatServer) -> Iterator[Atlas]:
    """The collection, answered by a language model."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "targets").mkdir()
    (folder / "targets" / "writer.txt").write_text(WRITER)
    options = {"openai_base_url": model.address, "openai_api_key": KEY, "test_target": "writer"}
    with two_corpora(folder, HashEmbedder(), **options) as opened:
        yield opened


@pytest.fixture
def writer(written: Atlas, metrics: Metrics, model: ChatServer) -> FlaskClient:
    model.told.clear()
    model.says(cited)
    return client_of(with_metrics(written, metrics))


def test_a_search_is_counted_with_its_stages_and_corpora(client: FlaskClient) -> None:
    found = client.post("/api/search", json={"question": QUESTION}).get_json()
    now = scrape(client)
    assert now.value("atlas_searches_total", target="certain", outcome="found") == 1
    stages = {each["stage"] for each in now.labels("atlas_stage_duration_seconds_count")}
    assert stages == found["timings_ms"].keys() >= {"embed", "retrieve", "rank", "select", "total"}
    total = now.value("atlas_stage_duration_seconds_sum", operation="search", stage="total")
    assert total == pytest.approx(found["timings_ms"]["total"] / 1000)
    for corpus, counts in found["retrieval"]["per_corpus"].items():
        at = {"collection": "parish", "corpus": corpus}
        assert now.value("atlas_corpus_candidates_sum", **at) == counts["candidates"] > 0
        assert now.value("atlas_corpus_kept_sum", **at) == counts["kept"]
        assert now.value("atlas_corpus_kept_count", **at) == 1
    assert not now.labels("atlas_answers_total")


def test_a_search_that_is_stopped_is_counted_as_such(atlas: Atlas, client: FlaskClient) -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(Cancelled):
        atlas.search(QUESTION, stop=stop)
    assert scrape(client).value("atlas_searches_total", outcome="Cancelled") == 1


def test_an_answer_is_counted_with_its_decision_and_what_it_cites(client: FlaskClient) -> None:
    answer = client.post("/api/ask", json={"question": QUESTION}).get_json()
    assert answer["decision"] == "ANSWER"
    client.post("/api/ask", json={"question": "What?", "corpus_filter": [OPEN], "mode": "compare"})
    now = scrape(client)
    given = {"target": "certain", "mode": "answer", "decision": "ANSWER", "cached": "no"}
    assert now.value("atlas_answers_total", **given) == 1
    assert now.value("atlas_answers_total", mode="compare") == 1
    assert now.value("atlas_answer_duration_seconds_count") == 2
    cited_in = [citation["corpus"] for citation in answer["citations"]]
    for corpus in (OPEN, VAULT):
        assert now.value("atlas_corpus_cited_sum", corpus=corpus) == cited_in.count(corpus)
    assert now.value("atlas_stage_duration_seconds_count", operation="answer", stage="total") == 1
    assert now.value("atlas_stage_duration_seconds_count", operation="compare", stage="total") == 1


def test_a_kept_answer_is_a_hit_and_takes_no_stage_again(client: FlaskClient) -> None:
    for _ in range(3):
        client.post("/api/ask", json={"question": QUESTION})
    now = scrape(client)
    assert now.value("atlas_answers_total", cached="yes") == 2
    assert now.value("atlas_answers_total", cached="no") == 1
    assert now.value("atlas_cache_lookups_total", result="hit") == 2
    assert now.value("atlas_cache_lookups_total", result="miss") == 1
    assert now.value("atlas_cache_answers") == 1
    assert now.value("atlas_stage_duration_seconds_count", stage="total") == 1
    assert now.value("atlas_corpus_cited_count", corpus=OPEN) == 1


def test_a_call_of_a_model_is_counted_with_tokens_and_cost(writer: FlaskClient) -> None:
    answer = writer.post("/api/ask", json={"question": QUESTION}).get_json()
    assert answer["decision"] == "ANSWER", answer
    now = scrape(writer)
    said = {
        "gen_ai_operation_name": "chat",
        "gen_ai_provider_name": "openai",
        "gen_ai_request_model": "gpt-4o-mini",
    }
    calls = answer["usage"]["prompt_tokens"] // 11
    assert now.value(CALLS, **said) == calls
    assert now.value(TOKENS, gen_ai_token_type="input", **said) == 11 * calls
    assert now.value(TOKENS, gen_ai_token_type="output", **said) == 7 * calls
    paid = {"target": "writer", "provider": "openai", "model": "gpt-4o-mini"}
    assert now.value("atlas_cost_total", **paid) == pytest.approx(0.025 * calls)
    generated = {"operation": "answer", "stage": "generate"}
    assert now.value("atlas_stage_duration_seconds_count", **generated) == calls


def test_a_call_that_fails_names_its_error(writer: FlaskClient, model: ChatServer) -> None:
    model.then(Reply(401, {"error": {"message": "no"}}))
    assert writer.post("/api/ask", json={"question": QUESTION}).status_code == 503
    now = scrape(writer)
    assert now.value(CALLS, error_type=ModelRefused.__name__) == 1
    assert now.value("atlas_answers_total", decision="ERROR", reason="ModelRefused") == 1
    assert not now.labels("atlas_cost_total")


def test_what_runs_is_seen_and_what_is_stopped_counted(
    writer: FlaskClient, model: ChatServer
) -> None:
    gate = Gate()
    model.then(Says("The parish ", gate, "keeps it."))
    stream = writer.post(
        "/api/ask/stream", json={"question": QUESTION, "qa_id": "q9"}, buffered=False
    )

    def writing() -> Scrape | None:
        now = scrape(writer)
        running = now.value("atlas_queue_size", queue="model_calls", state="running")
        return now if running else None

    now = wait_for(writing, 30, "the call")
    assert now.value("atlas_queue_size", queue="answers", state="running") == 1
    assert now.value("atlas_queue_size", queue="model_calls", state="waiting") == 0
    assert writer.delete("/api/ask/q9").get_json()["stopped"]
    assert "event: error" in stream.text
    stream.close()

    def stopped() -> bool | None:
        now = scrape(writer)
        cancelled = now.value("atlas_answers_total", decision="CANCELLED", reason="Cancelled")
        return cancelled == 1 or None

    wait_for(stopped, 30, "the end")
    now = scrape(writer)
    assert now.value("atlas_queue_size", queue="answers", state="running") == 0
    assert now.value("atlas_queue_size", queue="turns", state="running") == 0
    assert now.value(CALLS, error_type="Cancelled") == 1


def test_what_is_served_and_the_process_are_told(client: FlaskClient, atlas: Atlas) -> None:
    manifest = atlas.services.store.manifest
    now = scrape(client)
    for corpus in manifest.corpora:
        at = {"collection": "parish", "corpus": corpus.id}
        assert now.value("atlas_store_documents", **at) == corpus.documents
        assert now.value("atlas_store_passages", **at) == corpus.passages
    assert now.value("atlas_store_version", version=manifest.version) == 1
    assert now.value("atlas_store_size_bytes") == sum(manifest.sizes.values())
    assert now.value("process_memory_usage_bytes") > 50e6
    assert now.value("process_thread_count") >= 1
    assert now.value("process_unix_file_descriptor_count") > 3
    assert now.value("process_cpu_time_seconds_total", cpu_mode="user") > 0
    assert now.value("process_uptime_seconds") > 0


def test_spans_are_counted(
    client: FlaskClient, atlas: Atlas, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("exported", 5), ("dropped", 2), ("waiting", 3)):
        monkeypatch.setattr(type(atlas.services.tracer), name, count)
    now = scrape(client)
    assert now.value("atlas_spans_total", outcome="exported") == 5
    assert now.value("atlas_spans_total", outcome="dropped") == 2
    assert now.value("atlas_spans_held", state="waiting") == 3
    assert now.value("atlas_spans_held", state="open") == 0


def test_marks_are_counted_once_each_time_they_change(client: FlaskClient) -> None:
    answer = client.post("/api/ask", json={"question": QUESTION, "qa_id": "rated"}).json
    cited = answer["citations"][0]["passage_id"]
    vote = {"qa_id": "rated", "user_id": "a", "thumb": "up", "scores": {"accuracy": 4}}
    more = {"passages": {cited: "relevant"}, "citations": {"1": "supports"}, "comment": "Right."}
    for body in (vote, vote, vote | more, vote | {"thumb": "down"}, vote | {"thumb": None}):
        assert client.post("/api/feedback", json=body).status_code == 200
    now = scrape(client)
    marks = {"thumb": ("up", "down"), "accuracy": ("4",), "passage": ("relevant",)}
    for name, values in (marks | {"citation": ("supports",)}).items():
        for value in values:
            assert now.value("atlas_feedback_total", name=name, value=value) == 1
    assert now.value("atlas_feedback_total") == 5


def test_jobs_are_counted_with_their_documents(tmp_path: Path) -> None:
    stores = tmp_path / "stores"
    build_tiny(write_sources(tmp_path / "source", FARM), stores / "farm", HashEmbedder())
    with served_by(settings_for(tmp_path)) as client:
        done(client, send(client, {"bees.txt": "Bees give honey."}))
        now = scrape(client)
    assert now.value("atlas_job_duration_seconds_count", kind="ingest", state="done") == 1
    assert now.value("atlas_job_duration_seconds_sum") > 0
    assert now.value("atlas_job_documents_total", collection="farm", change="added") == 1
    assert now.value("atlas_queue_size", queue="jobs") == 0
    assert now.value("atlas_store_documents", collection="farm") == 4  # of the new version
