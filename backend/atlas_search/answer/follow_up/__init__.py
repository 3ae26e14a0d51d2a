"""Questions that point back to what was said before, by rules on English words."""
