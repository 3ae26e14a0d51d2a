"""Runs of an evaluation, made by hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Reply, Tools
from atlas_search.evaluation.run import EvalRun, JudgeUsed, LabelsUsed, RunSpec
from atlas_search.evaluation.scored import Scored, score
from tests.hash_embedder import HashEmbedder
from tests.replies import reply

TOOLS = Tools(HashEmbedder())
LABELS = tuple(
    Label(
        f"q{number}",
        "test",
        "factual" if number < 20 else "paraphrase",
        f"How tall is lighthouse {number}?",
        (f"{number} metres",),
        frozenset({f"{'coast' if number % 2 else 'island'}.light{number}"}),
    )
    for number in range(24)
)


def spec(id_: str = "before", **changes: object) -> RunSpec:
    fields = {
        "id": id_,
        "started": datetime(2026, 1, 1, tzinfo=UTC),
        "labels": LabelsUsed(name="lights.jsonl", sha256="ab" * 32, split="test", questions=24),
        "target": "k10",
        "composite_target": "k10_sentences_lights",
        "options": {"search_k": 10, "weight_bm25": 0.6},
        "where": "process",
        "collection": "lights",
        "collection_version": "v1",
        "corpora": ("coast", "island"),
        "versions": {"python": "3.11"},
    }
    return RunSpec.model_validate(fields | changes)


def right(label: Label) -> Reply:
    """An answer that is the reference, cited from the gold document."""
    (gold,) = label.gold_document_ids
    return reply("ANSWER", label.answers[0], found=[gold], cited=[gold], label_id=label.id)


def wrong(label: Label) -> Reply:
    """No answer, and another document found."""
    return reply("ABSTAIN", found=["coast.harbour"], label_id=label.id)


def scores(labels: Sequence[Label], bad: Iterable[str] = ()) -> tuple[Scored, ...]:
    """Score these questions, the `bad` ones as wrong."""
    missed = set(bad)
    replies = (wrong(label) if label.id in missed else right(label) for label in labels)
    return tuple(score(label, came, TOOLS) for label, came in zip(labels, replies, strict=True))


def made_run(
    id_: str = "before",
    bad: Iterable[str] = (),
    labels: Sequence[Label] = LABELS,
    **changes: object,
) -> EvalRun:
    used = LabelsUsed(name="lights.jsonl", sha256="ab" * 32, split="test", questions=len(labels))
    return EvalRun(spec(id_, **({"labels": used} | changes)), scores(labels, bad))


def by_a_judge(run: EvalRun, **who: object) -> EvalRun:
    """Let a judge give the faithfulness of a run, as high as the estimate."""
    fields = {"provider": "mistral", "model": "large", "votes": 3, "prompts": {"mark": "1f"}}
    judged = (
        replace(one, sources={**one.sources, "faithfulness": "judge"})
        if "faithfulness" in one.figures
        else one
        for one in run.scored
    )
    return EvalRun(run.spec, tuple(judged), JudgeUsed.model_validate(fields | who))


def slower(run: EvalRun, seconds: float) -> EvalRun:
    """Make each reply of a run so much later."""
    later = (
        replace(one, reply=one.reply.model_copy(update={"seconds": one.reply.seconds + seconds}))
        for one in run.scored
    )
    return EvalRun(run.spec, tuple(later))


def unanswered(run: EvalRun, errors: Mapping[str, str]) -> EvalRun:
    """Take the replies to some questions out of a run."""
    scored = (
        score(one.label, Reply(label_id=one.label.id, seconds=9, error=errors[one.label.id]), TOOLS)
        if one.label.id in errors
        else one
        for one in run.scored
    )
    return EvalRun(run.spec, tuple(scored))


def kept(run: EvalRun, folder: Path) -> Path:
    """The run as a folder below `folder`, named by its id."""
    path = folder / run.spec.id
    on_disk = RunFolder(path)
    on_disk.begin(run.spec, [one.label for one in run.scored])
    for one in run.scored:
        on_disk.add(one.reply)
    on_disk.finish(run.scored)
    return path
