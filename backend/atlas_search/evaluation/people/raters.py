"""Who rates, by which name, and in which order the answers come."""

import random
from collections.abc import Iterable, Sequence

from atlas_search.core.errors import RequestError
from atlas_search.evaluation.people.ratings import LONGEST_NAME


def rater_name(given: str, known: Iterable[str], *, others: bool) -> str:
    """The name as it is kept: that of a known rater, however it is spelt, or with `others` a new
    one. Raises RequestError."""
    name = " ".join(given.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise RequestError(f"Give a name of 1 to {LONGEST_NAME} letters.")
    same = [each for each in known if each.casefold() == name.casefold()]
    if same:
        return same[0]
    if not others:
        raise RequestError(f"{name} is not among the raters of this run.")
    return name


def own_order(label_ids: Sequence[str], rater: str, seed: int) -> list[str]:
    """The answers in an order of the rater's own, the same whenever they come back.

    Who grows tired or lenient does so at other answers than the next rater.
    """
    order = sorted(label_ids)
    random.Random(f"{seed}:{rater}").shuffle(order)
    return order
