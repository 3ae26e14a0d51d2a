"""The share of an answer's statements that follow from its passages (RAGAS' faithfulness)."""

from atlas_search.evaluation.judge.ask import Task
from atlas_search.evaluation.judge.forms import Statements
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.quoting import join, quote, quote_each
from atlas_search.evaluation.judge.verdict import Judged
from atlas_search.evaluation.metrics.metric import Case

_TOKENS = 2000


def judge(panel: Panel, case: Case) -> Judged:
    """Two steps: what the answer states, then a verdict on each statement. Raises NotJudged."""
    if not case.reply.passages:
        return Judged(0.0)
    answered = (quote("question", case.label.question), quote("answer", case.reply.text))
    stated = panel.model.ask(Task("statements", join(answered), _TOKENS), Statements).statements
    decisions, parts = panel.decide_by_any(
        "supported", quote_each("statement", stated), stated, case.reply.passages
    )
    return Judged(sum(one.verdict for one in decisions) / len(stated), tuple(decisions), parts)
