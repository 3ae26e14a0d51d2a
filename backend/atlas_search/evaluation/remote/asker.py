"""The questions of an evaluation, sent to a running server."""

import time
from dataclasses import dataclass

from atlas_search.core.errors import AtlasError
from atlas_search.documents.answer import AnswerDocument
from atlas_search.documents.search import SearchOut
from atlas_search.evaluation.asker import failure
from atlas_search.evaluation.labels.label import Label
from atlas_search.evaluation.remote.server import RemoteServer
from atlas_search.evaluation.reply import Reply
from atlas_search.evaluation.run import RunSpec


@dataclass(frozen=True)
class RemoteAsker:
    """See Asker. The id of the run is that of the answers' session, by which traces name it."""

    server: RemoteServer
    spec: RunSpec

    def ask(self, label: Label) -> Reply:  # noqa: D102
        started = time.perf_counter()
        try:
            return self._search(label) if self.spec.search_only else self._answer(label)
        except Exception as raised:
            seconds = time.perf_counter() - started
            return Reply(label_id=label.id, seconds=seconds, error=failure(raised, label))

    def _answer(self, label: Label) -> Reply:
        body = self._body(label) | {"include_context": True, "session_id": self.spec.id}
        sent = self.server.post("ask", body)
        answer = AnswerDocument.model_validate(sent.document)
        self._check(answer)
        return Reply(label_id=label.id, seconds=sent.seconds, tries=sent.tries, answer=answer)

    def _check(self, answer: AnswerDocument) -> None:
        """Raise AtlasError for an answer from other sources than the others of the run."""
        asked = (self.spec.collection, self.spec.collection_version)
        came = (answer.collection, answer.collection_version)
        if came != asked:
            raise AtlasError(
                f"{self.server.address} answered from {' '.join(came)}, and the run asks "
                f"{' '.join(asked)}. Begin a new run."
            )

    def _search(self, label: Label) -> Reply:
        sent = self.server.post("search", self._body(label))
        found = SearchOut.model_validate(sent.document)
        return Reply(label_id=label.id, seconds=sent.seconds, tries=sent.tries, found=found)

    def _body(self, label: Label) -> dict[str, object]:
        return {
            "question": label.question,
            "corpus_filter": list(label.corpus_filter) or "all",
            "filters": dict(label.filters),
            "target": self.spec.target,
            "k": self.spec.k,
            "as_of": self.spec.today.isoformat() if self.spec.today else None,
        }
