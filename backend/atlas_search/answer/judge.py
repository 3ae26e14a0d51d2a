"""The judges of sentences: the target's language model, asked for one word about each, and an
entailment model, asked whether a sentence follows from a window of what it cites.

A form with verdicts and reasons for all sentences at once was tried: a model of 1.5 billion
parameters called 36 of 36 sentences supported that had been made false by hand. Asked for one word
it found 33 of 40, and doubted none of the 40 true ones.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from atlas_search.answer.answer import Claim, Judge, Judgement
from atlas_search.answer.check.citations import Doubt, Verification, Verifier, sum_up
from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.write.call_model import ask_yes_or_no
from atlas_search.answer.write.prompt import opening_of, render
from atlas_search.core.domain import CheckedSentence, Citation, Passage
from atlas_search.core.stop import Stop
from atlas_search.language.lines import unwrap
from atlas_search.language.text import TextSpan, sentences
from atlas_search.providers.chat import ChatModel, Message
from atlas_search.providers.cross_encoder import EntailmentModel, Inference

_TAG = opening_of(["passage"])
_NOT_JUDGED = "was not judged: the judge says neither yes nor no."
_ASKED = "Does the text say this, with every name, number and date?"


@dataclass(frozen=True)
class ModelJudge:
    """A judge that asks the target's language model; its calls count as spent."""

    run: AnswerRun
    chat: ChatModel
    verifier: Verifier = "model"

    @property
    def model(self) -> str:
        """The target's model."""
        return self.run.model_name

    def judge(self, claims: Sequence[Claim]) -> dict[int, Judgement]:
        replies = {claim.number: self._says(claim) for claim in claims}
        doubt = f"{self.model} does not find all of it in what it cites."
        return {
            number: Judgement("supported", "") if yes else Judgement("unsupported", doubt)
            for number, yes in replies.items()
            if yes is not None
        }

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


LIKELY = 0.5
"""From here on a label is likelier than all others together."""

_BATCH = 4  # windows read between two looks whether the answer is still wanted
_MARKS = "*_#>•- "  # of Markdown, around a sentence


@dataclass(frozen=True)
class EntailmentJudge:
    """A judge that asks an entailment model.

    A sentence is supported if one window of its passages entails it. The windows are the cited
    quote and every other sentence of the passages, each with its neighbours as far as the model
    reads, and the quotes together where there are several. A sentence is contradicted if none
    entails it and the first, about the quote, contradicts it. Passages are not compared with each
    other.
    """

    stop: Stop
    entailment: EntailmentModel
    verifier: Verifier = "nli"

    @property
    def model(self) -> str:
        """The entailment model."""
        return self.entailment.name

    def judge(self, claims: Sequence[Claim]) -> dict[int, Judgement]:
        return {claim.number: self._judge_one(claim) for claim in claims}

    def _judge_one(self, claim: Claim) -> Judgement:
        sentence = claim.text.strip(_MARKS)
        windows = list(dict.fromkeys(self._windows(claim, sentence)))
        inferences: list[Inference] = []
        for at in range(0, len(windows), _BATCH):
            self.stop.check()
            inferences += self.entailment.infer(
                [(window, sentence) for window in windows[at : at + _BATCH]]
            )
            best = max(each.entailment for each in inferences)
            if best >= LIKELY:
                return Judgement("supported", f"Entailed with {best:.2f}.")
        against = inferences[0].contradiction
        reason = f"What it cites entails it with {best:.2f} at most, by {self.model}"
        if against >= LIKELY:
            return Judgement("contradicted", f"{reason}, and contradicts it with {against:.2f}.")
        return Judgement("unsupported", f"{reason}; {LIKELY:.2f} is needed.")

    def _windows(self, claim: Claim, sentence: str) -> Iterator[str]:
        for citation in claim.citations:
            yield self._window(citation.passage, _place(citation), sentence)
        if len(claim.citations) > 1:
            yield " ".join(unwrap(citation.quote) for citation in claim.citations)
        for passage in claim.passages:
            for place in range(len(_spans(passage))):
                yield self._window(passage, place, sentence)

    def _window(self, passage: Passage, place: int, sentence: str) -> str:
        """A sentence with the one before and the one after, or less where that is too long."""
        spans = _spans(passage)
        for first, last in ((place - 1, place + 1), (place - 1, place), (place, place)):
            start, end = spans[max(first, 0)].start, spans[min(last, len(spans) - 1)].end
            window = unwrap(passage.text[start:end])
            if self.entailment.fits(window, sentence):
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


def claims_of(sentences: Sequence[CheckedSentence], given: Sequence[Passage]) -> list[Claim]:
    """The sentences that cite something; a token names every given passage that has it."""
    claims = []
    for number, sentence in enumerate(sentences, start=1):
        markers = {citation.marker for citation in sentence.citations}
        if markers:
            cited = tuple(passage for passage in given if passage.marker in markers)
            claims.append(Claim(number, sentence.text, sentence.citations, cited))
    return claims


def judge_sentences(judge: Judge, checked: Verification, given: Sequence[Passage]) -> Verification:
    """Judge the sentences of an answer that passed the citation check.

    A sentence that the judge leaves out gets a warning. If it judges none, the citation check alone
    verified the answer, and `verified_by` says so. Raises what `Judge.judge` does.
    """
    claims = claims_of(checked.sentences, given)
    judgements = judge.judge(claims)
    sentences = list(checked.sentences)
    doubts = []
    for claim in claims:
        at, judgement = claim.number - 1, judgements.get(claim.number)
        sentences[at] = _mark(sentences[at], judgement)
        if judgement and judgement.verdict != "supported":
            doubts.append(Doubt(claim.number, claim.text, judgement.verdict, judgement.reason))
    verifier = judge.verifier if judgements else "citations"
    return replace(sum_up(sentences), verified_by=verifier, doubts=tuple(doubts))


def _mark(sentence: CheckedSentence, judgement: Judgement | None) -> CheckedSentence:
    if judgement:
        return replace(sentence, support="supported" if judgement.verdict == "supported" else "")
    return replace(sentence, support="not_judged", warnings=(*sentence.warnings, _NOT_JUDGED))


def judge_of(run: AnswerRun, model: ChatModel) -> Judge | None:
    """Return the judge of what `model` wrote; None if the citation check is all."""
    target = run.target
    if target.verify == "model":
        return ModelJudge(run, model)
    if target.verify == "nli":
        return EntailmentJudge(run.stop, run.answerer.entailment[target.verify_model])
    return None


def judge_points(
    run: AnswerRun, judge: Judge, points: Sequence[Verification], given: Sequence[Passage]
) -> tuple[list[bool], tuple[Doubt, ...]]:
    """Judge points: one that is not supported in all it says, or not judged, gets False.

    The doubts say what is wrong with these. Raises what `Judge.judge` does.
    """
    if not points:
        return [], ()
    together = sum_up([sentence for point in points for sentence in point.sentences])
    with run.clock.measure("verify"), run.stage("verify points") as stage:
        checked = judge_sentences(judge, together, given)
        stage.done(checked, judge)
    ends = list(accumulate(len(point.sentences) for point in points))
    parts = [checked.sentences[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    verdicts = [all(sentence.support == "supported" for sentence in part) for part in parts]
    return verdicts, (*checked.doubts, *_not_judged(checked.sentences))


def _not_judged(sentences: Sequence[CheckedSentence]) -> list[Doubt]:
    return [
        Doubt(number, sentence.text, "not_judged", f"It {sentence.warnings[-1]}")
        for number, sentence in enumerate(sentences, start=1)
        if sentence.support == "not_judged"
    ]
