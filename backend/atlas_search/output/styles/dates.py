"""Dates as styles write them."""

from collections.abc import Callable

from atlas_search.output.dating import Dating, Parts

_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_SHORT = "Jan. Feb. Mar. Apr. May June July Aug. Sept. Oct. Nov. Dec.".split()


def day_first(dating: Dating) -> str:
    """`18 February 1993`."""
    return _written(dating, lambda parts: _reversed(parts, _MONTHS))


def day_first_short(dating: Dating) -> str:
    """`18 Feb. 1993`."""
    return _written(dating, lambda parts: _reversed(parts, _SHORT))


def month_first(dating: Dating) -> str:
    """`February 18, 1993`."""
    return _written(dating, lambda parts: _american(parts, _MONTHS))


def month_first_short(dating: Dating) -> str:
    """`Feb. 18, 1993`."""
    return _written(dating, lambda parts: _american(parts, _SHORT))


def year_first(dating: Dating) -> str:
    """`1993, February 18`."""
    return _written(dating, _year_first)


def _written(dating: Dating, write: Callable[[Parts], str]) -> str:
    """The first and last of a span; what cannot be read stays as the source writes it."""
    text = "–".join(map(write, dating.parts)) or dating.written
    return f"c. {text}" if dating.circa else text


def _reversed(parts: Parts, months: list[str]) -> str:
    year, *rest = parts
    return " ".join([*map(str, rest[1:]), *(months[month - 1] for month in rest[:1]), str(year)])


def _american(parts: Parts, months: list[str]) -> str:
    year, *rest = parts
    if len(rest) == 2:
        return f"{months[rest[0] - 1]} {rest[1]}, {year}"
    return " ".join([*(months[month - 1] for month in rest), str(year)])


def _year_first(parts: Parts) -> str:
    year, *rest = parts
    day = " ".join([*(_MONTHS[month - 1] for month in rest[:1]), *map(str, rest[1:])])
    return f"{year}, {day}" if day else str(year)
