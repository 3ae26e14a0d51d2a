"""Label sets, runs and their figures in Phoenix."""
