"""Passages on disk: the store protocol and the embedded store behind it."""
