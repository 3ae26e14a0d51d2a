"""Retrieval benchmarks in the form of BEIR: a corpus, queries and judgements."""
