"""Pages of PDFs as pictures: drawn, marked, refused where the file is not the one that was read."""

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from threading import BoundedSemaphore
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from atlas_search import Atlas
from atlas_search.server.access.keys import KeyFile, add_key
from atlas_search.server.ingest.work import build_kept
from atlas_search.server.page import CHANGED, GONE, NO_IMAGE, NO_PICTURE
from tests.hash_embedder import HashEmbedder
from tests.page.documents import LAMP, PAPER, STORM
from tests.pdf_pages import pdf
from tests.servers import app_of

pytestmark = pytest.mark.thorough

DOCUMENT = "coast.kestrel-point"
IMAGE = f"/api/page-image/{DOCUMENT}"
BOXES = f"/api/page-boxes/{DOCUMENT}"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("papers")


@pytest.fixture(scope="module")
def coast(root: Path) -> Iterator[Atlas]:
    """Papers in two corpora, and a text among them."""
    secret = pdf([["The vault of Ravenmoor holds a silver lantern."]])
    for name, data in {
        "coast/kestrel-point.pdf": PAPER,
        "coast/notes.txt": b"Notes on the lamp of Kestrel Point.\n",
        "vault/ravenmoor.pdf": secret,
    }.items():
        write(root / "sources" / name, data)
    with opened(root) as atlas:
        yield atlas


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def opened(root: Path) -> Atlas:
    """The collection of all in `root / "sources"`, built and open."""
    store, state = root / "stores" / "papers", root / "state"
    Atlas.build(root / "sources", store, embedder=HashEmbedder())
    return Atlas.open(store, embedder=HashEmbedder(), atlas_state_directory=state)


@pytest.fixture(scope="module")
def client(coast: Atlas) -> FlaskClient:
    return app_of(coast).test_client()


@pytest.fixture
def paper(root: Path, coast: Atlas) -> Iterator[Path]:
    """The file, which is put back as it was."""
    path = root / "sources" / "coast" / "kestrel-point.pdf"
    yield path
    path.unlink(missing_ok=True)
    path.write_bytes(PAPER)


def place_of(client: FlaskClient, quoted: str) -> tuple[int, int]:
    text = client.get(f"/api/documents/{DOCUMENT}").json["text"]
    start = text.index(quoted)
    return start, start + len(quoted)


def refusal(client: FlaskClient, path: str) -> tuple[int, str]:
    response = client.get(path)
    return response.status_code, response.json["detail"]


def test_a_document_says_where_its_pages_and_sections_begin(client: FlaskClient) -> None:
    found = client.get(f"/api/documents/{DOCUMENT}").json
    assert found["pages"] == [0, found["text"].index("The keeper")]
    assert found["printed_pages"] == []
    assert found["segments"] == []


def test_a_page_is_drawn_in_the_width_asked_for(client: FlaskClient) -> None:
    response = client.get(f"{IMAGE}?page=2&width=400")
    assert response.mimetype == "image/png"
    assert response.headers["Cache-Control"] == "private, no-cache"
    image = Image.open(BytesIO(response.data))
    assert (image.width, image.mode) == (400, "L")
    dark = image.point(lambda value: 255 * (value < 128)).getbbox()
    assert dark is not None  # letters, where they are printed: 700 of 842 points from below
    assert dark[1] / image.height == pytest.approx(1 - 700 / 842, abs=0.02)
    again = client.get(
        f"{IMAGE}?page=2&width=400", headers={"If-None-Match": response.headers["ETag"]}
    )
    assert (again.status_code, again.data) == (304, b"")


def test_more_pages_than_may_wait_are_refused_at_once(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atlas_search.server.page._taken_places", BoundedSemaphore(0))
    response = client.get(f"{IMAGE}?page=1")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "2")


def test_the_boxes_of_a_sentence_lie_on_its_lines(client: FlaskClient) -> None:
    start, end = place_of(client, LAMP)
    boxes = client.get(f"{BOXES}?page=2&start={start}&end={end}").json["boxes"]
    assert len(boxes) == 2  # it is broken over two lines, 14 of 842 points apart
    assert boxes[1]["top"] - boxes[0]["top"] == pytest.approx(14 / 842, abs=0.002)
    assert all(box["left"] == pytest.approx(72 / 595, abs=0.01) for box in boxes)
    assert boxes[0]["width"] > 2 * boxes[1]["width"] > 0
    below = client.get(f"{BOXES}?page=2&start={place_of(client, STORM)[0]}&end={end + 1000}")
    assert below.json["boxes"][0]["top"] > boxes[1]["top"]
    assert client.get(f"{BOXES}?page=1&start={start}&end={end}").json["boxes"] == []


def test_what_is_no_page_of_a_pdf_is_refused(client: FlaskClient) -> None:
    assert refusal(client, "/api/page-image/coast.notes?page=1") == (404, NO_PICTURE)
    status, said = refusal(client, f"{IMAGE}?page=3")
    assert (status, said) == (404, "The document has 2 pages, no page 3.")
    wrong = ("", "?page=0", "?page=x", "?page=1&width=99", "?page=1&width=5000", "?page=1&path=/")
    for query in wrong:
        assert client.get(IMAGE + query).status_code == 400, query


