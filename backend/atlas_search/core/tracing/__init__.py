"""Spans for Phoenix, or for any server that takes OTLP.

Names and meanings follow OpenInference, so Phoenix shows documents, scores and prompts as such.

span    one step of a request, and what can be said of it
call    what can be said of a model call
ids     conversation, answer and user, on every span
gen_ai  the names of OpenTelemetry's conventions
tracer  opens spans
export  sends them, however late Phoenix comes
"""
