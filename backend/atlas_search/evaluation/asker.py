"""Who answers the questions of an evaluation."""

import logging
import time
from dataclasses import dataclass, replace
from datetime import date
from typing import Protocol

from atlas_search.answer.cache import AnswerCache
from atlas_search.asking import Where
from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError
from atlas_search.documents.answer import AnswerDocument
from atlas_search.documents.search import SearchOut
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply

_log = logging.getLogger(__name__)


class Asker(Protocol):
    """Asks a target, or only searches with it. Safe to use from several threads."""

    def ask(self, label: Label) -> Reply:
        """What came back for the question of a label; its `error` says why nothing did.

        Raises nothing: one question that fails costs a run no other.
        """


@dataclass(frozen=True)
class ProcessAsker:
    """Asks a collection that is open in this process, as on the day `today`.

    `k` are the passages wanted, None: as many as the target says. The answers are those of the
    `session`, if it has a name.
    """

    atlas: Atlas
    target: str
    today: date
    search_only: bool = False
    k: int | None = None
    session: str | None = None

    def ask(self, label: Label) -> Reply:  # noqa: D102
        started = time.perf_counter()
        error, answer, found = "", None, None
        try:
            if self.search_only:
                found = self._search(label)
            else:
                answer = self._answer(label)
        except Exception as raised:
            error = failure(raised, label)
        seconds = time.perf_counter() - started
        return Reply(label_id=label.id, seconds=seconds, error=error, answer=answer, found=found)

    def _answer(self, label: Label) -> AnswerDocument:
        answer = self.atlas.ask(
            label.question,
            qa_id=f"eval-{label.id}",
            session_id=self.session,
            **self._where(label),
        )
        return AnswerDocument.model_validate(answer.to_dict())

    def _search(self, label: Label) -> SearchOut:
        found = self.atlas.search(label.question, **self._where(label))
        return SearchOut.model_validate(found.to_dict())

    def _where(self, label: Label) -> Where:
        return Where(
            target=self.target,
            as_of=self.today,
            corpora=label.corpus_filter or "all",
            filters=label.filters,
            k=self.k,
        )


def failure(raised: Exception, label: Label) -> str:
    """What a reply says of an error; one that nobody raises on purpose is logged whole."""
    if isinstance(raised, AtlasError):
        return str(raised)
    _log.error("The question %s cannot be asked.", label.id, exc_info=raised)
    return f"{type(raised).__name__}: {raised}"


def without_kept_answers(atlas: Atlas) -> Atlas:
    """The same collection, where every question is answered anew; it needs no closing."""
    cache = AnswerCache(1, 1, enabled=False)
    answerer = replace(atlas.services.answerer, cache=cache)
    return Atlas(replace(atlas.services, answerer=answerer))
