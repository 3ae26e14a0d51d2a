"""The root span of an answer tells its story, and every span whose it is."""

import json
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.asking import ask_request
from atlas_search.atlas import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.telemetry.names import Ids, identify
from atlas_search.search.trace import imbalance
from atlas_search.services import Services
from tests.answering import asked
from tests.chat_server import Reply
from tests.spans.recorded import Both, documents, named, whole
from tests.test_generate import cited

QUESTION = "How do Britain and New Zealand treat libel of a local authority?"


def test_the_root_counts_the_passages_of_every_corpus_as_the_answer_does(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION)
    told, search = named(exported, "ask"), named(exported, "search")
    counts = answer.to_dict()["retrieval"]["per_corpus"]
    assert len(counts) == 3
    for corpus, of in counts.items():
        assert {stage: told[f"{stage}.{corpus}"] for stage in ("candidates", "kept", "cited")} == {
            stage: of[stage] for stage in ("candidates", "kept", "cited")
        }
        assert search[f"candidates.{corpus}"] == of["candidates"]
        assert search[f"kept.{corpus}"] == of["kept"]
        assert f"cited.{corpus}" not in search
    assert json.loads(told["metadata"])["per_corpus"] == counts
    kept = [of["kept"] for of in counts.values()]
    assert told["imbalance.kept"] == pytest.approx(1 - min(kept) / max(kept), abs=1e-4)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [({"a": 4, "b": 4}, 0.0), ({"a": 4, "b": 3}, 0.25), ({"a": 4, "b": 0}, 1.0), ({"a": 0}, 0.0)],
)
def test_imbalance_is_the_share_that_the_least_lacks_of_the_most(
    counts: dict[str, int], expected: float
) -> None:
    assert imbalance(counts) == expected


def test_the_root_says_how_it_was_to_be_answered_and_from_what(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION, corpora=["legal_uk", "legal_us"], k=7)
    told, manifest = named(exported, "ask"), traced.store.manifest
    _, target = traced.target(None)
    (origin,) = manifest.origins.values()
    assert {
        "corpus_filter": "legal_uk,legal_us",
        "composite_target": f"k10_extractive_sentences_{manifest.collection}",
        "target": "k10_extractive",
        "target_llm_provider": "extractive",
        "decision": answer.outcome.decision,
        "reason": answer.outcome.code,
        "search_k": 7,
        "citation_limit": target.citation_limit,
        "citations": len(answer.citations),
        "history_turns": 0,
        "streamed": False,
        "fallback": "none",
        "collection": manifest.collection,
        "collection_version": manifest.version,
        "chunk_size": str(origin.size),
        "chunk_overlap": str(origin.overlap),
        "index_kind": "exact",
        "gen_ai.operation.name": "invoke_workflow",
    }.items() <= dict(told).items()
    assert "gen_ai.usage.input_tokens" not in told  # Phoenix would add them to those of the calls


def test_a_kept_answer_tells_the_same_story(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(cited)
    asked(services, QUESTION)
    first = dict(named(exported, "ask"))
    exported.clear()
    asked(services, QUESTION)
    again = dict(named(exported, "ask"))
    assert [span.name for span in exported.get_finished_spans()] == ["ask"]
    changed = {"cache_hit": True, "attempts": 0}
    assert again == first | changed
    assert first["attempts"] == 1


def test_an_answer_names_its_root_span_and_a_search_its_trace(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION)
    (root,) = [span for span in whole(exported) if span.parent is None]
    assert root.context
    assert answer.to_dict()["span_id"] == format(root.context.span_id, "016x")
    assert answer.trace_id == format(root.context.trace_id, "032x")
    exported.clear()
    found = Atlas(traced).search(QUESTION)
    (root,) = [span for span in whole(exported) if span.parent is None]
    assert root.context
    assert root.name == "search"
    assert found.to_dict()["trace_id"] == format(root.context.trace_id, "032x")


def test_every_span_says_whose_it_is(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(cited)
    history = [ChatTurn("user", QUESTION), ChatTurn("assistant", "It cannot sue.")]
    request = ask_request(
        services, "And in Britain?", history=history, session_id="s-7", qa_id="q-7"
    )
    Atlas(services).answer(replace(request, user_id="reading room"))
    spans = whole(exported)
    # those of the legs were opened in threads of a pool
    assert {"dense legal_uk", "lexical legal_us", "generate"} <= {span.name for span in spans}
    ids = {"session.id": "s-7", "qa_id": "q-7", "user.id": "reading room"}
    for span in spans:
        said = dict(span.attributes or {})
        assert (ids | {"gen_ai.conversation.id": "s-7"}).items() <= said.items(), span.name
    assert named(exported, "ask")["history_turns"] == 2


def test_ids_end_with_their_block_and_nobody_is_not_named(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    with identify(Ids(user_id="reading room")):
        Atlas(traced).search(QUESTION)
    assert {dict(span.attributes or {})["user.id"] for span in whole(exported)} == {"reading room"}
    exported.clear()
    Atlas(traced).ask(QUESTION)
    for span in whole(exported):
        assert "user.id" not in (span.attributes or {})


def test_what_is_only_for_the_trace_does_not_decide_an_answer(both: Both) -> None:
    services, server = both
    server.says(cited)
    first = plan_answer(services, AskRequest(question=QUESTION))
    asked_again = replace(first, streamed=True, user_id="reading room", qa_id="another")
    atlas = Atlas(services)
    atlas.answer(first)
    assert atlas.answer(asked_again).cache_hit


def test_a_stream_is_told_from_an_answer_at_once(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    list(Atlas(traced).stream(QUESTION))
    assert named(exported, "ask")["streamed"] is True


def test_who_stood_in_is_told(both: Both, exported: InMemorySpanExporter) -> None:
    services, server = both
    server.says(lambda _: Reply(500))
    asked(services, QUESTION, llm_fallback="extractive")
    told = named(exported, "ask")
    assert told["fallback"] == "model_unavailable"
    assert (told["llm_provider"], told["target_llm_provider"]) == ("extractive", "openai")


def test_the_root_lists_the_passages_of_the_answer_in_its_order(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    answer = Atlas(traced).ask(QUESTION).to_dict()
    listed = documents(named(exported, "ask"), "retrieval.documents")
    assert [(each["id"], each["score"]) for each in listed] == [
        (passage["passage_id"], passage["score"]) for passage in answer["passages"]
    ]
    cited_ids = {citation["passage_id"] for citation in answer["citations"]}
    assert {each["id"] for each in listed if each["metadata"]["cited"]} == cited_ids
    assert all("content" not in each for each in listed)  # those are in the span of the search


def test_a_run_names_its_model_fit_for_a_file(both: Both) -> None:
    services, _ = both
    target = services.targets["model"].model_copy(update={"llm_model": "org/tiny model:7b"})
    named_so = replace(services, targets={"model": target})
    assert named_so.composite_target("model") == (
        f"model_org-tiny-model-7b_{services.store.manifest.collection}"
    )
