"""The front door that a library user calls, and that the API sends the same."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import atlas_search
from atlas_search import Answer, Atlas, SearchResult
from atlas_search.answer.answer import References, Token
from atlas_search.answer.wire import AnswerDocument
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import (
    ConfigurationError,
    InvalidQuestion,
    MissingStore,
    NotFound,
    RequestError,
    SourceError,
    UnknownCorpus,
    UnknownFilterField,
    UnknownTarget,
)
from atlas_search.search.result import SearchOut
from tests.hash_embedder import HashEmbedder

QUESTION = "Can a local authority sue a newspaper for libel?"


def test_the_public_names_are_these() -> None:
    assert atlas_search.__all__ == [
        "Answer",
        "AskRequest",
        "AsyncAtlasClient",
        "Atlas",
        "AtlasClient",
        "BuildReport",
        "SearchRequest",
        "SearchResult",
        "Stop",
        "errors",
    ]
    for name in atlas_search.__all__:
        assert getattr(atlas_search, name) is not None
        assert name in dir(atlas_search)
    public = {name for name in vars(Atlas) if not name.startswith("_")}
    assert public == {
        *("open", "build", "corpora", "search", "ask", "compare", "stream", "document"),
        *(
            "documents",
            "facets",
            "suggestions",
            "passages",
            "passage",
            "permitted",
            "find",
            "answer",
            "close",
        ),
        *("concordance", "trends", "counts", "collocates", "keywords", "frequencies"),
    }
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        atlas_search.Nothing  # noqa: B018


def test_a_search_finds_what_the_api_sends(atlas: Atlas, client: FlaskClient) -> None:
    body = {
        "question": QUESTION,
        "corpus_filter": ["legal_uk"],
        "k": 3,
        "filters": {"date": {"from": "1990", "to": 1999}},
        "facets": ["court"],
        "explain": True,
    }
    response = client.post("/api/search", json=body).get_json()
    result = atlas.search(
        QUESTION,
        corpora=["legal_uk"],
        k=3,
        filters={"date": {"from": "1990", "to": 1999}},
        facets=["court"],
        explain=True,
    )
    assert isinstance(result, SearchResult)
    document = result.to_dict()
    differing = {"trace_id": 0, "timings_ms": 0}
    assert document | differing == response | differing
    assert document["timings_ms"].keys() == response["timings_ms"].keys()
    assert len(document["passages"]) == 3
    assert SearchOut.model_validate(document).model_dump(mode="json") == document


def test_an_answer_is_what_the_api_sends(atlas: Atlas, client: FlaskClient) -> None:
    body = {"question": QUESTION, "qa_id": "of-both", "session_id": "s-1", "include_context": True}
    response = client.post("/api/ask", json=body).get_json()
    answer = atlas.ask(QUESTION, qa_id="of-both", session_id="s-1")
    assert isinstance(answer, Answer)
    document = answer.to_dict()
    differing = {"trace_id": 0, "span_id": 0, "timings_ms": 0, "created": 0}
    assert document | differing == response | differing
    assert AnswerDocument.model_validate(document).model_dump(mode="json") == document
    assert answer.to_dict(include_context=False)["passages"] is None


def test_what_took_a_documents_place_is_named_by_its_title(atlas: Atlas) -> None:
    passage = atlas.passages("legal_us.bowers-v-hardwick-1986")[0]
    assert passage.to_dict()["successors"] == [
        {"title": "Lawrence v. Texas", "document_id": "legal_us.lawrence-v-texas-2003"}
    ]
    assert atlas.passages("legal_us.lawrence-v-texas-2003")[0].successors == ()


def test_a_comparison_has_an_answer_of_every_corpus(atlas: Atlas) -> None:
    document = atlas.compare("Is the death penalty allowed?").to_dict()
    answers = document["comparison"]["answers"]
    assert [part["corpus"] for part in answers] == [corpus.id for corpus in atlas.corpora]
    assert AnswerDocument.model_validate(document).model_dump(mode="json") == document


def test_a_stream_ends_with_the_answer_its_text_gives(atlas: Atlas) -> None:
    *events, answer = atlas.stream(QUESTION, history=[ChatTurn("user", "Hello")])
    assert isinstance(answer, Answer)
    assert isinstance(events[0], References)
    assert "".join(e.text for e in events if isinstance(e, Token)).strip() == answer.text
    assert answer.request.history == (ChatTurn("user", "Hello"),)


def test_a_stream_that_is_closed_stops_the_answer(atlas: Atlas) -> None:
    stream = atlas.stream(QUESTION, qa_id="left-early")
    next(stream)
    stream.close()
    assert "ask-left-early" not in [thread.name for thread in threading.enumerate()]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda atlas: atlas.search(" ?"), InvalidQuestion, "empty"),
        (lambda atlas: atlas.search("x" * 4001), InvalidQuestion, "at most 4000 are read"),
        (lambda atlas: atlas.search('-"police"'), InvalidQuestion, "only says what to leave out"),
        (lambda atlas: atlas.ask(QUESTION, corpora="nowhere"), UnknownCorpus, "legal_us"),
        (
            lambda atlas: atlas.stream(QUESTION, filters={"colour": "red"}),
            UnknownFilterField,
            "court",
        ),
        (lambda atlas: atlas.compare(QUESTION, target="none"), UnknownTarget, "k10_extractive"),
        (lambda atlas: atlas.search(QUESTION, k=0), RequestError, "k=0"),
        (
            lambda atlas: atlas.search(QUESTION, filters={"date": {"since": "1990"}}),
            RequestError,
            '"from", "to"',
        ),
        (lambda atlas: atlas.document("legal_uk.nothing"), NotFound, "legal_uk.nothing"),
    ],
)
def test_a_request_that_cannot_be_served_says_why_before_anything_runs(
    atlas: Atlas, call: Callable[[Atlas], object], error: type[RequestError], message: str
) -> None:
    with pytest.raises(error, match=message):
        call(atlas)


def test_documents_and_passages_are_read_by_their_ids(atlas: Atlas) -> None:
    passage = atlas.search(QUESTION, k=1).passages[0].passage
    document = atlas.document(passage.document_id)
    assert document.text[passage.start : passage.end] == passage.text
    assert atlas.passage(passage.id) == passage
    assert passage in atlas.passages(document.id)


def test_results_show_themselves_in_a_notebook(atlas: Atlas) -> None:
    result = atlas.search("newspaper <libel>", k=2)
    html = result._repr_html_()
    best = result.passages[0]
    marked = best.passage.text[best.highlights[0].start : best.highlights[0].end]
    assert f"<mark>{marked[:20]}" in html
    assert "legal_uk: " in html
    answer = atlas.ask(QUESTION)
    assert answer.citations[0].marker in answer._repr_html_()
    assert "ABSTAIN: " in atlas.ask("How do I cook rice?")._repr_html_()


def test_results_become_tables(atlas: Atlas, monkeypatch: pytest.MonkeyPatch) -> None:
    result = atlas.search(QUESTION, k=4)
    table = result.to_frame()
    assert list(table["passage_id"]) == [item.passage.id for item in result.passages]
    assert table["semantic"].between(0, 1).all()
    answer = atlas.ask(QUESTION)
    assert set(answer.to_frame()["document_id"]) == {
        citation.passage.document_id for citation in answer.citations
    }
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ConfigurationError, match="pip install pandas"):
        result.to_frame()


def test_a_folder_becomes_a_collection_that_answers(tmp_path: Path) -> None:
    sources = tmp_path / "farm"
    (sources / "sheep").mkdir(parents=True)
    (sources / "sheep" / "wool.txt").write_text("Sheep give wool for fine yellow cloaks.")
    (sources / "goats").mkdir()
    (sources / "goats" / "milk.md").write_text("# Milk\n\nGoats give milk for white cheese.")
    embedder = HashEmbedder()
    report = Atlas.build(sources, tmp_path / "stores" / "farm", embedder=embedder)
    assert (report.manifest.documents, report.embedded) == (2, 2)
    again = Atlas.build(
        str(sources), "farm", embedder=embedder, chroma_persist_directory=tmp_path / "stores"
    )
    assert again.unchanged
    with Atlas.open(tmp_path / "stores" / "farm", embedder=embedder) as atlas:
        assert [corpus.id for corpus in atlas.corpora] == ["goats", "sheep"]
        assert atlas.search("Who gives wool?").passages[0].passage.corpus == "sheep"
        assert atlas.search("Who gives milk?", corpora="goats").per_corpus.keys() == {"goats"}


def test_a_collection_that_cannot_be_opened_or_built_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingStore, match="atlas create"):
        Atlas.open(tmp_path / "nothing")
    with pytest.raises(SourceError, match="does not exist"):
        Atlas.build(tmp_path / "nowhere", tmp_path / "x", embedder=HashEmbedder())
    with pytest.raises(ConfigurationError, match="ATLAS_PORT"):
        Atlas.open(atlas_port=-1)
