"""Writing an answer, with the sources' own sentences or a language model."""
