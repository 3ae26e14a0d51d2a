"""Numbers of lists that the printer writes as letters or as Roman numerals, in small letters."""

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def letters(place: int) -> str:
    """a to z, aa to zz, and so on: the letter again for each round. `place` counts from 1."""
    rounds, letter = divmod(place - 1, 26)
    return chr(ord("a") + letter) * (rounds + 1)


def roman(place: int) -> str:
    """i, ii, iii, iv and so on. `place` counts from 1."""
    text = ""
    for value, sign in _ROMAN:
        text += sign * (place // value)
        place %= value
    return text
