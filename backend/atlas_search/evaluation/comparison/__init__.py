"""Two runs side by side: which figures differ by more than chance, and which questions changed."""
