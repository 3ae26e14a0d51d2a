"""A mark for how right an answer is, by steps made of a criterion (DeepEval's GEval)."""

from atlas_search.evaluation.judge.ask import Task
from atlas_search.evaluation.judge.forms import Steps
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.quoting import join, quote, quote_each
from atlas_search.evaluation.judge.verdict import Judged
from atlas_search.evaluation.metrics.metric import Case

_TOKENS = 600


def judge(panel: Panel, case: Case) -> Judged:
    """The mark as a share of 10; 0 without an answer. Raises NotJudged.

    The model makes the steps once, and they are kept: all answers are marked by the same.
    """
    if not case.reply.answered:
        return Judged(0.0)
    steps = panel.model.ask(Task("steps", "Write the steps.", _TOKENS), Steps).steps
    material = join(
        (
            quote_each("step", steps),
            quote("question", case.label.question),
            quote("answer", case.reply.text),
            quote_each("reference", case.label.answers),
        )
    )
    mark = panel.mark("mark", material)
    return Judged(mark.verdict, (mark,))
