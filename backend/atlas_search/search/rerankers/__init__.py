"""Ways to order candidates, one a file: each gives every candidate a score."""
