"""`atlas traces`: reading, checking and comparing what Phoenix holds."""
