"""Who answers the questions of an evaluation."""

import time
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from atlas_search.asking import Where
from atlas_search.atlas import Atlas
from atlas_search.core.errors import AtlasError
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.reply import Reply
from atlas_search.output.answer_document import AnswerDocument
from atlas_search.output.search_document import SearchOut


class Asker(Protocol):
    """Asks a target, or only searches with it. Safe to use from several threads."""

    def ask(self, label: Label) -> Reply:
        """What came back for the question of a label; its `error` says why nothing did."""


@dataclass(frozen=True)
class ProcessAsker:
    """Asks a collection that is open in this process, as on the day `today`."""

    atlas: Atlas
    target: str
    today: date
    search_only: bool = False

    def ask(self, label: Label) -> Reply:  # noqa: D102
        started = time.perf_counter()
        error, answer, found = "", None, None
        try:
            if self.search_only:
                found = self._search(label)
            else:
                answer = self._answer(label)
        except AtlasError as raised:
            error = str(raised)
        seconds = time.perf_counter() - started
        return Reply(label_id=label.id, seconds=seconds, error=error, answer=answer, found=found)

    def _answer(self, label: Label) -> AnswerDocument:
        answer = self.atlas.ask(label.question, qa_id=f"eval-{label.id}", **self._where(label))
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
        )
