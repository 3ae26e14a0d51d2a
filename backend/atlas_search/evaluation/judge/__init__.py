"""A language model as the judge of answers; what it cannot judge keeps its estimate.

`measures` are the published definitions, a module for each, `panel` asks several times where
something is decided, `ask` is one call (kept, paid for and traced), and `judge` the flow.
"""
