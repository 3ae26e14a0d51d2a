"""Estimates by shared words of what a judge measures, and the token figures of bedrock-rag-eval."""

from collections.abc import Sequence
from functools import lru_cache

from atlas_search.evaluation.metrics import Case, token_f1
from atlas_search.language.text import content_terms

Terms = frozenset[str]


def measure_overlap(case: Case) -> dict[str, float]:
    """Return the figures of the group `overlap`."""
    label, reply = case.label, case.reply
    passages = [_terms(passage.text) for passage in reply.passages]
    context = Terms().union(*passages)
    references = [_terms(answer) for answer in label.answers]
    figures: dict[str, float] = {}
    if label.answerable:
        wanted = references or [_terms(label.question)]
        closest = [max(jaccard(passage, each) for each in wanted) for passage in passages]
        figures["context_precision"] = sum(closest) / len(closest) if closest else 0.0
    if label.answerable and references:
        figures["context_recall"] = max(share(reference, context) for reference in references)
    if reply.answered:
        answer = _terms(reply.text)
        figures["faithfulness"] = share(answer, context)
        figures["answer_relevancy"] = share(_terms(label.question), answer)
    if label.answerable and references and reply.answer is not None:
        figures["answer_correctness"] = token_f1(reply.text, label.answers)
    return figures


def share(of: Terms, within: Terms) -> float:
    """The share of some words that are among others; 0 of none."""
    return len(of & within) / len(of) if of else 0.0


def jaccard(first: Terms, second: Terms) -> float:
    """Words that both have / words that either has; 0 if neither has any."""
    either = first | second
    return len(first & second) / len(either) if either else 0.0


_terms = lru_cache(maxsize=1 << 12)(content_terms)  # the same passages are found again and again


RELEVANT = 0.1
"""A passage counts from above this overlap (Jaccard) with the reference."""


_STOP = frozenset(
    "the a an is are was were of in to and for on with that this be can".split()  # of both
)
_STOP_OF_ANSWERS = _STOP | frozenset("it by as or from at not but its you your".split())
_STOP_OF_QUESTIONS = _STOP | frozenset("what how does do which ?".split())

Tokens = frozenset[str]


def measure_tokens(case: Case) -> dict[str, float]:
    """Return the figures of the group `tokens`."""
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
    """Return what stands between blanks, in lower case, each once."""
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
