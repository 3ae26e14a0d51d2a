"""Words in whole corpora: exact hits, their lines, and their counts over time and fields."""
