"""The target's language model as a judge: one call for all sentences, its reply read strictly."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atlas_search.answer.check.checks import best_place
from atlas_search.answer.check.read_passage import ReadPassage
from atlas_search.answer.conflicts import ConflictPlace, Contradiction
from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.read_json import read_json
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.support import Claim, Judgement, Judgements, Verdict, Verifier
from atlas_search.answer.write.call_model import Completion, call_model
from atlas_search.answer.write.context import render
from atlas_search.answer.write.quotation import opening_of
from atlas_search.core.domain import Passage
from atlas_search.providers.chat import ChatModel, Message

_TOKENS = 400  # of a reply, beside those of each sentence
_TOKENS_OF_SENTENCE = 150
_SHOWN = 300  # characters of what the judge says that are repeated

# what could pass for the end of a sentence or of a passage, or for the beginning of another
_TAG = opening_of(["sentence", "passage"])
_SENTENCE_TAG = opening_of(["sentence"])


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Sentence(_Part):
    number: int
    verdict: Verdict
    reason: str


class _Pair(_Part):
    first: str
    second: str
    detail: str = Field(min_length=1)


class _Reply(_Part):
    sentences: list[_Sentence]
    contradictions: list[_Pair] = []


@dataclass(frozen=True)
class ModelJudge:
    """See Judge. What a call takes counts as spent."""

    run: AnswerRun
    chat: ChatModel
    verifier: Verifier = "model"

    @property
    def model(self) -> str:
        """The target's model."""
        return self.run.model_name

    def judge(self, claims: Sequence[Claim]) -> Judgements:
        """See Judge."""
        messages = (
            Message("system", prompt("judge").template),
            Message("user", f"{_quote(claims)}\n\nThe question was: {self.run.question}"),
        )
        tokens = _TOKENS + _TOKENS_OF_SENTENCE * len(claims)
        filled = Filled("judge", prompt("judge"), {"question": self.run.question})
        done = call_model(
            self.run, self.chat, messages, filled=filled, max_tokens=tokens, temperature=0.0
        )
        return _read(done, claims)


def _quote(claims: Sequence[Claim]) -> str:
    """Each sentence and what it cites, between tags that no text of them can close."""
    return "\n\n".join(
        "\n".join(
            (
                f'<sentence number="{claim.number}">\n{_TAG.sub("‹", claim.text)}\n</sentence>',
                *(_SENTENCE_TAG.sub("‹", render(p, p.marker)) for p in claim.passages),
            )
        )
        for claim in claims
    )


def _read(done: Completion, claims: Sequence[Claim]) -> Judgements:
    """What the reply says; nothing if it is not of the form asked for."""
    if done.ended.reason != "stop":
        return Judgements({}, "the judge's reply was cut off.")
    try:
        reply = read_json(done.text, _Reply)
    except ValidationError:
        return Judgements({}, "the judge's reply is not of the form asked for.")
    known = {claim.number for claim in claims}
    if unknown := [said.number for said in reply.sentences if said.number not in known]:
        # whoever counts otherwise means other sentences by the known numbers, too
        return Judgements({}, f"the judge speaks of a sentence {unknown[0]}, which is not there.")
    times = Counter(said.number for said in reply.sentences)
    return Judgements(
        of={
            said.number: Judgement(said.verdict, _shorten(said.reason))
            for said in reply.sentences
            if times[said.number] == 1
        },
        why_not="the judge does not give one verdict on it.",
        contradictions=_contradictions(reply.contradictions, claims),
    )


def _contradictions(pairs: Sequence[_Pair], claims: Sequence[Claim]) -> tuple[Contradiction, ...]:
    """Those between two passages that the judge was given, each pair once."""
    shown: dict[str, dict[str, Passage]] = {}
    for passage in (passage for claim in claims for passage in claim.passages):
        shown.setdefault(passage.marker, {})[passage.id] = passage
    order = {marker: place for place, marker in enumerate(shown)}
    found: dict[tuple[str, ...], Contradiction] = {}
    for pair in pairs:
        if pair.first == pair.second or not {pair.first, pair.second} <= shown.keys():
            continue
        first, second = sorted((pair.first, pair.second), key=order.__getitem__)
        detail = _shorten(pair.detail)
        conflict = Contradiction(
            "judged", _side(detail, shown[first]), _side(detail, shown[second]), detail
        )
        found.setdefault((first, second), conflict)
    return tuple(found.values())


def _side(detail: str, passages: Mapping[str, Passage]) -> ConflictPlace:
    """The place of what a token names that speaks most of it."""
    passage, span = best_place(detail, [ReadPassage(passage) for passage in passages.values()])
    start, end = passage.start + span.start, passage.start + span.end
    return ConflictPlace(passage, start, end, passage.text[span.start : span.end])


def _shorten(said: str) -> str:
    line = " ".join(said.split())
    return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
