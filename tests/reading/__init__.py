"""Reader models: how they read, what they need, and what the answer flow gets from them."""
