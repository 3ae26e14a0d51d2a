"""Questions that ask for several things, taken apart."""
