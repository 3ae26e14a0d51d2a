"""Who writes an answer: the sources' own sentences, or a language model."""
