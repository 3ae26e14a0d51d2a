"""Golden files of all that Atlas shows outside: a change inside leaves every one as it is."""
