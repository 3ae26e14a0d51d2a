"""A run as a data set that other tools of evaluation read."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from atlas_search.evaluation.folder import RunFolder, replace_file
from atlas_search.evaluation.run import EvalRun
from atlas_search.evaluation.scored import Scored

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
