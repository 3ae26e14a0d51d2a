"""Makers of the bundled sample files; no part of the product."""
