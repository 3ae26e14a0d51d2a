"""What is put to the libraries about a reply, and what they find."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from atlas_search.answer.write.prompt import without_chat_tokens
from atlas_search.evaluation.judge_model import MALFORMED, Decision, Judged, JudgeModel, NotJudged
from atlas_search.evaluation.libraries.process import Libraries
from atlas_search.evaluation.metrics import Case
from atlas_search.providers.chat import Message

_TOKENS = 3000  # of a reply: verdicts on all statements of an answer
_BY_REFERENCE = ("context_precision", "context_recall", "answer_correctness")
_OF_PASSAGES = ("context_precision", "context_recall", "faithfulness")

_DECISIONS = TypeAdapter(list[Decision])


@dataclass(frozen=True)
class LibraryTask:
    """A prompt of a library, whose `version` stands for that of its rules."""

    library: str
    version: str
    prompt: str
    tokens: int = _TOKENS

    @property
    def name(self) -> str:
        """As traces have it."""
        return f"judge/{self.library}"

    @property
    def template(self) -> str:
        """Unknown: what comes is filled in."""
        return ""

    @property
    def messages(self) -> tuple[Message, ...]:
        """As they are sent."""
        return (Message("user", self.prompt),)


def judge(libraries: Libraries, model: JudgeModel, name: str, case: Case) -> Judged:
    """The figure of a library; of several references the best counts, each asked about by itself.

    What Atlas' own measures fix without asking is fixed here too. Raises NotJudged,
    EmbeddingUnavailable and Cancelled.
    """
    if name in _OF_PASSAGES and not case.reply.passages:
        return Judged(0.0)
    if name == "answer_correctness" and not case.reply.answered:
        return Judged(0.0)
    references: Sequence[str] = case.label.answers if name in _BY_REFERENCE else ()
    if name == "context_precision" and not references and not case.reply.answered:
        raise NotJudged("RAGAS judges passages by a reference or by the answer; there is neither.")
    best = Judged(0.0)
    for reference in references or ("",):
        found = _find(libraries, model, name, case, reference)
        best = max(best, found, key=lambda one: one.value) if best.decisions else found
        if best.value > 1 - 1e-9:  # RAGAS adds that much to what it divides by
            break
    return best


def _find(libraries: Libraries, model: JudgeModel, name: str, case: Case, reference: str) -> Judged:
    passages = case.reply.passages
    sample = {
        "question": without_chat_tokens(case.label.question),
        "answer": without_chat_tokens(case.reply.text),
        "passages": [without_chat_tokens(each.text) for each in passages],
        "passage_ids": [each.passage_id for each in passages],
        "reference": without_chat_tokens(reference),
    }

    def ask(library: str, prompt: str, time: int, usable: Callable[[str], bool]) -> str:
        def read(text: str) -> str:
            if not usable(text):
                raise NotJudged(MALFORMED)
            return text

        return model.ask_for(LibraryTask(library, libraries.versions[library], prompt), read, time)

    found = libraries.carry_out(name, sample, ask, case.tools.embedder.embed, model.stop)
    value = found["value"]
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise NotJudged("The library gave no number.")
    # a cosine may be below 0, or a rounding error above 1
    return Judged(min(1.0, max(0.0, value)), tuple(_DECISIONS.validate_python(found["decisions"])))
