"""Counting tokens, to keep prompts within a budget."""

from collections.abc import Callable, Sequence

from atlas_search.language.word_pieces import tokenizer

TokenCounter = Callable[[Sequence[str]], list[int]]


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The tokens of each text, in MiniLM's vocabulary of 30,522 word pieces.

    Every language model has a vocabulary of its own; budgets are kept in this one.
    """
    encodings = tokenizer().encode_batch(list(texts), add_special_tokens=False)
    return [len(encoding) for encoding in encodings]
