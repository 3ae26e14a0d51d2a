"""The numbers of lists that a schema leaves to the printer: `(b)`, `iv)`, `3.`."""

from collections.abc import Callable

_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"))
_MARKS = {"parens": "({})", "parenright": "{})", "period": "{}.", "brackets": "[{}]"}


def item_label(place: int, kind: str, decoration: str) -> str:
    """The label of the item at `place`, from 1, in a list of this kind and decoration."""
    text = _KINDS.get(kind.lower(), str)(place)
    return _MARKS.get(decoration.lower(), "{}").format(text)


def _letters(place: int) -> str:
    """a to z, aa to zz, and so on: the letter again for each round."""
    rounds, letter = divmod(place - 1, 26)
    return chr(ord("a") + letter) * (rounds + 1)


def _roman(place: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        text += sign * (place // value)
        place %= value
    return text + "i" * place


_KINDS: dict[str, Callable[[int], str]] = {
    "arabic": str,
    "alpha": _letters,
    "alphaupper": lambda place: _letters(place).upper(),
    "roman": _roman,
    "romanupper": lambda place: _roman(place).upper(),
}
