"""Correction of p values for their number."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Each p value as if it were the only one, in the same order, at most 1.

    Of all tests in which nothing differs, with those below alpha being taken for differences, one
    or more is wrong in at most the share alpha of comparisons, however the tests depend on each
    other (Holm, Scandinavian Journal of Statistics 6, 1979).
    """
    order = sorted(range(len(p_values)), key=lambda test: (p_values[test], test))
    corrected = [1.0] * len(p_values)
    so_far = 0.0
    for rank, test in enumerate(order):
        so_far = max(so_far, p_values[test] * (len(p_values) - rank))
        corrected[test] = min(1.0, so_far)
    return corrected
