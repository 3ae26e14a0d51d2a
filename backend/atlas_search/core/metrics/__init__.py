"""What is counted and timed, for Prometheus and for any server that takes OTLP.

instruments  every instrument by its name, with its labels
labels       how many values a label may have
metrics      counting, and reading what was counted
send         sends it by OTLP
process      what the system knows of this process
"""
