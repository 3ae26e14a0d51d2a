"""Numbers in [0, 1], one per candidate and reason, that a reader can check.

Symbols used in the formulas: q is the set of the question's informative terms, idf(t) the
weight of a term over all corpora, tf the count of a term in a passage.
"""
