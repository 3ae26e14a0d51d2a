"""Names that tests/faces/spans.py takes from here."""

from tests.telemetry.test_builds import BROKEN, built

__all__ = ["BROKEN", "built"]
