"""A server whose traces go to a real Phoenix, what that gives back, and what responses say."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from tests.openai_server import OpenAIServer
from tests.servers import wait_for

PROJECT = "atlas-responses"
Spans = list[dict[str, Any]]


@dataclass(frozen=True)
class Traced:
    """A server that answers with a model, and the Phoenix that its traces go to."""

    client: httpx2.Client
    model: OpenAIServer
    phoenix: str
    settings: dict[str, str]
    folder: Path

    def ask(self, question: str, **body: Any) -> dict[str, Any]:
        """The answer, with its passages."""
        said = {"question": question, "include_context": True, **body}
        response = self.client.post("/api/ask", json=said)
        assert response.status_code == 200, response.text
        return response.json()

    def trace(self, root: str, **wanted: Any) -> Spans:
        """The spans of the one trace whose root has this name and these attributes, root first."""

        def arrived() -> Spans | None:
            found = httpx2.get(
                f"{self.phoenix}/v1/projects/{PROJECT}/spans", params={"limit": 1000}
            )
            spans = found.json()["data"] if found.is_success else []
            for span in spans:
                said = {**span["attributes"], "trace_id": span["context"]["trace_id"]}
                if span["name"] == root and wanted.items() <= said.items():
                    own = [s for s in spans if s["context"]["trace_id"] == said["trace_id"]]
                    return sorted(own, key=lambda each: each["parent_id"] is not None)
            return None

        spans = wait_for(arrived, 60, root)
        assert [span["name"] for span in spans if span["parent_id"] is None] == [root]
        return spans


def documents(span: dict[str, Any], prefix: str = "retrieval.documents") -> list[dict[str, Any]]:
    """Ids, scores and facts of a list, by its places."""
    attributes, found = span["attributes"], []
    while f"{prefix}.{len(found)}.document.id" in attributes:
        start = f"{prefix}.{len(found)}.document."
        found.append(
            {k.removeprefix(start): v for k, v in attributes.items() if k.startswith(start)}
        )
    return found


def ranked(listed: list[dict[str, Any]]) -> list[tuple[str, float]]:
    return [(each["id"], round(each["score"], 6)) for each in listed]


def kept(response: dict[str, Any]) -> list[tuple[str, float]]:
    return [(each["passage_id"], round(each["score"], 6)) for each in response["passages"]]


def counts(said: dict[str, Any], *stages: str) -> dict[str, dict[str, int]]:
    """Of each corpus, as a span says them."""
    corpora = {name.split(".", 1)[1] for name in said if name.startswith("kept.")}
    return {corpus: {stage: said[f"{stage}.{corpus}"] for stage in stages} for corpus in corpora}


def told(response: dict[str, Any], *stages: str) -> dict[str, dict[str, int]]:
    """The same as the response says them."""
    per_corpus = response["retrieval"]["per_corpus"]
    return {corpus: {stage: of[stage] for stage in stages} for corpus, of in per_corpus.items()}
