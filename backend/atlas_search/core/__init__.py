"""What every room may use: the nouns, errors, settings, targets, traces."""
