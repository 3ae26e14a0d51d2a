"""Word (.docx) files as sources."""
