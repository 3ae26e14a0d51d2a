"""The share of a reference's sentences that the passages say (RAGAS' context recall)."""

from itertools import islice

from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.quoting import join, quote, quote_each
from atlas_search.evaluation.judge.verdict import Judged
from atlas_search.evaluation.metrics.metric import Case
from atlas_search.language.text import sentences


def judge(panel: Panel, case: Case) -> Judged:
    """A verdict on each sentence; of several references the best counts. Raises NotJudged."""
    if not case.reply.passages:
        return Judged(0.0)
    references = [_sentences(answer) for answer in case.label.answers]
    every = [sentence for reference in references for sentence in reference]
    asked = (quote("question", case.label.question), quote_each("sentence", every))
    decisions, parts = panel.decide_by_any("attributed", join(asked), every, case.reply.passages)
    verdicts = iter(one.verdict for one in decisions)
    shares = [sum(islice(verdicts, len(each))) / len(each) for each in references if each]
    return Judged(max(shares, default=0.0), tuple(decisions), parts)


def _sentences(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]
