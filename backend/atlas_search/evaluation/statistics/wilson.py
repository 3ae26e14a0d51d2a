"""The interval of a share by Wilson's score, for few or for one-sided outcomes.

Wilson, Probable Inference, the Law of Succession, and Statistical Inference (1927). A bootstrap of
three right answers of three would say that it is sure.
"""

from math import sqrt

_Z = 1.959963984540054  # 95%


def share_interval(good: float, of: float) -> tuple[float, float]:
    """Between what the share lies of which `good` of `of` (more than 0) were seen, 95% sure."""
    share = good / of
    spread = _Z * sqrt(share * (1 - share) / of + (_Z / (2 * of)) ** 2)
    middle, scale = share + _Z**2 / (2 * of), 1 + _Z**2 / of
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)
