"""Spans for Phoenix, or for any server that takes OTLP.

Names and meanings follow OpenInference, so Phoenix shows documents, scores and prompts as such.

span         one step of a request, and what can be said of it
tracer       opens spans
silence      requests that are not traced, and sampling
queue        where ended spans wait
redaction    masks their texts before they leave; `contacts` is one way
export       sends them, however late the server comes
destination  where to
"""
