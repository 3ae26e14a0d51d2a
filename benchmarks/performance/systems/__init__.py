"""Other systems that do the same job, a module each; `worker.py` is what runs them.

They are run by a Python that has them and not the product: only `product.py` imports that. For a
question and its vector each fetches 200 candidates from every corpus by meaning and as many by
words, in its own way, fuses them, and gives the best ten passages with their texts. Each corpus has
an index of its own, as in the product: that is faster than a filter everywhere. Chroma gets the
product's `ef_search`. What is not so is said in a system's `note`.
"""
