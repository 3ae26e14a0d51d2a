"""Reading words: one analyser, spellings, languages, dates, quantities, word lists."""
