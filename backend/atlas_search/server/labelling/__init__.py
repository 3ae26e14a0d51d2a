"""The pages of `atlas eval label` and `atlas eval rate`, which `atlas serve` does not have."""
