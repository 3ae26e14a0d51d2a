"""Atlas: balanced, explainable research search with verified citations."""

__version__ = "0.1.0"
