"""Web pages, saved or fetched."""
