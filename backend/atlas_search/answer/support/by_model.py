"""The target's language model as a judge: asked of each sentence, in one word.

A form with verdicts and reasons for all sentences at once was tried: a model of 1.5 billion
parameters called 36 of 36 sentences supported that had been made false by hand. Asked for one word
it found 33 of 40, and doubted none of the 40 true ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.support import Claim, Judgement, Judgements, Verifier
from atlas_search.answer.write.call_model import ask_yes_or_no
from atlas_search.answer.write.context import render
from atlas_search.answer.write.quotation import opening_of
from atlas_search.providers.chat import ChatModel, Message

_TAG = opening_of(["passage"])
_ASKED = "Does the text say this, with every name, number and date?"


@dataclass(frozen=True)
class ModelJudge:
    """See Judge. What the calls take counts as spent."""

    run: AnswerRun
    chat: ChatModel
    verifier: Verifier = "model"

    @property
    def model(self) -> str:
        """The target's model."""
        return self.run.model_name

    def judge(self, claims: Sequence[Claim]) -> Judgements:
        """See Judge."""
        said = {claim.number: self._says(claim) for claim in claims}
        doubt = f"{self.model} does not find all of it in what it cites."
        return Judgements(
            of={
                number: Judgement("supported", "") if yes else Judgement("unsupported", doubt)
                for number, yes in said.items()
                if yes is not None
            },
            why_not="the judge says neither yes nor no.",
        )

    def _says(self, claim: Claim) -> bool | None:
        passages = (render(passage, passage.marker) for passage in claim.passages)
        text = _TAG.sub("‹", " ".join(claim.text.split()))
        # with the question beside it, a small model doubts what is true
        messages = (
            Message("system", prompt("judge").template.strip()),
            Message("user", "\n\n".join([*passages, f"Sentence: {text}", _ASKED])),
        )
        filled = Filled("judge", prompt("judge"), {"question": self.run.question})
        return ask_yes_or_no(self.run, self.chat, messages, filled)
