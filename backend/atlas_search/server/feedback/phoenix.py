"""The part of Phoenix's API that takes annotations."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from atlas_search.core.addresses import Destination
from atlas_search.core.errors import Unavailable
from atlas_search.server.feedback.annotations import Annotation

SECONDS = 10.0  # for each step of a request
MOST_SPANS = 1000
_BUSY = frozenset({401, 403, 408, 429, 502, 503, 504})
_SHOWN = 200  # characters of what Phoenix says


class PhoenixAway(Unavailable):
    """Phoenix cannot be reached, or lets nobody in: nothing can be sent now."""


class Failed(Unavailable):
    """Phoenix broke on this one request; it may take others, and this one later."""


class SpanUnknown(Unavailable):
    """Phoenix has not got the span, or not yet."""


class Refused(Unavailable):
    """Phoenix will not take this one request."""


class Phoenix:
    """Phoenix at its destination for traces.

    Every call raises PhoenixAway, Failed, SpanUnknown or Refused.
    """

    def __init__(self, destination: Destination, project: str):
        import httpx2  # 0.15 s: only who traces pays

        self._http = httpx2
        self._address = destination.base
        self._headers = destination.headers
        self._project = f"/v1/projects/{quote(project, safe='')}"

    def annotate_spans(self, annotations: Sequence[Annotation]) -> None:
        """Add or replace annotations, all or none; it is done when this returns."""
        if annotations:
            self._call("POST", "/v1/span_annotations", {"sync": "true"}, {"data": annotations})

    def annotate_documents(self, annotations: Sequence[Annotation]) -> None:
        """Likewise for documents of spans."""
        if annotations:
            self._call("POST", "/v1/document_annotations", {"sync": "true"}, {"data": annotations})

    def delete_annotation(self, name: str, identifier: str) -> None:
        """Remove the annotations of spans with this name and identifier, if there are any."""
        query = {"name": name, "identifier": identifier, "delete_all": "true"}
        self._call("DELETE", f"{self._project}/span_annotations", query)

    def spans(self, trace_id: str) -> list[dict[str, Any]]:
        """The spans of a trace."""
        query = {"trace_id": trace_id, "limit": str(MOST_SPANS)}
        found: list[dict[str, Any]] = self._call("GET", f"{self._project}/spans", query)["data"]
        return found

    def _call(self, method: str, path: str, query: dict[str, str], body: object = None) -> Any:
        try:
            response = self._http.request(
                method,
                f"{self._address}{path}",
                params=query,
                json=body,
                headers=self._headers,
                timeout=SECONDS,
            )
            if response.is_success:
                return response.json() if response.content else None
        except (self._http.HTTPError, self._http.InvalidURL, ValueError) as error:
            raise PhoenixAway(str(error) or type(error).__name__) from error
        status, said = response.status_code, response.text[:_SHOWN]
        if status == 404:
            raise SpanUnknown(said)
        if status in _BUSY or status < 400:
            raise PhoenixAway(f"it answers {status}")
        if status >= 500:
            raise Failed(f"it answers {status}")
        raise Refused(f"it answers {status}: {said}")
