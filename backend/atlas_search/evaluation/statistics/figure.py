"""A figure over many questions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A mean over `questions`, and between what it lies in 95 of 100 such sets of questions.

    `mean` is the value itself of a figure that is no mean.
    """

    mean: float
    low: float
    high: float
    questions: int
