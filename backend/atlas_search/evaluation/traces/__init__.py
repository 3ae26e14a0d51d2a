"""Traces that are in Phoenix already: read back, checked for equal depth, and compared."""
