"""Files handed to a running server: kept, built by a process of its own, watched as a job."""
