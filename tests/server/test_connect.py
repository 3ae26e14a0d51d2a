"""What browsers, wikis and language models that come by find at the server."""

import json
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient

from atlas_search import Atlas
from tests.hash_embedder import HashEmbedder
from tests.server.two_corpora import QUESTION, guard, two_corpora
from tests.servers import app_of

PASSAGE = "legal_uk.derbyshire-county-council-v-times-newspapers-1993:0-430"
WIKI = "https://wiki.example.org"


def test_a_browser_can_offer_a_search_field(client: FlaskClient) -> None:
    page = client.get("/").get_data(as_text=True)
    assert 'rel="search"' in page
    reply = client.get("/opensearch.xml")
    root = ElementTree.fromstring(reply.data)
    url = root.find("{http://a9.com/-/spec/opensearch/1.1/}Url")
    assert url is not None
    assert url.attrib["template"] == "http://localhost/#q={searchTerms}"


def test_a_language_model_is_told_where_it_can_ask(client: FlaskClient) -> None:
    text = client.get("/llms.txt").get_data(as_text=True)
    assert text.startswith("# Atlas\n")
    assert "(http://localhost/mcp)" in text


def test_a_passage_is_taken_in_by_its_address(client: FlaskClient) -> None:
    address = f"http://localhost/?passage={quote(PASSAGE, safe='')}"
    offered = client.get(f"/?passage={quote(PASSAGE, safe='')}").headers["Link"]
    assert 'type="application/json+oembed"' in offered
    reply = client.get(offered[1 : offered.index(">")].removeprefix("http://localhost")).get_json()
    assert (reply["version"], reply["type"]) == ("1.0", "rich")
    passage = client.get(f"/api/passages/{PASSAGE}").get_json()
    assert reply["title"] == passage["title"]
    assert passage["text"] in reply["html"]
    assert f'href="{address}"' in reply["html"]
    assert "Link" not in client.get("/").headers
    elsewhere = quote(f"{address}&collection=elsewhere", safe="")
    assert client.get(f"/oembed?url={elsewhere}").status_code == 400


@pytest.mark.parametrize("url", ["", "http://localhost/", "http://localhost/?passage=none"])
def test_what_is_no_passage_is_not_taken_in(client: FlaskClient, url: str) -> None:
    assert client.get(f"/oembed?url={quote(url, safe='')}").status_code == 404


@pytest.fixture
def parish(tmp_path_factory: pytest.TempPathFactory) -> Atlas:
    atlas = two_corpora(tmp_path_factory.mktemp("parish"), HashEmbedder())
    return guard(atlas, None, atlas_allowed_origins=WIKI)


def test_an_answer_may_be_framed_by_named_origins_alone(parish: Atlas) -> None:
    framing = app_of(parish).test_client()
    qa_id = framing.post("/api/ask", json={"question": QUESTION}).get_json()["qa_id"]
    url = framing.post(f"/api/ask/{qa_id}/link", json={}).get_json()["url"]
    shown = framing.get(f"{url.removeprefix('http://localhost')}?format=html")
    policy = shown.headers["Content-Security-Policy"]
    assert f"frame-ancestors {WIKI};" in policy
    assert "default-src 'none'" in policy
    assert '<base target="_blank">' in shown.get_data(as_text=True)
    taken = framing.get(f"/oembed?url={quote(url, safe='')}").get_json()
    assert taken["title"] == QUESTION
    assert f'src="{url}?format=html"' in taken["html"]
    named = framing.get(f"/oembed?url={quote(url, safe='')}&collection=parish").get_json()
    assert (named["html"], named["provider_url"]) == (taken["html"], "http://localhost")
    page = framing.get("/").headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in page
    closed = guard(parish, None, atlas_allowed_origins="")
    plain = app_of(closed).test_client()
    again = plain.get(f"{url.removeprefix('http://localhost')}?format=html")
    assert "frame-ancestors 'none'" in again.headers["Content-Security-Policy"]


def test_citations_and_notes_are_annotations(client: FlaskClient) -> None:
    body = {"question": "Can a local authority sue a newspaper for libel?"}
    answer = client.post("/api/ask", json=body).get_json()
    export = {"format": "web-annotation", "answers": [answer]}
    reply = client.post("/api/export", json=export)
    assert reply.mimetype == "application/ld+json"
    document = json.loads(reply.data)
    items = document["first"]["items"]
    assert document["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert document["total"] == len(items) == len(answer["citations"])
    for item, cited in zip(items, answer["citations"], strict=True):
        exact, position = item["target"]["selector"]
        assert exact == {"type": "TextQuoteSelector", "exact": cited["quote"]}
        assert (position["start"], position["end"]) == (cited["start"], cited["end"])
        assert item["target"]["source"]["id"].startswith("http://localhost/?passage=")
        assert item["body"]["value"] == cited["quote"]
        assert item["via"] == cited["url"]
    assert len({item["id"] for item in items}) == len(items)
    notes = {"format": "web-annotation", "citations": answer["citations"][:2], "notes": ["Look!"]}
    first, second = json.loads(client.post("/api/export", json=notes).data)["first"]["items"]
    assert (first["motivation"], first["body"]["value"]) == ("commenting", "Look!")
    assert (second["motivation"], "body" in second) == ("bookmarking", False)
