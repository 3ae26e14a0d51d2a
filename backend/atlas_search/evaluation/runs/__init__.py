"""Runs that are kept: begun, carried out, gone on with, and what they took."""
