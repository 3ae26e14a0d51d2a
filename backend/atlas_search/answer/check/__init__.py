"""Whether an answer holds what its sources say."""
