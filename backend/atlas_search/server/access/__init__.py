"""Access rules: the right that each route asks for, and the caller of each request."""
