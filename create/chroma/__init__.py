"""Existing Chroma collections, taken over without embedding them again."""
