"""The version of Atlas."""

__version__ = "0.1.0"
