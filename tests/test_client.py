"""The clients of a server: what a notebook says to a folder, it says to a server."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pandas.testing import assert_frame_equal

import atlas_search
from atlas_search import AsyncAtlasClient, Atlas, AtlasClient
from atlas_search.answer.answer import Checked, References, Token
from atlas_search.client import problem_error
from atlas_search.core import errors
from atlas_search.server.problems import STATUS, problem_of
from tests.conftest import free_port
from tests.places import ROOT
from tests.servers import served

QUESTION = "Can a council sue a newspaper for libel?"


@pytest.fixture
def there(address: str) -> Iterator[AtlasClient]:
    with AtlasClient(address) as client:
        yield client


def test_it_has_the_methods_of_atlas() -> None:
    methods = {name for name in dir(Atlas) if not name.startswith("_")}
    # these open and build folders, or take what was checked within the process
    methods -= {"open", "build", "permitted", "find", "answer"}
    for kind in (AtlasClient, AsyncAtlasClient):
        assert {name for name in dir(kind) if not name.startswith("_")} >= methods


def test_the_page_about_python_holds_of_a_server(address: str) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    text = page[page.index("## Open, search\n") : page.index("## Evaluate\n")]
    names: dict[str, object] = {"AtlasClient": AtlasClient}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        code = block.replace('Atlas.open("atlas_demo")', f'AtlasClient("{address}")')
        exec(compile(code, "docs/python.md", "exec"), names)


def test_results_say_the_same(atlas: Atlas, there: AtlasClient) -> None:
    mine, its = atlas.search(QUESTION, k=5), there.search(QUESTION, k=5)
    assert [(p.passage.id, p.ranked.score) for p in its.passages] == [
        (p.passage.id, p.ranked.score) for p in mine.passages
    ]
    assert its.to_dict()["passages"] == mine.to_dict()["passages"]
    assert its._repr_html_() == mine._repr_html_()
    assert_frame_equal(its.to_frame(), mine.to_frame(), check_like=True)
    answer, reply = atlas.ask(QUESTION), there.ask(QUESTION)
    assert (reply.text, reply.outcome) == (answer.text, answer.outcome)
    assert [(c.marker, c.passage.id, c.quote) for c in reply.citations] == [
        (c.marker, c.passage.id, c.quote) for c in answer.citations
    ]
    assert reply._repr_html_() == answer._repr_html_()
    assert_frame_equal(reply.to_frame(), answer.to_frame(), check_like=True)
    assert there.corpora == atlas.corpora
    assert there.facets(corpora="legal_uk") == atlas.facets(corpora="legal_uk")
    assert there.suggestions("legal_uk", limit=2) == atlas.suggestions("legal_uk", limit=2)
    id_ = answer.citations[0].passage.id
    assert there.passage(id_).to_dict() == atlas.passage(id_).to_dict()
    document = there.document(answer.citations[0].passage.document_id)
    assert document.text == atlas.document(document.id).text
    assert [p.id for p in there.passages(document.id)] == [
        p.id for p in atlas.passages(document.id)
    ]
    for name, query in [("concordance", "libel"), ("trends", "libel"), ("counts", "libel")]:
        result, other = (getattr(each, name)(query).to_dict() for each in (atlas, there))
        assert result | {"trace_id": ""} == other | {"trace_id": ""}


def test_a_stream_gives_events_and_last_the_answer(atlas: Atlas, there: AtlasClient) -> None:
    mine, its = list(atlas.stream(QUESTION)), list(there.stream(QUESTION))
    assert list(map(type, its[:-1])) == list(map(type, mine[:-1]))
    for kind in (Token, References, Checked):
        assert any(isinstance(event, kind) for event in its)
    lines = [
        [event.sentence.line for event in events if isinstance(event, Checked)]
        for events in (mine, its)
    ]
    assert lines[0] == lines[1]
    assert its[-1].text == mine[-1].text  # type: ignore[union-attr]


def test_a_stream_that_is_closed_is_read_no_further(there: AtlasClient) -> None:
    events = there.stream(QUESTION)
    assert isinstance(next(events), References)
    events.close()  # type: ignore[attr-defined]
    assert there.ask(QUESTION).text


def test_what_is_refused_raises_as_in_python(there: AtlasClient) -> None:
    for ask, kind in [
        (lambda atlas: atlas.search(""), errors.InvalidQuestion),
        (lambda atlas: atlas.search("libel", corpora="nowhere"), errors.UnknownCorpus),
        (lambda atlas: atlas.search("libel", filters={"no": "1"}), errors.UnknownFilterField),
        (lambda atlas: atlas.search("libel", nothing=1), errors.RequestError),
        (lambda atlas: atlas.ask("libel", target="none"), errors.UnknownTarget),
        (lambda atlas: list(atlas.stream("libel", target="none")), errors.UnknownTarget),
        (lambda atlas: atlas.passage("none"), errors.NotFound),
    ]:
        with pytest.raises(kind):
            ask(there)  # type: ignore[no-untyped-call]
    with pytest.raises(errors.InvalidQuery) as raised:
        there.concordance('"open')
    assert raised.value.character


def test_every_error_that_a_server_sends_is_raised_as_it_is() -> None:
    for kind in {*STATUS, *errors.RequestError.__subclasses__()}:
        error = problem_error(problem_of(kind("What, where."), "/api/ask").model_dump())
        assert type(error) in (kind, errors.RequestError)
        assert str(error).startswith("What, where.")


def test_what_is_no_atlas_is_told() -> None:
    with AtlasClient(f"http://127.0.0.1:{free_port()}") as nobody:
        with pytest.raises(errors.Unavailable, match=r"No server answers at .*atlas serve"):
            nobody.search("libel")
        with pytest.raises(errors.Unavailable, match="No server answers"):
            next(nobody.stream("libel"))

    def stranger(environ: object, start_response: object) -> list[bytes]:
        start_response("404 Not Found", [("Content-Type", "text/plain")])  # type: ignore[operator]
        return [b"nothing here"]

    with (
        served(stranger) as elsewhere,
        AtlasClient(elsewhere) as client,
        pytest.raises(errors.AtlasError, match="is not Atlas"),
    ):
        client.search("libel")


def test_a_stream_that_breaks_off_is_told() -> None:
    def cut(environ: object, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/event-stream")])
        return [b'event: token\ndata: {"text": "A council may"}\n\n']

    async def work(address: str) -> None:
        client = AsyncAtlasClient(address)
        with pytest.raises(errors.Unavailable, match="broke off"):
            _ = [event async for event in client.stream("libel")]
        await client.close()

    with served(cut) as elsewhere, AtlasClient(elsewhere) as client:
        with pytest.raises(errors.Unavailable, match="broke off"):
            list(client.stream("libel"))
        asyncio.run(work(elsewhere))


def test_a_collection_is_chosen_by_its_name(address: str) -> None:
    elsewhere = AtlasClient(address, collection="elsewhere")
    with elsewhere as client, pytest.raises(errors.UnknownCollection, match="elsewhere"):
        client.search("libel")


def test_it_can_be_awaited(address: str, atlas: Atlas) -> None:
    async def work() -> None:
        client = AsyncAtlasClient(address)
        found, answer = await asyncio.gather(client.search(QUESTION, k=3), client.ask(QUESTION))
        assert len(found.passages) == 3
        assert answer.text == atlas.ask(QUESTION).text
        assert await client.corpora() == atlas.corpora
        assert (await client.concordance("libel")).hits == atlas.concordance("libel").hits
        events = [event async for event in client.stream(QUESTION)]
        assert events[-1].text == answer.text  # type: ignore[union-attr]
        with pytest.raises(errors.UnknownTarget):
            await client.ask("libel", target="none")
        with pytest.raises(errors.UnknownTarget):
            async for _ in client.stream("libel", target="none"):
                pass
        await client.close()

    asyncio.run(work())


def test_it_keeps_what_its_methods_take() -> None:
    first_lines = [str(kind.ask.__doc__).partition("\n")[0] for kind in (Atlas, AtlasClient)]
    assert first_lines[0] == first_lines[1]
    assert atlas_search.AtlasClient is AtlasClient
