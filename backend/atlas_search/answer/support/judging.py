"""Having what was written judged, and what follows for its sentences."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from atlas_search.answer.check.citations import Verification, sum_up
from atlas_search.answer.support import Claim, Doubt, Judge, Judgements, Support
from atlas_search.core.domain import CheckedSentence, Passage
from atlas_search.core.telemetry.span import Span


def claims_of(sentences: Sequence[CheckedSentence], given: Sequence[Passage]) -> list[Claim]:
    """The sentences that cite something; a token names every given passage that has it."""
    claims = []
    for number, sentence in enumerate(sentences, start=1):
        markers = {citation.marker for citation in sentence.citations}
        if markers:
            cited = tuple(passage for passage in given if passage.marker in markers)
            claims.append(Claim(number, sentence.text, sentence.citations, cited))
    return claims


def judge_sentences(
    judge: Judge, checked: Verification, given: Sequence[Passage]
) -> tuple[Verification, Support]:
    """What a judge says of an answer that passed the citation check.

    A sentence that it did not judge has a warning. If it judged none, the citation check alone
    verified the answer, and `verified_by` says so. Raises what `Judge.judge` does.
    """
    claims = claims_of(checked.sentences, given)
    said = judge.judge(claims)
    sentences = list(checked.sentences)
    for claim in claims:
        at = claim.number - 1
        sentences[at] = _mark(sentences[at], claim, said)
    support = Support(
        verified_by=judge.verifier if said.of else "citations",
        doubts=tuple(_doubts(claims, said)),
    )
    return sum_up(sentences), support


def describe_judge(span: Span, judge: Judge, checked: Verification, support: Support) -> None:
    """Tell in a span who judged, and how many sentences are what."""
    span.set(
        judge=judge.verifier,
        judge_model=judge.model,
        supported=sum(sentence.support == "supported" for sentence in checked.sentences),
        not_judged=sum(sentence.support == "not_judged" for sentence in checked.sentences),
        unsupported=sum(doubt.verdict == "unsupported" for doubt in support.doubts),
        contradicted=sum(doubt.verdict == "contradicted" for doubt in support.doubts),
    )


def join_support(parts: Sequence[Support], points: Support) -> Support:
    """What was found in texts that are one answer, and in its points.

    The answer is verified as its least verified text is.
    """
    by = {part.verified_by for part in parts}
    every = (*parts, points)
    return Support(
        verified_by=by.pop() if len(by) == 1 else "citations",
        struck=tuple(doubt for part in every for doubt in part.struck),
    )


def _doubts(claims: Iterable[Claim], said: Judgements) -> Iterable[Doubt]:
    for claim in claims:
        judgement = said.of.get(claim.number)
        if judgement and judgement.verdict != "supported":
            yield Doubt(claim.number, claim.text, judgement.verdict, judgement.reason)


def _mark(sentence: CheckedSentence, claim: Claim, said: Judgements) -> CheckedSentence:
    if claim.number in said.of:
        is_supported = said.of[claim.number].verdict == "supported"
        return replace(sentence, support="supported" if is_supported else "")
    warning = f"was not judged: {said.why_not}"
    return replace(sentence, support="not_judged", warnings=(*sentence.warnings, warning))
