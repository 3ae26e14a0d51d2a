"""Reading source files where a hostile one costs only itself: in processes with limits.

limits      what a file may take, and what is said of one that took more
worker      the process that reads: one file at a time
process     such a process as the build sees it
pool        several of them, and what they read in the order of the files
here        the same without a process, for readers that cannot be sent to one
"""
