"""Folders with files of several formats."""
