"""The index of vectors audited with the questions of a run."""

import logging
from dataclasses import replace

from atlas_search.core.errors import AtlasError, RequestError
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.index_audit import index_audit
from atlas_search.evaluation.run import PROCESS
from atlas_search.evaluation.runs.carry_out import Outcome
from atlas_search.evaluation.runs.here import ProcessSubject
from atlas_search.evaluation.runs.subject import Subject

_log = logging.getLogger(__name__)


def check_index_is_here(where: str) -> None:
    """Raise RequestError unless the run asks a collection that is open in this process."""
    if where != PROCESS:
        raise _elsewhere(where)


def with_index_audit(folder: RunFolder, subject: Subject, outcome: Outcome) -> Outcome:
    """The outcome with the recall of the index, which is kept with the run.

    As many passages are compared as a search of all corpora draws from each. A run that was
    interrupted is not audited. What fails of it is a trouble of the outcome, and named in the
    reports. Raises RequestError for a server.
    """
    if outcome.stopped:
        return outcome
    if not isinstance(subject, ProcessSubject):
        raise _elsewhere(subject.facts.where)
    _, target = subject.atlas.services.target(subject.target)
    try:
        with folder.naming("audit"):
            questions = [label.question for label in folder.labels()]
            depth = target.large_retrieval_size_all_corpus
            found = index_audit(subject.atlas, questions, depth)
            spec = folder.audited(found.recall, found.asked)
    except Exception as error:
        if not isinstance(error, AtlasError):
            _log.exception("The index cannot be audited.")
        failed = f"The index was not audited: {folder.troubles().get('audit', error)}"
        return replace(outcome, troubles=(*outcome.troubles, failed))
    return replace(outcome, run=replace(outcome.run, spec=spec))


def _elsewhere(where: str) -> RequestError:
    return RequestError(
        f"--audit-index reads every vector of a collection, and {where} does not give them. Run it "
        "without --url where the collection is, or leave --audit-index out."
    )
