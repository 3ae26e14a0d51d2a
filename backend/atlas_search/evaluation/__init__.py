"""Evaluation of a target: label sets, metrics, the runner and its report."""
