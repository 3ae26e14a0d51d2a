"""Reading records of libraries and archives, and lists of literature."""
