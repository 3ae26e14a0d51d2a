"""Files made of a run: its reports, and data sets that other tools of evaluation read."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import quote

from pydantic_core import to_jsonable_python

from atlas_search.documents.export import csv_text
from atlas_search.evaluation.folder import RunFolder, replace_file
from atlas_search.evaluation.report_analysis import (
    Analysis,
    Faults,
    ReportFault,
    cited_documents,
    gold_of,
    read_runs,
)
from atlas_search.evaluation.report_blocks import as_html, as_markdown
from atlas_search.evaluation.report_sections import in_order, report_of
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import Scored, visible

_BETWEEN = "; "


def per_question(runs: Sequence[Analysis]) -> str:
    """Every question of every run, in order: what came back, then every figure.

    A text that a spreadsheet could run as a formula has a `'` put before it.
    """
    figures = in_order({name for run in runs for one in run.scored for name in one.figures})
    rows = (
        {"run": run.name} | _about(one) | dict(one.figures) for run in runs for one in run.scored
    )
    shown = (
        {name: visible(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
        for row in rows
    )
    return csv_text([*_HEADS, *figures], shown)


_HEADS = (
    "run", "question_id", "split", "category", "kind", "question", "references", "gold",
    "expected_decision", "decision", "reason", "message", "answer", "cited", "found",
    "likelihood", "provider", "model", "fallback", "seconds", "tries", "metrics_source",
    "error",
)  # fmt: skip


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


NAME = "results.json"

_RESULT_PARTS: Mapping[str, Callable[[Analysis], object]] = {
    "spec": lambda run: run.spec.model_dump(mode="json"),
    "questions": lambda run: {
        "asked": len(run.scored),
        "failed": len(run.run.failed),
        "unasked": run.unasked,
        "unjudged": run.unjudged,
        "lacking": len(run.run.lacking),
    },
    "troubles": lambda run: [*run.troubles, *dict.fromkeys(run.run.lacking)],
    "metrics_source": lambda run: run.metrics_source,
    "sources": lambda run: run.sources,
    "figures": lambda run: run.figures,
    "decisions": lambda run: [
        {"expected": expected, "taken": taken, "questions": count}
        for expected, taken, count in run.confusion
    ],
    "operations": lambda run: run.took,
    "reliability": lambda run: [each._asdict() for each in run.reliability],
    "coverage": lambda run: [each._asdict() for each in run.curve],
    "findings": lambda run: [each._asdict() for each in run.findings],
    "errors": lambda run: run.errors,
}


def results_json(
    runs: Sequence[Analysis], written: Sequence[str], faults: Faults, now: datetime
) -> str:
    """Each run with every part that can be told, the reports that were written, and what failed.

    A value that is no number is null.
    """
    told = [{"name": run.name} | _parts(run, faults) for run in runs]
    document = {
        "format": 1,
        "written": now.isoformat(),
        "runs": told,
        "reports": [*written, NAME],
        "failed": [fault._asdict() for fault in faults.found],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _parts(run: Analysis, faults: Faults) -> dict[str, object]:
    made = {
        name: faults.attempt(NAME, name, partial(_json_of, make, run))
        for name, make in _RESULT_PARTS.items()
    }
    return {name: None if isinstance(part, ReportFault) else part for name, part in made.items()}


def _json_of(make: Callable[[Analysis], object], run: Analysis) -> object:
    return to_jsonable_python(make(run), inf_nan_mode="null")


@dataclass(frozen=True)
class ReportFiles:
    """The files of a report that were written, and what failed of it."""

    folder: Path
    files: tuple[str, ...]
    faults: tuple[ReportFault, ...]

    @property
    def remarks(self) -> list[str]:
        """Return what a command says of it, a sentence for each."""
        files = ", ".join(self.files) or "none"
        failed = [f"Not written whole: {fault}" for fault in self.faults]
        return [f"Reports in {self.folder}: {files}.", *failed]


def write_reports(*folders: Path, out: Path | None = None) -> ReportFiles:
    """Write the reports of a run, of a grid, or of several runs side by side.

    They are written to `out`, by default to the first folder. Raises nothing: what fails is among
    the faults, in results.json too.
    """
    faults, target = Faults(), out or folders[0]
    runs = faults.attempt("reports", "", lambda: read_runs(folders))
    if isinstance(runs, ReportFault) or not runs:
        return ReportFiles(target, (), tuple(faults.found))
    faults.found += [ReportFault(run.name, "", each) for run in runs for each in run.damage]
    return ReportFiles(target, tuple(_write_all(runs, target, faults)), tuple(faults.found))


def _write_all(runs: Sequence[Analysis], target: Path, faults: Faults) -> list[str]:
    made: dict[str, Callable[[], str]] = {
        "per_question.csv": lambda: per_question(runs),
        "report.md": lambda: as_markdown(report_of(runs, faults)),
        "report.html": lambda: as_html(report_of(runs, faults), faults),
    }
    written = [name for name, make in made.items() if _write(target / name, make, faults)]
    # last: it says which of the others failed
    results = results_json(runs, written, faults, datetime.now(UTC))
    if _write(target / NAME, lambda: results, faults):
        written.append(NAME)
    return written


def _write(path: Path, make: Callable[[], str], faults: Faults) -> bool:
    return not isinstance(
        faults.attempt(path.name, "", lambda: replace_file(path, make())), ReportFault
    )


Files = Mapping[str, str]
"""Texts by what is added to the name of the file."""


def ragas(run: EvalRun) -> Files:
    """A sample in each line (JSONL), as RAGAS reads single turns.

    Without a reference or an answer its value is null. Questions that failed are left out.
    """
    samples = (
        {
            "user_input": one.label.question,
            "retrieved_contexts": _contexts(one),
            "response": one.reply.text or None,
            "reference": _reference(one) or None,
        }
        for one in _came(run)
    )
    return {"": "".join(json.dumps(sample) + "\n" for sample in samples)}


def deepeval(run: EvalRun) -> Files:
    """Test cases (JSON); an answer that was not given is empty.

    Questions that failed are left out.
    """
    cases = [
        {
            "input": one.label.question,
            "actual_output": one.reply.text,
            "expected_output": _reference(one),
            "retrieval_context": _contexts(one),
        }
        for one in _came(run)
    ]
    return {"": json.dumps(cases, indent=2) + "\n"}


def trec(run: EvalRun) -> Files:
    """A TREC run of documents, each at its first passage, and `.qrels` with their grades.

    Questions that failed are left out of the run, and stay in the qrels. Characters that would
    part a line are escaped as in addresses.
    """
    name = _word(run.spec.composite_target or run.spec.target)
    ranked = [
        f"{_word(one.label.id)} Q0 {_word(document)} {rank} {1 / rank:.6f} {name}\n"
        for one in _came(run)
        for rank, document in enumerate(one.reply.documents, start=1)
    ]
    relevant = [
        f"{_word(one.label.id)} 0 {_word(document)} {grade}\n"
        for one in run.scored
        for document, grade in one.label.relevance.items()
    ]
    return {"": "".join(ranked), ".qrels": "".join(relevant)}


FORMATS: Mapping[str, Callable[[EvalRun], Files]] = {
    "ragas": ragas,
    "deepeval": deepeval,
    "trec": trec,
}


def write_export(run: EvalRun, format_: str, file: Path) -> list[Path]:
    """Write a run in one of FORMATS, each file as a whole; the files that were written."""
    texts = {file.with_name(file.name + end): text for end, text in FORMATS[format_](run).items()}
    for path, text in texts.items():
        replace_file(path, text)
    return list(texts)


def read_replies(folder: RunFolder) -> EvalRun:
    """A run with every question that has a reply, judged or not; no figures are told.

    Raises SourceError.
    """
    replies = folder.replies()
    came = (Scored(one, replies[one.id], {}) for one in folder.labels() if one.id in replies)
    return EvalRun(folder.spec(), tuple(came))


def _came(run: EvalRun) -> list[Scored]:
    return [one for one in run.scored if not one.reply.error]


def _contexts(one: Scored) -> list[str]:
    return [passage.text for passage in one.reply.passages]


def _reference(one: Scored) -> str:
    return one.label.answers[0] if one.label.answers else ""


def _word(text: str) -> str:
    return quote(text, safe="/:.,;@+-_~!*'()[]{}&=$#?")
