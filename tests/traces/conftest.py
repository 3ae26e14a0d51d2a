"""The demo collection, traced."""

from tests.spans.conftest import both, exported, traced

__all__ = ["both", "exported", "traced"]
