"""Answers as documents: the one that is sent, and files made of it."""
