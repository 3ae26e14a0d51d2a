"""The numbers of lists that a schema leaves to the printer: `(b)`, `iv)`, `3.`."""

from collections.abc import Callable

from atlas_search.readers.list_numbers import letters, roman

_MARKS = {"parens": "({})", "parenright": "{})", "period": "{}.", "brackets": "[{}]"}


def item_label(place: int, kind: str, decoration: str) -> str:
    """The label of the item at `place`, from 1, in a list of this kind and decoration."""
    text = _KINDS.get(kind.lower(), str)(place)
    return _MARKS.get(decoration.lower(), "{}").format(text)


_KINDS: dict[str, Callable[[int], str]] = {
    "arabic": str,
    "alpha": letters,
    "alphaupper": lambda place: letters(place).upper(),
    "roman": roman,
    "romanupper": lambda place: roman(place).upper(),
}
