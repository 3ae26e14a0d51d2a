"""One reader, embedder, chat model and reranker for Atlas."""
