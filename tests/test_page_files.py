"""Files of the page: smaller for whoever takes them so, and the same to all others."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from atlas_search.server.page_files import PageFiles, compress_document

SCRIPT = "const name = 'Derbyshire';\n" * 40
SCRIPT_ZIPPED = {"Accept-Encoding": "br;q=1, gzip;q=0.8"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    for name in ("app.js", "app.css", "page.html", "part/mark.svg", "names.json"):
        (tmp_path / name).write_text(SCRIPT)
    (tmp_path / "dot.png").write_bytes(b"\x89PNG" + bytes(99))
    return tmp_path


@pytest.fixture
def client(folder: Path) -> FlaskClient:
    app = Flask(__name__, static_folder=None)
    app.add_url_rule("/<path:name>", view_func=PageFiles(folder).send)
    return app.test_client()


@pytest.mark.parametrize("name", ["app.js", "app.css", "page.html", "part/mark.svg", "names.json"])
def test_a_text_is_compressed_and_its_headers_stay(client: FlaskClient, name: str) -> None:
    with client.get(f"/{name}") as plain, client.get(f"/{name}", headers=SCRIPT_ZIPPED) as small:
        assert plain.text == gzip.decompress(small.data).decode() == SCRIPT
        assert len(small.data) < len(plain.data) / 4
        assert small.content_length == len(small.data)
        assert small.headers["Content-Encoding"] == "gzip"
        for header in ("Content-Type", "Last-Modified", "Cache-Control", "Vary"):
            assert small.headers[header] == plain.headers[header]
        assert plain.headers["Vary"] == "Accept-Encoding"
        assert "Content-Encoding" not in plain.headers
        assert plain.headers["ETag"] != small.headers["ETag"]


@pytest.mark.parametrize("accepted", [None, "identity", "br", "gzip;q=0", "gzip;q=0, *;q=0"])
def test_who_does_not_take_it_gets_it_as_it_is(client: FlaskClient, accepted: str | None) -> None:
    headers = {} if accepted is None else {"Accept-Encoding": accepted}
    with client.get("/app.js", headers=headers) as response:
        assert response.text == SCRIPT
        assert "Content-Encoding" not in response.headers
    part = headers | {"Range": "bytes=0-4"}
    with client.get("/app.js", headers=part) as response:
        assert (response.status_code, response.text) == (206, SCRIPT[:5])


def test_a_picture_is_sent_as_it_is(client: FlaskClient, folder: Path) -> None:
    with client.get("/dot.png", headers=SCRIPT_ZIPPED) as response:
        assert response.data == (folder / "dot.png").read_bytes()
        assert not {"Content-Encoding", "Vary"} & {name for name, _ in response.headers}


@pytest.mark.parametrize("headers", [{}, SCRIPT_ZIPPED])
def test_what_is_known_is_not_sent_again(client: FlaskClient, headers: dict[str, str]) -> None:
    with client.get("/app.js", headers=headers) as first:
        tag, when = first.headers["ETag"], first.headers["Last-Modified"]
    for known in ({"If-None-Match": tag}, {"If-Modified-Since": when}):
        with client.get("/app.js", headers=headers | known) as again:
            assert (again.status_code, again.data) == (304, b"")
            assert again.headers["ETag"] == tag
            assert again.headers["Vary"] == "Accept-Encoding"


def test_the_tag_of_one_form_is_none_of_the_other(client: FlaskClient) -> None:
    with client.get("/app.js") as plain:
        tag = plain.headers["ETag"]
    with client.get("/app.js", headers=SCRIPT_ZIPPED | {"If-None-Match": tag}) as small:
        assert small.status_code == 200


def test_it_is_compressed_once_until_it_changes(
    client: FlaskClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[bytes] = []
    compress: Callable[..., bytes] = gzip.compress

    def counted(data: bytes, **options: int) -> bytes:
        packed.append(data)
        return compress(data, **options)

    monkeypatch.setattr(gzip, "compress", counted)
    for name in ("app.js", "app.js", "part/../app.js"):
        client.get(f"/{name}", headers=SCRIPT_ZIPPED).close()
    assert len(packed) == 1
    (folder / "app.js").write_text("other")
    os.utime(folder / "app.js", (1, 1))
    with client.get("/app.js", headers=SCRIPT_ZIPPED) as response:
        assert gzip.decompress(response.data) == b"other"
    assert len(packed) == 2


def test_head_has_the_length_and_no_body(client: FlaskClient) -> None:
    with client.get("/app.js", headers=SCRIPT_ZIPPED) as whole:
        length = whole.content_length
    with client.head("/app.js", headers=SCRIPT_ZIPPED) as head:
        assert (head.content_length, head.data) == (length, b"")


@pytest.mark.parametrize("name", ["none.js", "../secret.js", "part", "part/"])
def test_what_is_not_there_is_not_found(client: FlaskClient, folder: Path, name: str) -> None:
    (folder.parent / "secret.js").write_text("secret")
    for headers in ({}, SCRIPT_ZIPPED):
        assert client.get(f"/{name}", headers=headers).status_code == 404


def test_a_document_is_compressed_where_it_was_only_fetched(folder: Path) -> None:
    app = Flask(__name__, static_folder=None)
    app.after_request(compress_document)
    app.add_url_rule("/long", view_func=lambda: {"said": SCRIPT}, methods=["GET", "POST"])
    app.add_url_rule("/short", "short", view_func=lambda: {"said": "yes"})
    client = app.test_client()
    plain, small = client.get("/long"), client.get("/long", headers=SCRIPT_ZIPPED)
    assert small.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(small.data) == plain.data
    assert small.content_length == len(small.data) < len(plain.data) / 4
    assert small.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    for other in (
        plain,
        client.get("/short", headers=SCRIPT_ZIPPED),
        client.post("/long", headers=SCRIPT_ZIPPED),
    ):
        assert "Content-Encoding" not in other.headers
        assert other.is_json
