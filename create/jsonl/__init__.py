"""JSON files with one document a record."""
