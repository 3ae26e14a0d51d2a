"""`atlas eval` and what belongs to it."""
