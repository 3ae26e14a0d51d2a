"""The check of an answer against its sources."""
