"""Label sets: the forms they are read in, and how they come to fit a collection."""
