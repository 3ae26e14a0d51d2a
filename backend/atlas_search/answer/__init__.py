"""Answering: context, generation, verification, decision."""
