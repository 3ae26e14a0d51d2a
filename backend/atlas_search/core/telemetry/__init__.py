"""Spans for Phoenix, or for any server that takes OTLP.

Names and meanings follow OpenInference, so Phoenix shows documents, scores and prompts as such.

span         one step of a request, and what can be said of it
call         what can be said of a model call
ids          conversation, answer and user, on every span
gen_ai       the names of OpenTelemetry's conventions
tracer       opens spans
labels       what every trace of some work says of it
late         attributes that are made when a span is sent
silence      requests that are not traced, and sampling
queue        where ended spans wait
redaction    masks their texts before they leave; `contacts` is one way
encode       makes them bytes
export       sends them, however late the server comes
open         makes a tracer from the settings
"""