@pytest.mark.parametrize(
    "id_",
    [
        *("../../etc/passwd", "coast/kestrel-point.pdf", "..", "/etc/passwd", "\x00"),
        *("kestrel-point", "x" * 9000),
    ],
)
def test_a_path_is_never_taken_from_a_request(client: FlaskClient, id_: str) -> None:
    for route, query in (("page-image", "page=1"), ("page-boxes", "page=1&start=0&end=9")):
        response = client.get(f"/api/{route}/{quote(id_, safe='')}?{query}")
        assert response.status_code == 404, response.data
        assert b"PDF-" not in response.data


def test_a_file_that_is_gone_or_another_is_said_to_be_so(client: FlaskClient, paper: Path) -> None:
    paper.write_bytes(PAPER.replace(b"Kestrel", b"Falcons"))
    assert refusal(client, f"{IMAGE}?page=1&width=300") == (404, CHANGED)
    paper.unlink()
    assert refusal(client, f"{IMAGE}?page=1&width=300") == (404, GONE)


def test_a_link_in_the_place_of_the_file_is_not_followed(
    client: FlaskClient, paper: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "paper.pdf"
    elsewhere.write_bytes(PAPER)
    paper.unlink()
    paper.symlink_to(elsewhere)
    assert refusal(client, f"{IMAGE}?page=1&width=300") == (404, GONE)


def test_a_key_sees_the_pages_of_its_corpora(coast: Atlas, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    narrow = add_key(KeyFile(keys), "narrow", corpora={"papers": ["coast"]}).text
    services = coast.services
    settings = services.settings.model_copy(update={"api_keys_file": keys})
    guarded = Atlas(replace(services, settings=settings, targets=dict(services.targets)))
    client = app_of(guarded).test_client()
    assert client.get(f"{IMAGE}?page=1").status_code == 401
    own = {"Authorization": f"Bearer {narrow}"}
    assert client.get(f"{IMAGE}?page=1", headers=own).status_code == 200
    hidden = client.get("/api/page-image/vault.ravenmoor?page=1", headers=own)
    unknown = client.get("/api/page-image/vault.nothing?page=1", headers=own)
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.json["detail"].replace("ravenmoor", "nothing") == unknown.json["detail"]
    boxes = client.get("/api/page-boxes/vault.ravenmoor?page=1&start=0&end=9", headers=own)
    assert boxes.status_code == 404


def test_files_that_a_server_was_handed_have_pages_too(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    settings = {"ingest_root": kept, "atlas_state_directory": tmp_path / "state"}
    write(kept / "papers" / "coast" / "kestrel-point.pdf", PAPER)
    folder = tmp_path / "stores" / "papers"
    build_kept(kept / "papers", folder, HashEmbedder(), lambda *_: None)
    with Atlas.open(folder, embedder=HashEmbedder(), **settings) as atlas:
        response = app_of(atlas).test_client().get(f"{IMAGE}?page=1&width=200")
    assert Image.open(BytesIO(response.data)).width == 200


HOCR = """<html><body><div class="ocr_page" title='image "p/tide.tif"; bbox 0 0 1200 1000'>
<span class="ocr_line"><span class="ocrx_word" title="bbox 0 100 150 140">Tide</span></span>
<span class="ocr_line"><span class="ocrx_word" title="bbox 0 300 150 340">came</span>
<span class="ocrx_word" title="bbox 200 300 350 340">in.</span></span></div></body></html>"""
PAGE_XML = """<PcGts><Page imageFilename="tide.jpg" imageWidth="1200" imageHeight="1000">
<TextRegion><TextLine><Coords points="0,100 150,100 150,140 0,140"/><TextEquiv><Unicode>Tide
</Unicode></TextEquiv></TextLine><TextLine><Coords><Point x="0" y="300"/>
<Point x="350" y="340"/></Coords><TextEquiv>
<Unicode>came in.</Unicode></TextEquiv></TextLine></TextRegion></Page></PcGts>"""


@pytest.mark.parametrize(
    ("name", "scan", "image", "kind"),
    [
        ("page.hocr", HOCR, "p/tide.png", "png"),
        ("page/tide.xml", PAGE_XML, "tide.jpg", "jpeg"),  # as Transkribus exports them
        ("page.xml", PAGE_XML, "page.jpeg", "jpeg"),
    ],
)
def test_words_of_a_scan_are_marked_on_the_image_beside_it(
    tmp_path: Path, name: str, scan: str, image: str, kind: str
) -> None:
    write(tmp_path / "sources" / "coast" / name, scan.encode())
    Image.new("L", (60, 50)).save(stream := BytesIO(), kind)
    with opened(tmp_path) as atlas:
        client = app_of(atlas).test_client()
        id_ = client.get("/api/documents").json["documents"][0]["document_id"]
        assert refusal(client, f"/api/page-image/{id_}?page=1") == (404, NO_IMAGE)
        write(tmp_path / "sources" / "vault" / "tide.jpg", stream.getvalue())
        assert refusal(client, f"/api/page-image/{id_}?page=1") == (404, NO_IMAGE)
        write(tmp_path / "sources" / "coast" / image, stream.getvalue())
        response = client.get(f"/api/page-image/{id_}?page=1")
        assert (response.mimetype, response.data) == (f"image/{kind}", stream.getvalue())
        text = client.get(f"/api/documents/{id_}").json["text"]
        assert text.split() == ["Tide", "came", "in."]
        (box,) = client.get(
            f"/api/page-boxes/{id_}?page=1&start={text.index('came')}&end={len(text)}"
        ).json["boxes"]
    assert box == pytest.approx({"left": 0, "top": 0.3, "width": 350 / 1200, "height": 0.04})


METS = """<mets xmlns="http://www.loc.gov/METS/" xmlns:xlink="http://www.w3.org/1999/xlink">
<fileSec><fileGrp USE="THUMBS"><file ID="t1"><FLocat xlink:href="small/1.png"/></file></fileGrp>
<fileGrp USE="IMAGES"><file ID="i1"><FLocat xlink:href="https://a.example/x/1.jpg"/></file>
<file ID="i2"><FLocat xlink:href="file://img/2.tif"/></file></fileGrp><fileGrp>
<file ID="f1"><FLocat xlink:href="alto/1.xml"/></file>
<file ID="f2"><FLocat xlink:href="alto/2.xml"/></file></fileGrp></fileSec>
<structMap TYPE="LOGICAL"><div TYPE="ISSUE"><div TYPE="ARTICLE" ID="a1" LABEL="Tides"><fptr>
<area FILEID="f2" BEGIN="b2"/></fptr></div></div></structMap>
<structMap TYPE="PHYSICAL"><div TYPE="book"><div TYPE="page"><fptr FILEID="t1"/>
<fptr FILEID="i1"/><fptr FILEID="f1"/></div><div TYPE="page"><fptr FILEID="i2"/>
<fptr FILEID="f2"/></div></div></structMap></mets>"""
ALTO = """<alto><Layout><Page WIDTH="1200" HEIGHT="1000"><PrintSpace><TextBlock ID="b{0}"><TextLine>
<String CONTENT="Tide" HPOS="{0}00" VPOS="100" WIDTH="150" HEIGHT="40"/></TextLine></TextBlock>
</PrintSpace></Page></Layout></alto>"""


def test_pages_that_a_mets_names_are_shown_with_their_marks(tmp_path: Path) -> None:
    coast = tmp_path / "sources" / "coast"
    write(coast / "mets.xml", METS.encode())
    for number in (1, 2):
        write(coast / "alto" / f"{number}.xml", ALTO.format(number).encode())
    kinds = {"img/2.tif": "tiff", "img/1.jpg": "jpeg", "small/1.png": "png"}
    for name, kind in kinds.items():
        Image.new("1", (600, 500)).save(stream := BytesIO(), kind)
        write(coast / name, stream.getvalue())
    with opened(tmp_path) as atlas:
        client = app_of(atlas).test_client()
        documents = client.get("/api/documents").json["documents"]
        article, issue = sorted(each["document_id"] for each in documents)
        for id_, left in ((issue, 100), (article, 200)):
            (box,) = client.get(f"/api/page-boxes/{id_}?page=1&start=0&end=4").json["boxes"]
            assert box["left"] == pytest.approx(left / 1200)
        converted = client.get(f"/api/page-image/{article}?page=1&width=300")
        assert converted.mimetype == "image/jpeg"
        assert Image.open(BytesIO(converted.data)).size == (300, 250)
        assert refusal(client, f"/api/page-image/{issue}?page=1") == (404, NO_IMAGE)
        write(coast / "1.jpg", (coast / "img" / "1.jpg").read_bytes())
        assert client.get(f"/api/page-image/{issue}?page=1").mimetype == "image/jpeg"
        write(coast / "img" / "2.tif", b"II*\0 no image")
        damaged = "The image of this page is damaged or too large."
        assert refusal(client, f"/api/page-image/{article}?page=1") == (404, damaged)
        write(coast / "alto" / "2.xml", ALTO.format(2).replace("Tide", "Ebb").encode())
        assert refusal(client, f"/api/page-image/{article}?page=1") == (404, CHANGED)


def odd_page(width: float, height: float) -> bytes:
    stream = BytesIO()
    canvas = Canvas(stream, pagesize=(width, height))
    canvas.drawString(10, 10, "A lamp.")
    canvas.save()
    return stream.getvalue()


@pytest.mark.parametrize(("width", "height"), [(14_000, 14_000), (100, 14_000), (14_000, 60)])
def test_a_page_of_any_size_is_bounded(tmp_path: Path, width: int, height: int) -> None:
    write(tmp_path / "sources" / "coast" / "kestrel-point.pdf", odd_page(width, height))
    with opened(tmp_path) as atlas:
        response = app_of(atlas).test_client().get(f"{IMAGE}?page=1&width=1600")
    image = Image.open(BytesIO(response.data))
    assert image.width * image.height <= 6_100_000
    assert image.width <= 1600
