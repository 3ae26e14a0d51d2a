"""What came back for a question, from this process or from a server, in one form."""

from collections.abc import Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from atlas_search.answer.decide import mean_evidence
from atlas_search.core.domain import MARKER
from atlas_search.documents.answer import AnswerDocument
from atlas_search.documents.search import RankedPassageOut, RetrievalOut, SearchOut


class Reply(BaseModel):
    """What came back for the question of the label `label_id`, after `seconds`.

    `answer` (with its passages) of a question that was asked, `found` of one that was only
    searched for; neither where `error` says why nothing came back. A busy server is asked several
    times (`tries`): the seconds are those of the last.
    """

    model_config = ConfigDict(frozen=True)

    label_id: str
    seconds: float
    error: str = ""
    tries: int = 1
    answer: AnswerDocument | None = None
    found: SearchOut | None = None

    @property
    def passages(self) -> Sequence[RankedPassageOut]:
        """The passages, best first."""
        came = self.answer or self.found
        return (came.passages or ()) if came else ()

    @property
    def documents(self) -> tuple[str, ...]:
        """Ids of the passages' documents, best first, each once."""
        return tuple(dict.fromkeys(passage.document_id for passage in self.passages))

    @property
    def retrieval(self) -> RetrievalOut:
        """How they were found."""
        came = self.answer or self.found
        return came.retrieval if came else RetrievalOut()

    @property
    def evidence(self) -> float:
        """How much the collection speaks to the question, in [0, 1], as decisions have it."""
        confidence = self.retrieval.confidence
        return mean_evidence(confidence.max, confidence.support)

    @property
    def timings_ms(self) -> Mapping[str, float]:
        """Milliseconds of each stage, as whoever answered measured them."""
        came = self.answer or self.found
        return came.timings_ms if came else {}

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.answer is not None and self.answer.decision == "ANSWER"

    @property
    def text(self) -> str:
        """The answer without its citation tokens; empty if there is none."""
        return without_markers(self.answer.answer or "") if self.answer and self.answered else ""


def without_markers(answer: str) -> str:
    """An answer without its citation tokens."""
    return " ".join(MARKER.sub(" ", answer).split())
