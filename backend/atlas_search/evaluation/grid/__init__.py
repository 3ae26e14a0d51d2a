"""Many configurations of a target over the same questions."""
