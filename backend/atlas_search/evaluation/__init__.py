"""How good a target is: label sets, metrics, the runner and its report."""
