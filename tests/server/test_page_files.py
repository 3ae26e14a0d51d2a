"""Files of the page: smaller for whoever takes them so, and the same to all others."""

import gzip
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from atlas_search.server.app import compress_document
from atlas_search.server.page import PageFiles, join_files, read_version

SCRIPT = "const name = 'Derbyshire';\n" * 40
PAGE = """<link rel="stylesheet" href="static/app.css" />
<script type="module" src="static/app.js"></script>
<a href="#static/app.js" title="static/app.js">static/app.js</a>"""
SCRIPT_ZIPPED = {"Accept-Encoding": "br;q=1, gzip;q=0.8"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    for name in ("app.js", "app.css", "page.html", "part/mark.svg", "names.json"):
        (tmp_path / name).write_text(SCRIPT)
    (tmp_path / "dot.png").write_bytes(b"\x89PNG" + bytes(99))
    (tmp_path / "index.html").write_text(PAGE)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> FlaskClient:
    app = Flask(__name__, static_folder=None)
    files = PageFiles(folder)
    app.add_url_rule("/", view_func=lambda: files.page("index.html"))
    app.add_url_rule("/<path:name>", view_func=files.send)
    return app.test_client()


def present(client: FlaskClient) -> str:
    """The version that the page names: `v-0123456789abcdef`."""
    with client.get("/") as page:
        (name,) = set(re.findall(r'(?:href|src)="static/(v-[0-9a-f]{16})/', page.text))
    return str(name)


def test_a_font_is_sent_as_it_is(client: FlaskClient, folder: Path) -> None:
    (folder / "serif.woff2").write_bytes(b"wOF2" + bytes(2_000))
    with client.get("/serif.woff2", headers=SCRIPT_ZIPPED) as font:
        assert font.content_type == "font/woff2"
        assert "Content-Encoding" not in font.headers
        assert font.data == b"wOF2" + bytes(2_000)


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
    other = {} if headers else SCRIPT_ZIPPED  # the tag of one form is none of the other
    with client.get("/app.js", headers=other | {"If-None-Match": tag}) as response:
        assert response.status_code == 200


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


def test_the_page_names_the_version_of_its_parts_and_is_asked_for_again(
    client: FlaskClient,
) -> None:
    version = present(client)
    for headers in ({}, SCRIPT_ZIPPED):
        with client.get("/", headers=headers) as page:
            packed = page.headers.get("Content-Encoding") == "gzip"
            assert packed == bool(headers)
            text = (gzip.decompress(page.data) if packed else page.data).decode()
            assert text == PAGE.replace(' href="static/', f' href="static/{version}/').replace(
                'src="static/', f'src="static/{version}/'
            )
            assert page.headers["Cache-Control"] == "no-cache"
            assert page.headers["Vary"] == "Accept-Encoding"
            known = headers | {"If-None-Match": page.headers["ETag"]}
        assert client.get("/", headers=known).status_code == 304


@pytest.mark.parametrize("name", ["app.js", "app.css", "part/mark.svg", "dot.png"])
@pytest.mark.parametrize("headers", [{}, SCRIPT_ZIPPED])
def test_a_part_of_the_present_version_is_kept_for_a_year(
    client: FlaskClient, name: str, headers: dict[str, str]
) -> None:
    with client.get(f"/{name}", headers=headers) as plain:
        assert plain.headers["Cache-Control"] == "no-cache"
        content, tag = plain.data, plain.headers["ETag"]
    address = f"/{present(client)}/{name}"
    with client.get(address, headers=headers) as kept:
        assert kept.data == content
        assert kept.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    with client.get(address, headers=headers | {"If-None-Match": tag}) as known:
        assert known.status_code == 304
        assert known.cache_control.immutable


def test_a_part_of_an_old_version_is_the_present_one_and_not_kept(client: FlaskClient) -> None:
    with client.get("/v-0000000000000000/app.js", headers=SCRIPT_ZIPPED) as old:
        assert gzip.decompress(old.data).decode() == SCRIPT
        assert old.headers["Cache-Control"] == "no-cache"
    for version in ("v-0000000000000000", present(client)):
        for name in ("none.js", "../app.js/..", ""):
            missing = client.get(f"/{version}/{name}")
            assert missing.status_code == 404
            assert "Cache-Control" not in missing.headers


def test_a_file_that_changes_on_disk_makes_another_version(
    client: FlaskClient, folder: Path
) -> None:
    first = present(client)
    (folder / "app.js").write_text("other")
    with client.get(f"/{first}/app.js") as changed:
        assert (changed.text, changed.headers["Cache-Control"]) == ("other", "no-cache")
    second = present(client)
    assert second != first
    with client.get(f"/{second}/app.js") as changed:
        assert changed.cache_control.immutable
    (folder / "app.css").rename(folder / "main.css")
    assert len({first, second, present(client)}) == 3
    (folder / "main.css").rename(folder / "app.css")
    assert present(client) == second


def test_equal_files_have_one_version_wherever_they_lie(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copied = shutil.copytree(folder, tmp_path_factory.mktemp("elsewhere") / "page")
    for path in copied.rglob("*"):
        os.utime(path, (1, 1))
    assert read_version(copied).digest == read_version(folder).digest


MODULES = {
    "app.js": (
        'import { a } from "./part/a.js";\nimport {\n  b,\n  c as d,\n} from "./b.js";\n'
        '// import { no } from "./no.js";\nconst no = await import("./part/late.js");\n'
        'const words = await import(`./words/${b}.js`);\nconst said = say("import");\n'
    ),
    "part/a.js": 'import "../b.js";\nexport const a = import.meta.url;\n',
    "b.js": "export function b() {}\nexport async function* c() {}\n",
    "part/late.js": (
        'import { b } from "../b.js";\nimport { e } from "./e.js";\nexport class Late {}\n'
    ),
    "part/e.js": "export const e = 1;\n",
}


def scripts(changes: dict[str, str]) -> dict[str, bytes]:
    """The scripts of MODULES with changes, and a page that begins with `app.js`."""
    files = MODULES | {"index.html": PAGE} | changes
    return {name: text.encode() for name, text in files.items()}


def test_a_script_holds_all_modules_that_it_imports_each_once_and_after_what_it_needs() -> None:
    assert (
        join_files(scripts({}))["app.js"].decode()
        == """\
const modules = (globalThis.modules ??= {});
if (!modules["b.js"]) {
function b() {}
async function* c() {}
modules["b.js"] = { b, c };
}
if (!modules["part/a.js"]) {
const {} = modules["b.js"];
const a = new URL("./part/a.js", import.meta.url);
modules["part/a.js"] = { a };
}
if (!modules["app.js"]) {
const { a } = modules["part/a.js"];
const {
  b,
  c: d,
} = modules["b.js"];
// import { no } from "./no.js";
const no = await import("./part/late.js");
const words = await import(`./words/${b}.js`);
const said = say("import");
modules["app.js"] = {  };
}
"""
    )


def test_a_part_that_is_loaded_late_holds_what_the_page_has_not_loaded_before() -> None:
    assert (
        join_files(scripts({}))["part/late.js"].decode()
        == """\
const modules = (globalThis.modules ??= {});
if (!modules["part/e.js"]) {
const e = 1;
modules["part/e.js"] = { e };
}
if (!modules["part/late.js"]) {
const { b } = modules["b.js"];
const { e } = modules["part/e.js"];
class Late {}
modules["part/late.js"] = { Late };
}
export const { Late } = modules["part/late.js"];
"""
    )


def test_a_part_of_two_pages_holds_what_one_of_them_has_not_loaded() -> None:
    other = {
        "other.html": '<script type="module" src="static/other.js"></script>',
        "other.js": 'import "./part/e.js";\nimport("./part/late.js");\n',
    }
    late = join_files(scripts(other))["part/late.js"].decode()
    assert re.findall(r'if \(!modules\["(.*)"\]\)', late) == ["b.js", "part/e.js", "part/late.js"]


def test_an_address_in_a_joined_script_is_that_of_the_module() -> None:
    changes = {
        "index.html": PAGE.replace("app.js", "part/late.js"),
        "part/e.js": 'import("../part/a.js");\n',
        "b.js": "export const b = import.meta.url;\n",
    }
    script = join_files(scripts(changes))["part/late.js"].decode()
    assert 'const b = new URL("./../b.js", import.meta.url);' in script
    assert 'import("./a.js");' in script


UNKNOWN_FORM = "no module of the page imports or exports so: "


@pytest.mark.parametrize(
    ("name", "line", "reason"),
    [
        ("b.js", "export default {};", f"b.js: {UNKNOWN_FORM}export default"),
        ("b.js", "export let b = 1;", f"b.js: {UNKNOWN_FORM}export let b = 1;"),
        ("b.js", "export { b };", f"b.js: {UNKNOWN_FORM}export {{ b }};"),
        ("b.js", 'import * as e from "./e.js";', f"b.js: {UNKNOWN_FORM}import * as e from"),
        ("part/e.js", 'import "./none.js";', "part/none.js is imported, and is not there"),
        (
            "b.js",
            'import { a } from "./part/a.js";',
            "part/a.js imports itself by way of app.js, part/a.js, b",
        ),
    ],
)
def test_a_form_that_cannot_be_joined_is_refused_by_name(name: str, line: str, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}"):
        join_files(scripts({name: f"{line}\n"}))


def test_the_sheets_of_a_page_are_one_in_their_order() -> None:
    link = '<link rel="stylesheet" href="static/'
    files = {
        "index.html": f'  {link}a.css" />\n  {link}part/b.css" media="print" />\n<body>',
        "a.css": 'p { mask: url("a.svg"); }\n',
        "part/b.css": 'q { mask: url("b.svg"), url("data:x"), url("#y"); }\n',
    }
    served = join_files({name: text.encode() for name, text in files.items()})
    assert served["index.html"].decode() == f'    {link}index.css" />\n<body>'
    assert served["index.css"].decode() == (
        'p { mask: url("a.svg"); }\n'
        '@media print {\nq { mask: url("part/b.svg"), url("data:x"), url("#y"); }\n}\n'
    )


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
