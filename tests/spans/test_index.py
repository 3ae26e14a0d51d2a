"""The root says how the nearest passages were found in truth, as the spans of the legs do."""

from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from atlas_search.atlas import Atlas
from atlas_search.services import Services
from tests.answering import answered_by, asked
from tests.spans.by_index import by_index
from tests.spans.recorded import named
from tests.test_generate import cited

QUESTION = "Can a local authority sue a newspaper for libel?"
COURT = {"court": "House of Lords"}
ALL, SOME, NONE = 0, 150, 300  # the greatest of the three corpora has 196 passages, the others less


def told(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name.startswith("index_")}


def compared(exported: InMemorySpanExporter) -> set[str]:
    """What the legs say of themselves."""
    spans = exported.get_finished_spans()
    return {str((span.attributes or {})["compared"]) for span in spans if "dense" in span.name}


@pytest.mark.parametrize(
    ("exact_up_to", "options", "kind"),
    [
        (ALL, {}, "hnsw"),
        (SOME, {}, "mixed"),
        (SOME, {"corpora": "legal_uk"}, "exact"),
        (SOME, {"corpora": "legal_us"}, "hnsw"),
        (NONE, {}, "exact"),
        (ALL, {"filters": COURT}, "exact"),
        (ALL, {"exclude": ["tariff"]}, "exact"),
        (ALL, {"require": ["court"]}, "exact"),
        (ALL, {"require": ["no passage has this"]}, "hnsw"),
        (ALL, {"exact": True}, "exact"),
    ],
)
def test_the_root_of_a_search_says_how_it_was_searched(
    traced: Services,
    exported: InMemorySpanExporter,
    exact_up_to: int,
    options: dict[str, Any],
    kind: str,
) -> None:
    with by_index(traced, exact_up_to) as services:
        Atlas(services).search(QUESTION, **options)
    index = traced.store.manifest.index
    numbers = {"index_ef": index.ef_search, "index_ef_construction": index.ef_construction}
    expected = {"index_kind": kind} | ({} if kind == "exact" else numbers)
    assert told(named(exported, "search")) == expected
    ways = {"hnsw": {"index"}, "mixed": {"index", "all"}, "exact": {"all"}}
    assert compared(exported) == ways[kind]


@pytest.mark.parametrize(
    ("exact_up_to", "options"),
    [(ALL, {}), (SOME, {}), (NONE, {}), (ALL, {"filters": COURT}), (SOME, {"mode": "compare"})],
)
def test_the_root_of_an_answer_says_the_same(
    traced: Services,
    exported: InMemorySpanExporter,
    exact_up_to: int,
    options: dict[str, Any],
) -> None:
    with by_index(traced, exact_up_to) as services:
        Atlas(services).ask(QUESTION, **options)
    kind = {"all": "exact", "index": "hnsw", "all index": "mixed"}[
        " ".join(sorted(compared(exported)))
    ]
    root = told(named(exported, "ask"))
    assert root["index_kind"] == kind
    assert ("index_ef" in root) is (kind != "exact")


def test_a_kept_answer_says_how_it_was_found(
    traced: Services, exported: InMemorySpanExporter
) -> None:
    with by_index(traced, SOME) as services, answered_by("openai", services) as (modelled, server):
        server.says(cited)
        asked(modelled, QUESTION)
        asked(modelled, QUESTION)
    root = named(exported, "ask")
    assert (root["cache_hit"], root["index_kind"]) == (True, "mixed")
