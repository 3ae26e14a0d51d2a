"""Addresses of sources: only those of the web leave Atlas as links, wherever they leave it."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from rich.console import Console

from atlas_search.atlas import Atlas
from atlas_search.cli.ask import print_answer, print_passages, printable_json
from atlas_search.cli.create import print_report
from atlas_search.core.addresses import address_fault, is_link, unlink, with_link
from atlas_search.documents.export import FORMATS, Format
from tests.exporting import answer, citation, text
from tests.hostile_documents import (
    ADDRESSES,
    ESCAPE,
    GOOD,
    MARKUP,
    QUESTION,
    build_hostile,
    hostile_services,
    put_back_addresses,
)
from tests.servers import app_of


@pytest.fixture(scope="module", params=["built", "imported"])
def atlas(request: pytest.FixtureRequest, tmp_path_factory: Any) -> Iterator[Atlas]:
    """Over a store built now, and over one that holds addresses as an import may bring them."""
    root = tmp_path_factory.mktemp(request.param)
    build_hostile(root)
    if request.param == "imported":
        put_back_addresses(root)
    with hostile_services(root) as services:
        yield Atlas(services)


@pytest.fixture(scope="module")
def client(atlas: Atlas) -> FlaskClient:
    return app_of(atlas).test_client()


@pytest.mark.parametrize("name", ADDRESSES)
def test_what_is_no_address_of_the_web_is_no_link(name: str) -> None:
    assert address_fault(ADDRESSES[name])
    assert "url" not in with_link({"url": ADDRESSES[name]}).metadata


@pytest.mark.parametrize(
    "address",
    [
        GOOD,
        "http://example.org",
        "HTTPS://EXAMPLE.ORG:8443/a?b=c&d#e",
        "https://de.wikipedia.org/wiki/Bürgerliches_Gesetzbuch",
        "https://例え.jp/漢字",
        "http://[2001:db8::1]/a",
        "https://example.org/a%20b%0Ac",
        "https://example.org/user@host",
    ],
)
def test_an_address_of_the_web_is_kept_as_it_is(address: str) -> None:
    assert with_link({"url": address, "a": 1}) == ({"url": address, "a": 1}, "")


def test_what_is_harmless_stays_as_text_under_another_name() -> None:
    assert with_link({"url": "doi:10.1000/182"}) == (
        {"unlinked_url": "doi:10.1000/182"},
        "its address 'doi:10.1000/182' does not begin with http:// or https://: no link is made "
        "of it",
    )
    own = {"url": "shelf 2", "unlinked_url": "kept"}
    assert with_link(own).metadata == {"unlinked_url": "kept"}
    for name in ("script", "data", "file", "password", "control", "direction", "long"):
        result = with_link({"url": ADDRESSES[name]})
        assert result.metadata == {}, name
        assert "swordfish" not in result.remark


def test_of_several_addresses_the_first_link_counts() -> None:
    stated = ("javascript:alert(1)", GOOD, "https://example.org/2")
    metadata, remark = with_link({"url": stated})
    assert metadata == {"url": GOOD, "unlinked_url": "https://example.org/2"}
    assert remark.count("no link is made of it") == 1


def test_refused_addresses_are_remarks_of_the_build(tmp_path: Path) -> None:
    report = build_hostile(tmp_path)
    (file,) = report.files
    assert sum("no link is made of it" in remark for remark in file.remarks) == len(ADDRESSES)
    assert not file.refused
    console = Console(file=StringIO(), width=500)
    print_report(console, report, every_file=True)
    assert "swordfish" not in console.file.getvalue()  # type: ignore[attr-defined]


def urls_in(document: object) -> list[object]:
    """Every `url` at any depth that says something."""
    if isinstance(document, dict):
        own = [document["url"]] if document.get("url") is not None else []
        return own + [url for value in document.values() for url in urls_in(value)]
    if isinstance(document, list):
        return [url for value in document for url in urls_in(value)]
    return []


def test_the_api_gives_no_other_address(client: FlaskClient) -> None:
    body = {"question": QUESTION, "k": 50}
    result = client.post("/api/search", json=body | {"explain": True}).get_json()
    answered = client.post("/api/ask", json=body | {"include_context": True}).get_json()
    ids = {passage["document_id"] for passage in result["passages"]}
    documents = [client.get(f"/api/documents/{id_}").get_json() for id_ in sorted(ids)]
    passage = client.get(f"/api/passages/{result['passages'][0]['passage_id']}").get_json()
    assert len(ids) >= 5
    urls = urls_in([result, answered, documents, passage])
    assert GOOD in urls
    assert all(map(is_link, urls)), urls


@pytest.mark.parametrize("format", list(FORMATS))
@pytest.mark.parametrize("name", ["script", "data", "file", "password", "line", "direction"])
def test_no_export_hands_on_another_address(format: Format, name: str) -> None:
    stated = ADDRESSES[name]
    cited = citation(url=stated, metadata={"url": stated, "court": "House of Lords"})
    written = text(format, answer(cited))
    assert "House of Lords" in written or format in ("markdown", "csv", "web-annotation")
    for part in ("javascript:", "data:text", "file:///", "swordfish", "\u202e"):
        assert part not in written


def test_an_answer_in_json_is_changed_only_in_its_addresses() -> None:
    document = answer(citation(url=GOOD), unknown={"url": 3, "kept": [{"url": "data:x"}]})
    (result,) = json.loads(text("json", document))["answers"]
    assert result == document | {"unknown": {"url": None, "kept": [{"url": None}]}}


def test_an_answer_of_any_depth_is_looked_through() -> None:
    deep: dict[str, Any] = {"url": "data:x"}
    for _ in range(100_000):
        deep = {"inner": [deep]}
    unlink(deep)
    while "inner" in deep:
        deep = deep["inner"][0]
    assert deep == {"url": None}


def test_the_terminal_obeys_no_source(client: FlaskClient) -> None:
    body = {"question": QUESTION, "k": 50}
    result = client.post("/api/search", json=body).get_json()
    answered = client.post("/api/ask", json=body).get_json()
    assert ESCAPE[0] in result["passages"][0]["text"]
    console = Console(file=StringIO(), width=200)
    print_passages(console, result, with_signals=True)
    print_answer(console, answered)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert MARKUP in shown
    for output in (shown, printable_json(result)):
        assert not {*output} & {"\x1b", "\x07", "\x9b", "\u202e"}
    assert json.loads(printable_json(result)) == result
    assert "javascript:" not in shown
