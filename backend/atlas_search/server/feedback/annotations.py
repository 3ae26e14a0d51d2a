"""Votes as annotations of spans and documents, in the form of Phoenix."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from atlas_search.core.telemetry.span import digest
from atlas_search.server.feedback.outbox import DocumentMark, Standing
from atlas_search.server.feedback.rated import RatedAnswer
from atlas_search.server.feedback.votes import Vote

Annotation = dict[str, Any]

RELEVANCE = "relevance"
SUPPORT = "citation_support"
WITHDRAWN = "withdrawn"

_SAID = {RELEVANCE: ("relevant", "irrelevant"), SUPPORT: ("supports", "does_not_support")}
_LISTED = {"RERANKER": "reranker.output_documents", "": "retrieval.documents"}
_DOCUMENT = re.compile(r"^(retrieval\.documents|reranker\.output_documents)\.(\d+)\.document\.id$")


Masked = Callable[[str], str] | None
"""How a free text is told; None if it must not be."""


def results(vote: Vote, masked: Masked) -> dict[str, Annotation]:
    """What a vote says of the whole answer, by name."""
    found: dict[str, Annotation] = {}
    if vote.thumb:
        found["thumbs"] = {"label": vote.thumb, "score": 1.0 if vote.thumb == "up" else 0.0}
    found |= {scale: {"score": float(mark)} for scale, mark in vote.scores.items()}
    if vote.tags and masked:
        found["tags"] = {"label": masked(", ".join(vote.tags))}
    if vote.comment and masked:
        found["comment"] = {"explanation": masked(vote.comment)}
    return found


def identifier(answer: RatedAnswer, voter: str) -> str:
    """What makes a vote the voter's own, of this answer alone: Phoenix deletes by it."""
    digest = hashlib.sha256(f"{answer.owner}\0{voter}".encode()).hexdigest()
    return f"atlas-{answer.span_id}-{digest[:16]}"


def span_annotations(
    answer: RatedAnswer, votes: Iterable[Standing], masked: Masked
) -> list[Annotation]:
    """All that is said of the whole answer, on its root span."""
    return [
        {
            "span_id": answer.span_id,
            "name": name,
            "annotator_kind": "HUMAN",
            "identifier": identifier(answer, standing.voter),
            "result": result,
            "metadata": {"qa_id": answer.qa_id, "user_id": standing.voter},
        }
        for standing in votes
        for name, result in results(standing.vote, masked).items()
    ]


def document_annotations(
    answer: RatedAnswer, votes: Iterable[Standing], places: Mapping[str, tuple[str, int]]
) -> dict[DocumentMark, Annotation]:
    """What is said of passages and citations, on the documents of spans.

    `places` are spans and positions by the ids of passages. Phoenix knows one annotation of a name
    for each document, so all voters share it: its score is the share of those who agree.
    """
    found = {}
    for (name, passage_id), said in _by_passage(answer, votes).items():
        # without content a span has digests for ids
        if place := places.get(passage_id) or places.get(digest(passage_id)):
            mark = DocumentMark(name, *place)
            found[mark] = document_annotation(mark, _shared(name, said))
    return found


def document_annotation(mark: DocumentMark, result: Annotation) -> Annotation:
    """An annotation of one document."""
    return {
        "span_id": mark.span_id,
        "document_position": mark.position,
        "name": mark.name,
        "annotator_kind": "HUMAN",
        "result": result,
    }


def document_places(spans: Sequence[Mapping[str, Any]], root: str) -> dict[str, tuple[str, int]]:
    """Where each passage stands in the spans of a trace: in the root, in what was reranked, or
    in what was retrieved, in this order."""
    order = sorted(spans, key=lambda span: _preference(span, root))
    found: dict[str, tuple[str, int]] = {}
    for span in order:
        for passage_id, position in _documents(span):
            found.setdefault(passage_id, (span["context"]["span_id"], position))
    return found


def _preference(span: Mapping[str, Any], root: str) -> tuple[bool, bool, str]:
    span_id = span["context"]["span_id"]
    return span_id != root, span["span_kind"] != "RERANKER", span["start_time"]


def _documents(span: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    # of a span Phoenix annotates the documents of one list, by its kind
    prefix = _LISTED.get(span["span_kind"], _LISTED[""])
    for key, value in span["attributes"].items():
        if (match := _DOCUMENT.match(key)) and match[1] == prefix:
            yield value, int(match[2])


def _by_passage(
    answer: RatedAnswer, votes: Iterable[Standing]
) -> dict[tuple[str, str], list[bool]]:
    """What each voter says of a passage, once: yes if they say so of one of its citations."""
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for standing in votes:
        for about, said in _by_one(answer, standing.vote).items():
            found[about].append(any(said))
    return found


def _by_one(answer: RatedAnswer, vote: Vote) -> dict[tuple[str, str], list[bool]]:
    found: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for passage_id, relevance in vote.passages.items():
        found[RELEVANCE, passage_id].append(relevance == "relevant")
    for number, backing in vote.citations.items():
        passage_id = answer.citations[number - 1].passage_id
        found[SUPPORT, passage_id].append(backing == "supports")
    return found


def _shared(name: str, said: Sequence[bool]) -> Annotation:
    yes, no = _SAID[name]
    share = fmean(said)
    label = {1.0: yes, 0.0: no}.get(share, "mixed")
    return {"label": label, "score": share, "explanation": f"{sum(said)} of {len(said)}: {yes}"}
