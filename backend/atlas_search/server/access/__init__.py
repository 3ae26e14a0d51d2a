"""Who may do what: a rule for every route, and the caller of each request."""
