"""How near the question is to those that the answer would answer (RAGAS' answer relevancy)."""

from collections import Counter

from atlas_search.evaluation.judge.ask import Task
from atlas_search.evaluation.judge.forms import Guess
from atlas_search.evaluation.judge.panel import Panel
from atlas_search.evaluation.judge.quoting import quote
from atlas_search.evaluation.judge.verdict import DRAW, Decision, Judged, NotJudged
from atlas_search.evaluation.metrics.metric import Case

_TOKENS = 300


def judge(panel: Panel, case: Case) -> Judged:
    """The mean cosine of the question and one guess for each vote; not below 0.

    It is 0 if most votes say that the answer commits itself to nothing. Raises NotJudged,
    and EmbeddingUnavailable where the questions cannot be compared.
    """
    task = Task("guess", quote("answer", case.reply.text), _TOKENS)
    guesses = panel.ask_all(task, Guess)
    commits, count = Counter(not guess.noncommittal for guess in guesses).most_common(1)[0]
    if count < panel.majority:
        raise NotJudged(DRAW)
    vectors = case.tools.embedder.embed([case.label.question, *(one.question for one in guesses)])
    near = max(0.0, float((vectors[1:] @ vectors[0]).mean()))
    questions = " / ".join(dict.fromkeys(guess.question for guess in guesses))
    decided = Decision("commits itself", float(commits), count / len(guesses), questions)
    return Judged(min(1.0, near) if commits else 0.0, (decided,))
