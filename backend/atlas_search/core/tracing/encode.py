"""Spans as bytes of OTLP."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SentSpan
from opentelemetry.sdk.trace import ReadableSpan

from atlas_search.core.tracing.late import LateSpan

_FIELDS = {str: "string_value", float: "double_value", bool: "bool_value", int: "int_value"}


def encode(spans: Sequence[ReadableSpan]) -> bytes:
    """A request that sends them. A text that is no Unicode is left out.

    Lists are put into their place one by one: the SDK's encoder, which the rest goes through,
    copies each attribute four times, and took 8 ms for the lists of a search that now take 3.
    """
    late = {_id(span): span for span in spans if isinstance(span, LateSpan)}
    request = encode_spans([late[_id(span)].plain if _id(span) in late else span for span in spans])
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for sent in scope.spans:
                if sent.span_id in late:
                    _add(sent, late[sent.span_id].made())
                    time.sleep(0)  # a request that waits for the interpreter goes first
    return bytes(request.SerializeToString())


def _add(sent: SentSpan, attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        try:
            added = sent.attributes.add()
            added.key = name
            setattr(added.value, _FIELDS[type(value)], value)
        except ValueError:  # half a character, as the SDK's encoder has it
            sent.attributes.pop()


def _id(span: ReadableSpan) -> bytes:
    return int(span.context.span_id).to_bytes(8, "big")
