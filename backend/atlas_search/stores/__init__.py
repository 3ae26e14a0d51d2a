"""Where passages live: the store protocol and the embedded store behind it."""
