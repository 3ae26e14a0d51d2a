"""A server that is asked by its address."""
