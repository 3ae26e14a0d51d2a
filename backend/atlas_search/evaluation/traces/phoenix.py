"""Reading traces from Phoenix's REST API.

Every function raises ConfigurationError where no Phoenix is configured or it lets nobody in,
NotFound if it has no such project, and Unavailable if it does not answer, or not as Phoenix does.
"""

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import quote

from atlas_search.core.errors import NotFound
from atlas_search.core.settings import Settings
from atlas_search.evaluation.phoenix.api import PhoenixApi, configured_phoenix, reading
from atlas_search.evaluation.traces.trace import (
    Marks,
    Spent,
    Told,
    Trace,
    mean_marks,
    read_call,
    read_trace,
)

PAGE = 200  # roots of a page; one with its list of passages has some 20 kB
TOGETHER = 50  # traces that are asked about at once, by ids in the address
MOST_ANNOTATIONS = 1000  # of a page
MODEL_CALL = "generate"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which traces: of these kinds, of a target or composite target, begun at `since` or later.

    What is empty or None asks for nothing.
    """

    kinds: Sequence[str] = ()
    target: str = ""
    since: datetime | None = None


@dataclass(frozen=True)
class Phoenix:
    """The project of a Phoenix that traces are read from, and the headers that it asks for."""

    address: str
    project: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def traces(self, wanted: Wanted) -> Iterator[Trace]:
        """Those wanted, the last begun first; pages are asked for as they are needed."""
        query: dict[str, Any] = {
            "parent_id": "null",
            "name": list(wanted.kinds),
            "start_time": wanted.since.isoformat() if wanted.since else None,
            "sort": "start_time",
            "limit": PAGE,
        }
        if not wanted.target:
            return self._roots(query)
        # Phoenix knows no "or"; as JSON, or a number would be no text
        name = json.dumps(wanted.target)
        both = [
            self._roots(query | {"attribute": f"{field}:{name}"})
            for field in ("target", "composite_target")
        ]
        return heapq.merge(*both, key=lambda trace: trace.started, reverse=True)

    def tell(self, traces: Iterable[Trace]) -> Iterator[Told]:
        """Each trace with what its calls of language models took and what people marked."""
        left = iter(traces)
        while some := list(islice(left, TOGETHER)):
            spent, marks = self._spent(some), self._marks(some)
            for trace in some:
                taken = trace.spent if trace.ended != "ok" else spent.get(trace.trace_id, Spent())
                yield Told(trace, taken, marks.get(trace.span_id, {}))

    def _roots(self, query: Mapping[str, Any]) -> Iterator[Trace]:
        for span in self._pages("spans", query):
            with reading(self.address):
                trace = read_trace(span)
            yield trace

    def _spent(self, traces: Sequence[Trace]) -> dict[str, Spent]:
        """By the ids of traces that called a language model."""
        ids = [trace.trace_id for trace in traces if trace.kind == "ask"]
        found: dict[str, Spent] = {}
        if not ids:
            return found
        query = {"trace_id": ids, "name": MODEL_CALL, "limit": PAGE}
        for span in self._pages("spans", query):
            with reading(self.address):
                id_ = span["context"]["trace_id"]
                found[id_] = found.get(id_, Spent()) + read_call(span["attributes"])
        return found

    def _marks(self, traces: Sequence[Trace]) -> dict[str, dict[str, Marks]]:
        """What people said, by the ids of root spans; what evaluators of Phoenix say is left out,
        and so is what has no score."""
        said: dict[str, list[tuple[str, float]]] = {}
        query = {"span_ids": [trace.span_id for trace in traces], "limit": MOST_ANNOTATIONS}
        for one in self._pages("span_annotations", query):
            with reading(self.address):
                score = (one["result"] or {}).get("score")
                if one["annotator_kind"] == "HUMAN" and score is not None:
                    said.setdefault(one["span_id"], []).append((one["name"], float(score)))
        return {id_: mean_marks(given) for id_, given in said.items()}

    def _pages(self, what: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """What all pages of a list hold, one after another."""
        path = f"/v1/projects/{quote(self.project, safe='')}/{what}"
        with PhoenixApi(self.address, self.headers) as api:
            try:
                yield from api.pages(path, query)
            except NotFound as error:
                raise NotFound(
                    f"Phoenix at {self.address} has no project {self.project!r}: nothing was traced"
                    " to it yet. Ask a question first, or set PHOENIX_PROJECT_NAME."
                ) from error


def open_phoenix(settings: Settings) -> Phoenix:
    """The configured one, or that which `atlas run` starts."""
    at = configured_phoenix(settings)
    return Phoenix(at.base, settings.phoenix_project_name, at.headers)
