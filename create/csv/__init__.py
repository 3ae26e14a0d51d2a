"""Tables with one document a row."""
