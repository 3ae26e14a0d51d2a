"""Citations as scholars write them: one file for each style, one `Work` for what is cited."""
