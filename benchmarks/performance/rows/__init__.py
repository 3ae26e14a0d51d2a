"""One module for each kind of row; see `all_rows.py` for their order."""
