"""Finding passages: retrieve from every corpus, measure, rank, balance, check."""
