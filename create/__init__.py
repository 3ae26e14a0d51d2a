"""Building collections from folders of sources."""
