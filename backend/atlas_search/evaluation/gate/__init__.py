"""Whether a run is good enough, and no worse than the one before."""
