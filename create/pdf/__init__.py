"""PDF files as sources."""
