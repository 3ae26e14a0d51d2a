"""One answer to be written, and what came of it."""

from dataclasses import dataclass, field

from atlas_search.answer.answer import Context, Emit, Writer
from atlas_search.answer.answerer import Answerer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.conflicts import Conflict, concealed
from atlas_search.answer.decide import ANSWERED, Fault, Outcome, after_writing
from atlas_search.answer.request import AskRequest
from atlas_search.answer.write.relay import Relay
from atlas_search.core.domain import Passage
from atlas_search.core.stop import Stop
from atlas_search.core.tracing import Tracer
from atlas_search.providers.chat import Usage
from atlas_search.search.flow import SearchResult

NOTHING = Verification((), (), ())


@dataclass(frozen=True)
class Job:
    """What is to be written: from what was found and its contradictions, and for whom."""

    answerer: Answerer
    request: AskRequest
    result: SearchResult
    conflicts: tuple[Conflict, ...]
    emit: Emit
    stop: Stop
    spent: list[Usage] = field(default_factory=list)
    """What every call to a language model took, also of those that came to nothing."""

    @property
    def question(self) -> str:
        """The question as it is searched for."""
        return self.request.search.question

    @property
    def evidence(self) -> list[Passage]:
        """The passages that passed the check, best first."""
        return [item.passage for item in self.result.passages if item.valid]

    def writer(self, provider: str, model: str, attempts: int = 1) -> Writer:
        """Who wrote, with all that was spent so far."""
        usage = sum(self.spent, Usage())
        cost = self.request.target.cost(usage.prompt_tokens, usage.completion_tokens)
        return Writer(provider, model, attempts, usage, cost)

    @property
    def tracer(self) -> Tracer:
        """Opens the spans."""
        return self.answerer.searcher.tracer


@dataclass(frozen=True)
class Written:
    """What came of writing. `text` is empty unless the decision is ANSWER."""

    text: str
    verification: Verification
    outcome: Outcome
    writer: Writer
    context: Context = field(default_factory=Context)


def judged(job: Job, relay: Relay, writer: Writer, fault: Fault | None = None) -> Written:
    """What was passed on, verified as a whole, with the decision about it.

    A `fault` makes a text unusable though it cannot be seen from it.
    """
    text = relay.text
    if not text.strip():
        return Written("", NOTHING, after_writing(text, NOTHING, (), None), writer)
    with job.tracer.span("verify", "GUARDRAIL") as span:
        span.input(text)
        checked = relay.verification
        outcome = after_writing(text, checked, concealed(job.conflicts, checked), fault)
        span.output({"errors": list(checked.errors), "warnings": list(checked.warnings)})
        span.set(
            citation_valid=checked.valid,
            sentence_groundedness=checked.sentence_groundedness,
            citations=len(checked.citations),
        )
    return Written(text.strip() if outcome is ANSWERED else "", checked, outcome, writer)
