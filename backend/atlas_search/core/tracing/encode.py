"""Spans as bytes of OTLP."""

import time
from collections.abc import Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan
from opentelemetry.sdk.trace import ReadableSpan

from atlas_search.core.tracing.late import LateSpan, Made

_FIELDS = {str: "string_value", float: "double_value", bool: "bool_value", int: "int_value"}


def encode(spans: Sequence[ReadableSpan]) -> bytes:
    """A request that sends them. A text that is no Unicode is left out, and counted as dropped.

    Lists are put into their place one by one: the SDK's encoder, which the rest goes through,
    copies each attribute four times, and took 8 ms for the lists of a search that now take 3.
    """
    plain = {_id(span): span.plain if isinstance(span, LateSpan) else span for span in spans}
    late = {_id(span): span for span in spans if isinstance(span, LateSpan)}
    request = encode_spans(list(plain.values()))
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for sent in scope.spans:
                # the SDK's encoder leaves out what it cannot encode, and counts nothing
                lost = len(plain[sent.span_id].attributes or {}) - len(sent.attributes)
                if sent.span_id in late:
                    lost += _add(sent, late[sent.span_id].made())
                    time.sleep(0)  # a request that waits for the interpreter goes first
                sent.dropped_attributes_count += lost
    return bytes(request.SerializeToString())


def _add(sent: SentSpan, made: Made) -> int:
    """How many were lost."""
    lost, add = made.failed, sent.attributes.add
    for name, value in made.attributes.items():
        added = add()
        added.key = name
        try:
            # ids and scores of hits, of which a search has thousands
            if type(value) is str:
                added.value.string_value = value
            elif type(value) is float:
                added.value.double_value = value
            else:
                _put(added.value, value)
        except (TypeError, ValueError):  # a type that OTLP does not have; half a character
            sent.attributes.pop()
            lost += 1
    return lost


def _put(place: AnyValue, value: Any) -> None:
    field = _FIELDS.get(type(value))
    if field:
        setattr(place, field, value)
    elif isinstance(value, list | tuple):
        for each in value:
            _put(place.array_value.values.add(), each)
    elif kinds := [of for of in _FIELDS if isinstance(value, of)]:  # such as a float of NumPy's
        _put(place, kinds[0](value))
    else:
        raise TypeError


def _id(span: ReadableSpan) -> bytes:
    return int(span.context.span_id).to_bytes(8, "big")
