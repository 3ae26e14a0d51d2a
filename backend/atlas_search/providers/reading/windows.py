"""Cutting texts into overlapping windows that a model can read together with a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

QUESTION_TOKENS = 64
OVERLAP = 128
"""Tokens that two windows share. Both numbers are those of the SQuAD readers
(https://arxiv.org/abs/1810.04805); a model that reads little gets smaller ones."""

Place = tuple[int, int]
"""First character of a text and the one after the last."""


@dataclass(frozen=True)
class Window:
    """Question and a piece of a text as a model reads them.

    `text` is the number of the text, `tokens` the model's input, `no_answer` the token whose
    logits speak for "the text does not say". The piece begins with token `first`; `places` has the
    characters of its tokens in order, those of the whole word for a part of a word, and none
    (start == end) for a token of spaces.
    """

    text: int
    tokens: Mapping[str, Sequence[int]]
    no_answer: int
    first: int
    places: Sequence[Place]


def windows(tokenizer: Any, question: str, texts: Sequence[str], longest: int) -> list[Window]:
    """The windows of all texts in order, each of at most `longest` tokens, every text with one.

    The beginning of a long question is kept. `tokenizer` is a fast one of transformers, with a
    [CLS] token, and for one thread at a time.
    """
    if not texts:
        return []
    question, asked = _shorten(tokenizer, question, min(QUESTION_TOKENS, longest // 3))
    room = longest - asked - tokenizer.num_special_tokens_to_add(pair=True)
    encoded = tokenizer(
        [question] * len(texts),
        list(texts),
        truncation="only_second",
        max_length=longest,
        stride=min(OVERLAP, room // 2),
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
        verbose=False,
    )
    pieces = [
        _piece(encoded, at, number)
        for at, number in enumerate(encoded["overflow_to_sample_mapping"])
    ]
    reach = _reach(pieces)
    return [
        Window(
            text=piece.text,
            tokens={n: encoded[n][at] for n in tokenizer.model_input_names if n in encoded},
            no_answer=encoded["input_ids"][at].index(tokenizer.cls_token_id),
            first=piece.first,
            places=_places(piece, reach, texts[piece.text]),
        )
        for at, piece in enumerate(pieces)
    ]


def _shorten(tokenizer: Any, question: str, limit: int) -> tuple[str, int]:
    """The question cut to `limit` tokens, and how many it has."""
    places = tokenizer(
        question, add_special_tokens=False, return_offsets_mapping=True, verbose=False
    )["offset_mapping"]
    if len(places) <= limit:
        return question, len(places)
    return question[: places[limit - 1][1]], limit


class _Piece(NamedTuple):
    """The tokens of a window that are its text's; `words` are numbers, None for no word."""

    text: int
    first: int
    places: Sequence[Place]
    words: Sequence[int | None]


def _piece(encoded: Any, at: int, text: int) -> _Piece:
    held = [index for index, side in enumerate(encoded.sequence_ids(at)) if side == 1]
    places, words = encoded["offset_mapping"][at], encoded.word_ids(at)
    return _Piece(
        text, held[0] if held else 0, [places[at] for at in held], [words[at] for at in held]
    )


def _reach(pieces: Sequence[_Piece]) -> Mapping[tuple[int, int | None], Place]:
    """The characters of each word of each text. The end of a window may part a word, but its
    number is the same in the next one."""
    reach: dict[tuple[int, int | None], Place] = {}
    for piece in pieces:
        for (start, end), word in zip(piece.places, piece.words, strict=True):
            low, high = reach.get((piece.text, word), (start, end))
            reach[piece.text, word] = (min(low, start), max(high, end))
    return reach


def _places(piece: _Piece, reach: Mapping[tuple[int, int | None], Place], text: str) -> list[Place]:
    return [
        _trim(text, place if word is None else reach[piece.text, word])
        for place, word in zip(piece.places, piece.words, strict=True)
    ]


def _trim(text: str, place: Place) -> Place:
    """The place without the spaces around it, which some tokenizers count to a word."""
    start, end = place
    held = text[start:end]
    start += len(held) - len(held.lstrip())
    return start, max(start, start + len(held.strip()))
