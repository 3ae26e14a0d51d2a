"""Answers in the sources' own words: what can be quoted, what of it answers, and how surely."""
