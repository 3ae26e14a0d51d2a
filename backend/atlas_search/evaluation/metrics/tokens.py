"""The five heuristics of bedrock-rag-eval by its own definitions, beside those of `overlap`.

Compared are its tokens: what stands between blanks, in lower case, with its punctuation, each once.
Where it has the text of the gold context we have the reference, for labels keep places and not
texts; with several references the best counts.

https://github.com/diasba/bedrock-rag-eval, scripts/run_eval.py.
"""

from collections.abc import Sequence

from atlas_search.evaluation.metrics.metric import Case, Metric

RELEVANT = 0.1
"""A passage counts from above this overlap (Jaccard) with the reference."""

_REFERENCE = "answerable questions with a reference"
_CAME = "all questions that were not only searched for"

METRICS = (
    Metric(
        "token_context_precision",
        "tokens",
        _REFERENCE,
        f"Share of the passages with a Jaccard overlap above {RELEVANT} with a reference",
    ),
    Metric(
        "token_context_recall",
        "tokens",
        _REFERENCE,
        "Share of a reference's tokens in the passages",
    ),
    Metric(
        "token_faithfulness",
        "tokens",
        _CAME,
        "Share of the answer's tokens in the passages, without its stop words; without an answer 1",
        "none",  # a target that declines everything has it at its best
    ),
    Metric(
        "token_answer_relevancy",
        "tokens",
        _CAME,
        "Share of the question's tokens in the answer, without its stop words; without an answer 0",
    ),
    Metric(
        "token_answer_correctness",
        "tokens",
        f"{_CAME}, with a reference or unanswerable",
        "Harmonic mean of token precision and recall (F1) with a reference; unanswerable: 1 if it "
        "was declined, else 0",
    ),
)

_STOP = frozenset(
    "the a an is are was were of in to and for on with that this be can".split()  # of both
)
_STOP_OF_ANSWERS = _STOP | frozenset("it by as or from at not but its you your".split())
_STOP_OF_QUESTIONS = _STOP | frozenset("what how does do which ?".split())

Tokens = frozenset[str]


def measure(case: Case) -> dict[str, float]:
    """The figures of METRICS."""
    label, reply = case.label, case.reply
    passages = [tokens(passage.text) for passage in reply.passages]
    context = Tokens().union(*passages)
    references = [tokens(answer) for answer in label.answers if answer.strip()]
    figures: dict[str, float] = {}
    if label.answerable and references:
        figures["token_context_precision"] = max(_precision(passages, one) for one in references)
        figures["token_context_recall"] = max(_share(one, context) for one in references)
    if reply.answer is None:
        return figures
    answer = tokens(reply.text) if reply.answered else Tokens()
    figures["token_faithfulness"] = _share(answer - _STOP_OF_ANSWERS, context)
    question = tokens(label.question) - _STOP_OF_QUESTIONS
    figures["token_answer_relevancy"] = _share(question, answer) if answer else 0.0
    if label.answerable and references:
        figures["token_answer_correctness"] = max(_f1(answer, one) for one in references)
    elif not label.answerable:
        figures["token_answer_correctness"] = float(not reply.answered)
    return figures


def tokens(text: str) -> Tokens:
    """What stands between blanks, in lower case, each once."""
    return frozenset(text.lower().split())


def _precision(passages: Sequence[Tokens], reference: Tokens) -> float:
    near = [len(one & reference) / len(one | reference) > RELEVANT for one in passages]
    return sum(near) / len(near) if near else 0.0


def _share(of: Tokens, within: Tokens) -> float:
    """1 of none, as in the source."""
    return len(of & within) / len(of) if of else 1.0


def _f1(answer: Tokens, reference: Tokens) -> float:
    shared = len(answer & reference)
    return 2 * shared / (len(answer) + len(reference)) if shared else 0.0
