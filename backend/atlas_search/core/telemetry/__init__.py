"""Spans for Phoenix, or for any server that takes OTLP.

Names and meanings follow OpenInference, so Phoenix shows documents, scores and prompts as such.

names        conversation, answer and user on every span; conventions, sampling
span         one step of a request, what can be said of it and of a model call
tracer       opens spans, as the settings say
redaction    masks their texts before they leave; `contacts` is one way
export       where ended spans wait, and how they are sent, however late the server comes
metrics      counts and times
"""
