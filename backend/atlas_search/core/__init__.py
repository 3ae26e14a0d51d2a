"""The ground of every room: nouns, errors, settings, targets, traces."""
