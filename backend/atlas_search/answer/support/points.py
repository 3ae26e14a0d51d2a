"""Having the points of a comparison judged: those that are not supported are left out."""

from collections.abc import Sequence
from itertools import accumulate

from atlas_search.answer.check.citations import Verification, sum_up
from atlas_search.answer.run import AnswerRun
from atlas_search.answer.support import Doubt, Judge, Support
from atlas_search.answer.support.judging import describe_judge, judge_sentences
from atlas_search.core.domain import CheckedSentence, Passage


def judge_points(
    run: AnswerRun, judge: Judge, points: Sequence[Verification], given: Sequence[Passage]
) -> tuple[list[bool], Support]:
    """Whether each point is supported in all it says; those that are not judged are not.

    `struck` holds what is wrong with the others. Raises what `Judge.judge` does.
    """
    if not points:
        return [], Support()
    together = sum_up([sentence for point in points for sentence in point.sentences])
    with run.clock.measure("verify"), run.tracer.span("verify", "GUARDRAIL") as span:
        checked, support = judge_sentences(judge, together, given)
        describe_judge(span, judge, checked, support)
        span.set(verifier=support.verified_by)
    ends = list(accumulate(len(point.sentences) for point in points))
    parts = [checked.sentences[a:b] for a, b in zip([0, *ends], ends, strict=False)]
    struck = (*support.doubts, *_not_judged(checked.sentences))
    kept = [all(sentence.support == "supported" for sentence in part) for part in parts]
    return kept, Support(support.verified_by, (), struck)


def _not_judged(sentences: Sequence[CheckedSentence]) -> list[Doubt]:
    return [
        Doubt(number, sentence.text, "not_judged", f"It {sentence.warnings[-1]}")
        for number, sentence in enumerate(sentences, start=1)
        if sentence.support == "not_judged"
    ]
