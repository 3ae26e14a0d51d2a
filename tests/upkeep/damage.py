"""Damage of `tests.building.damage`, by its earlier address."""

from tests.building.damage import flip, lose

__all__ = ["flip", "lose"]
