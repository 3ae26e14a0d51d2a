"""Runs made by hand, as folders, to be reported."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.run import LabelsUsed, RunSpec
from atlas_search.evaluation.scored import score
from atlas_search.search.result import SearchOut
from tests.hash_embedder import HashEmbedder
from tests.replies import passage, reply

CORPORA = ("coast", "island")
REPORTS = ("per_question.csv", "report.md", "report.html", "results.json")
LIGHTS = tuple(
    Label(
        f"q{number}",
        "test" if number % 3 else "dev",
        "height" if number < 6 else "keeper",
        f"How tall is lighthouse {number}?",
        (f"{number} metres",),
        frozenset({f"{CORPORA[number % 2]}.light{number}"}),
    )
    for number in range(8)
)
NOWHERE = Label("q8", "test", "unanswerable", "Who painted the pier?")
QUESTIONS = (*LIGHTS, NOWHERE)


def right(label: Label, likelihood: float = 0.8) -> Reply:
    """The reference, cited from the gold document that came first; declined where none is gold."""
    if not label.answers:
        return wrong(label)
    (gold,) = label.gold_document_ids
    return reply(
        "ANSWER",
        label.answers[0],
        passages=[passage(gold, signals={"semantic": 0.9, "title": 0.2}), passage("coast.pier")],
        cited=[gold],
        label_id=label.id,
        sentences=[{"text": label.answers[0], "citations": [0], "grounded": True}],
        confidence={"word": "likely", "likelihood": likelihood},
        retrieval={"per_corpus": {"coast": counts(8, 2), "island": counts(2, 0)}},
        timings_ms={"embed": 4.0, "rank": 1.0},
        usage={"provider": "openai", "model": "m", "attempts": 1, "completion_tokens": 5,
               "prompt_tokens": 50, "cost": 0.01},
    )  # fmt: skip


def wrong(label: Label) -> Reply:
    """No answer, and another document found."""
    return reply("ABSTAIN", found=["coast.pier"], label_id=label.id)


def failed(label: Label, error: str = "The server is busy.") -> Reply:
    return Reply(label_id=label.id, seconds=9.0, error=error)


def searched(label: Label) -> Reply:
    """A search, without an answer."""
    nothing = {"narrowed": False, "corpora": [], "all_corpora": 0, "filters": {}, "sentence": ""}
    sizes = dict.fromkeys(("documents", "passages", "all_documents", "all_passages"), 0)
    lists = ("required", "unmet", "excluded", "unknown_words", "short_legs")
    dates = {"first": None, "last": None, "or_earlier": False, "or_later": False, "undated": 0}
    scope = nothing | sizes | {name: [] for name in lists} | {"dates": dates}
    document = {
        "question": label.question,
        "target": "k10",
        "passages": [dict(passage("coast.pier"))],
        "scope": scope,
        "retrieval": {},
        "facets": None,
        "candidates": None,
        "timings_ms": {"embed": 1.0},
    }
    read = SearchOut.model_validate(document)
    return Reply(label_id=label.id, seconds=0.5, found=read)


def counts(candidates: int, kept: int) -> dict[str, int]:
    return {"candidates": candidates, "dense": 1, "lexical": 1, "kept": kept, "cited": 0}


def spec(**changes: object) -> RunSpec:
    fields = {
        "id": "r1",
        "started": datetime(2026, 1, 1, tzinfo=UTC),
        "labels": LabelsUsed(name="lights.jsonl", sha256="ab" * 32, split="", questions=9),
        "target": "k10",
        "composite_target": "k10 sentences_lights",
        "options": {"search_k": 10, "reranker": "fused"},
        "where": "process",
        "collection": "lights",
        "collection_version": "v1",
        "corpora": CORPORA,
    }
    return RunSpec.model_validate(fields | changes)


def made(
    folder: Path,
    replies: Mapping[str, Reply] | None = None,
    labels: Sequence[Label] = QUESTIONS,
    **changes: object,
) -> RunFolder:
    """A whole run, right but for `replies`."""
    run = unjudged(folder, replies, labels, **changes)
    came, tools = run.replies(), Tools(HashEmbedder(), corpora=CORPORA, limit=10)
    run.finish([score(label, came[label.id], tools) for label in labels if label.id in came])
    return run


def unjudged(
    folder: Path,
    replies: Mapping[str, Reply] | None = None,
    labels: Sequence[Label] = QUESTIONS,
    **changes: object,
) -> RunFolder:
    """A run of which nothing is judged."""
    run = RunFolder(folder)
    run.begin(spec(**changes), labels)
    for label in labels:
        run.add((replies or {}).get(label.id) or right(label))
    return run
