"""Markdown: its blocks, the comments of HTML in it, and the sections its headings open."""
