"""EPUB files as sources."""
