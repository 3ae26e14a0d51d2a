"""Plain text and Markdown sources."""
