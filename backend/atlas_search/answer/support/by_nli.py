"""An entailment model as a judge: whether a sentence follows from a window of what it cites."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atlas_search.answer.support import Claim, Judgement, Judgements, Verifier
from atlas_search.core.domain import Citation, Passage
from atlas_search.core.stop import Stop
from atlas_search.language.lines import unwrap
from atlas_search.language.text import TextSpan, sentences
from atlas_search.providers.cross_encoder import EntailmentModel, Inference

LIKELY = 0.5
"""From here on a label is likelier than all others together."""

_BATCH = 4  # windows read between two looks whether the answer is still wanted
_MARKS = "*_#>•- "  # of Markdown, around a sentence


@dataclass(frozen=True)
class EntailmentJudge:
    """See Judge.

    A sentence is supported if one window of its passages entails it. The windows are the cited
    quote and every other sentence of the passages, each with its neighbours as far as the model
    reads, and the quotes together where there are several. A sentence is contradicted if none
    entails it and the first, about the quote, contradicts it.
    """

    stop: Stop
    entailment: EntailmentModel
    verifier: Verifier = "nli"

    @property
    def model(self) -> str:
        """The entailment model."""
        return self.entailment.name

    def judge(self, claims: Sequence[Claim]) -> Judgements:
        """See Judge. It does not compare passages."""
        return Judgements({claim.number: self._judge_one(claim) for claim in claims})

    def _judge_one(self, claim: Claim) -> Judgement:
        said = claim.text.strip(_MARKS)
        windows = list(dict.fromkeys(self._windows(claim, said)))
        found: list[Inference] = []
        for at in range(0, len(windows), _BATCH):
            self.stop.check()
            found += self.entailment.infer([(window, said) for window in windows[at : at + _BATCH]])
            best = max(each.entailment for each in found)
            if best >= LIKELY:
                return Judgement("supported", f"Entailed with {best:.2f}.")
        against = found[0].contradiction
        reason = f"What it cites entails it with {best:.2f} at most, by {self.model}"
        if against >= LIKELY:
            return Judgement("contradicted", f"{reason}, and contradicts it with {against:.2f}.")
        return Judgement("unsupported", f"{reason}; {LIKELY:.2f} is needed.")

    def _windows(self, claim: Claim, said: str) -> Iterator[str]:
        for citation in claim.citations:
            yield self._window(citation.passage, _place(citation), said)
        if len(claim.citations) > 1:
            yield " ".join(unwrap(citation.quote) for citation in claim.citations)
        for passage in claim.passages:
            for place in range(len(_spans(passage))):
                yield self._window(passage, place, said)

    def _window(self, passage: Passage, place: int, said: str) -> str:
        """A sentence with the one before and the one after, or less where that is too long."""
        spans = _spans(passage)
        for first, last in ((place - 1, place + 1), (place - 1, place), (place, place)):
            start, end = spans[max(first, 0)].start, spans[min(last, len(spans) - 1)].end
            window = unwrap(passage.text[start:end])
            if self.entailment.fits(window, said):
                break
        return window


def _spans(passage: Passage) -> Sequence[TextSpan]:
    spans = sentences(passage.text, passage.language)
    return spans or [TextSpan(0, len(passage.text))]


def _place(citation: Citation) -> int:
    """The sentence of the passage in which the quote begins."""
    start = citation.start - citation.passage.start
    before = [at for at, span in enumerate(_spans(citation.passage)) if span.start <= start]
    return before[-1] if before else 0
