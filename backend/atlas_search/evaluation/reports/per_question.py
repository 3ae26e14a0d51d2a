"""CSV with a row for each question, for spreadsheets and statistics."""

import csv
import io
from collections.abc import Sequence

from atlas_search.documents.export import inert
from atlas_search.evaluation.reports.analysis import Analysis
from atlas_search.evaluation.reports.outcomes import cited_documents, gold_of
from atlas_search.evaluation.reports.sections.summary import in_order
from atlas_search.evaluation.reports.wording import visible
from atlas_search.evaluation.scored import Scored

_BETWEEN = "; "


def per_question(runs: Sequence[Analysis]) -> str:
    """Every question of every run, in order: what came back, then every figure.

    A text that a spreadsheet could run as a formula has a `'` put before it.
    """
    rows = [{"run": run.name} | _about(one) for run in runs for one in run.of.scored]
    figures = in_order({name for run in runs for one in run.of.scored for name in one.figures})
    heads = [*_about_nothing(), *figures]
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, heads, restval="")
    writer.writeheader()
    questions = (one for run in runs for one in run.of.scored)
    for row, one in zip(rows, questions, strict=True):
        cells = {name: _cell(value) for name, value in row.items()}
        writer.writerow(cells | dict(one.figures))
    return written.getvalue()


def _about_nothing() -> list[str]:
    return [
        "run", "question_id", "split", "category", "kind", "question", "references", "gold",
        "expected_decision", "decision", "reason", "message", "answer", "cited", "found",
        "likelihood", "provider", "model", "fallback", "seconds", "tries", "metrics_source",
        "error",
    ]  # fmt: skip


def _about(one: Scored) -> dict[str, object]:
    label, reply, answer = one.label, one.reply, one.reply.answer
    asked = {
        "question_id": label.id,
        "split": label.split,
        "category": label.category,
        "kind": label.kind,
        "question": label.question,
        "references": " | ".join(label.answers),
        "gold": _BETWEEN.join(gold_of(one)),
        "expected_decision": label.expected_decision or "",
        "found": _BETWEEN.join(reply.documents),
        "seconds": f"{reply.seconds:.4f}",
        "tries": reply.tries,
        "metrics_source": "/".join(sorted(set(one.sources.values()))),
        "error": reply.error,
    }
    if answer is None:
        return asked
    provider, model = answer.written_by
    return asked | {
        "decision": answer.decision,
        "reason": answer.reason.code,
        "message": answer.reason.message,
        "answer": answer.answer or "",
        "cited": _BETWEEN.join(cited_documents(one)),
        "likelihood": answer.confidence.likelihood if answer.confidence else "",
        "provider": provider,
        "model": model,
        "fallback": answer.fallback.code if answer.fallback else "",
    }


def _cell(value: object) -> object:
    return inert(visible(value)) if isinstance(value, str) else value
