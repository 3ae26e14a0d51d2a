"""What is said of quotes that may not answer: alike in terminal, notebooks, exports and page."""

from collections.abc import Mapping

CLOSEST = "Closest passages, not an answer"
"""The heading of quotes that come closest to a question that is not answered."""

CONFIDENCE: Mapping[str, str] = {"likely": "Likely an answer", "possible": "Possibly an answer"}
"""How surely quotes answer, by the word of an answer document's `confidence`."""
