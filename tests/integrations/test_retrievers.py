"""Retrievers of other libraries, over a collection opened here and over a server."""

from pathlib import Path
from typing import Any

import pytest
from haystack import Pipeline
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests

from atlas_search import Atlas, AtlasClient
from atlas_search.core.errors import RequestError
from atlas_search.integrations import haystack, langchain, llama_index
from atlas_search.integrations.retrieval import Retriever
from tests.integrations.conftest import Guarded
from tests.server.two_corpora import QUESTION

LIBEL = "Can a council sue a newspaper for libel?"


class TestLangChainHere(RetrieversIntegrationTests):
    """LangChain's own tests, over a collection opened in the process."""

    @pytest.fixture(autouse=True)
    def _open(self, atlas: Atlas) -> None:
        self.atlas: Any = atlas

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return langchain.AtlasRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"atlas": self.atlas}

    @property
    def retriever_query_example(self) -> str:
        return LIBEL


class TestLangChainThere(TestLangChainHere):
    """The same over a server."""

    @pytest.fixture(autouse=True)
    def _open(self, address: str) -> Any:
        with AtlasClient(address) as self.atlas:
            yield


def same_as_a_search(atlas: Atlas, found: list[tuple[str, str, float, dict[str, Any]]]) -> None:
    expected = atlas.search(LIBEL, k=4, corpora="legal_uk").passages
    assert [(id_, text) for id_, text, *_ in found] == [
        (item.passage.id, item.passage.text) for item in expected
    ]
    for (_, text, score, about), item in zip(found, expected, strict=True):
        assert score == item.ranked.score
        document = atlas.document(about["document_id"])
        assert document.text[about["start"] : about["end"]] == text
        assert about["marker"] == item.passage.marker
        assert about["court"] == item.passage.metadata["court"]


def test_langchain_gives_exact_spans_and_links(address: str, atlas: Atlas) -> None:
    options = {"corpora": "legal_uk"}
    here = langchain.AtlasRetriever(atlas=atlas, k=4, options=options).invoke(LIBEL)
    there = langchain.AtlasRetriever(url=address, k=4, options=options).invoke(LIBEL)
    for documents in (here, there):
        same_as_a_search(
            atlas,
            [(str(d.id), d.page_content, d.metadata["score"], d.metadata) for d in documents],
        )
    assert "citation_link" not in here[0].metadata
    link = there[0].metadata["citation_link"]
    assert link.startswith(f"{address}/?passage=")


def test_the_loader_of_langchain_loads_every_document(address: str, atlas: Atlas) -> None:
    with AtlasClient(address) as client:
        for source in (atlas, client):
            loaded = langchain.AtlasLoader(source).load()
            assert len(loaded) == sum(corpus.documents for corpus in atlas.corpora)
            for document in loaded:
                assert document.page_content == atlas.document(str(document.id)).text
                assert document.metadata["title"]
    assert [d.id for d in atlas.documents("legal_uk")] == [
        d.id for d in atlas.documents() if d.corpus == "legal_uk"
    ]


def test_llama_index_gives_nodes_with_scores_and_spans(address: str, atlas: Atlas) -> None:
    options = {"corpora": "legal_uk"}
    for retriever in (
        llama_index.AtlasRetriever(atlas, k=4, options=options),
        llama_index.AtlasRetriever(url=address, k=4, options=options),
    ):
        nodes = retriever.retrieve(LIBEL)
        same_as_a_search(
            atlas,
            [(n.node.node_id, n.node.get_content(), n.score or 0, n.node.metadata) for n in nodes],
        )
        first: Any = nodes[0].node
        assert first.end_char_idx - first.start_char_idx == len(first.text)


def test_haystack_runs_it_in_a_pipeline(address: str, atlas: Atlas) -> None:
    options = {"corpora": "legal_uk"}
    for retriever in (
        haystack.AtlasRetriever(atlas, top_k=4, options=options),
        haystack.AtlasRetriever(url=address, top_k=4, options=options),
    ):
        pipeline = Pipeline()
        pipeline.add_component("atlas", retriever)
        documents = pipeline.run({"atlas": {"query": LIBEL}})["atlas"]["documents"]
        same_as_a_search(atlas, [(d.id, d.content, d.score, d.meta) for d in documents])
        fewer = pipeline.run({"atlas": {"query": LIBEL, "top_k": 1}})["atlas"]["documents"]
        assert len(fewer) == 1


def test_a_pipeline_of_haystack_is_written_and_read(address: str, tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("atlas", haystack.AtlasRetriever(url=address, top_k=2))
    written = pipeline.dumps()
    assert "ATLAS_API_KEY" in written  # its name, and not what it holds
    again = Pipeline.loads(written, allowed_modules=["atlas_search.integrations.haystack"])
    assert len(again.run({"atlas": {"query": LIBEL}})["atlas"]["documents"]) == 2


def test_a_key_is_sent(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    key = guarded.whole
    monkeypatch.setenv("ATLAS_API_KEY", key)
    texts = [
        langchain.AtlasRetriever(url=guarded.address, key=key).invoke(QUESTION)[0].page_content,
        llama_index.AtlasRetriever(url=guarded.address, key=key).retrieve(QUESTION)[0].text,
        haystack.AtlasRetriever(url=guarded.address).run(QUESTION)["documents"][0].content,
    ]
    assert len(set(texts)) == 1
    assert key not in repr(langchain.AtlasRetriever(url=guarded.address, key=key))


def test_a_source_and_an_address_are_one_too_many(atlas: Atlas) -> None:
    with pytest.raises(RequestError, match="not both"):
        Retriever(atlas, url="http://127.0.0.1:8000")
