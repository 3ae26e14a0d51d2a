"""HTTP in, HTTP out: one blueprint per resource."""
