"""Manifests of IIIF: what is fetched of them, and how the texts of their pages are read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from atlas_search.building.flow import BuildOptions, BuildReport, build
from atlas_search.building.workers import ReadingLimits
from atlas_search.cli.create import locate_iiif
from atlas_search.core.domain import Document
from atlas_search.core.errors import SourceError
from atlas_search.readers.iiif import IiifReader
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.readers.drafts import only_reason
from tests.readers.sites import Answer, Site
from tests.tiny import document_ids, silent

JSON, XML = {"Content-Type": "application/json"}, {"Content-Type": "text/xml"}
GIVEN = {
    "corpora": None, "corpus": "", "corpus_field": "", "encoding": "", "contact": "",
    "delay": 0.001, "refresh": False, "allow_private": "127.0.0.1",
}  # fmt: skip
ALTO = (
    '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page><PrintSpace><TextBlock>'
    "{lines}</TextBlock></PrintSpace></Page></Layout></alto>"
)
HOCR = (
    "<?xml version='1.0' encoding='UTF-8'?><html><body><div class='ocr_page'>"
    "<p class='ocr_par'><span class='ocr_line'>"
    "<span class='ocrx_word' title='x_wconf 90'>Östby</span> <span class='ocrx_word'>tide</span>"
    "</span></p></div></body></html>"
)
WITHOUT_TEXT = (
    "it names no text that is read: neither ALTO, hOCR or plain text of its pages nor annotations "
    "with their words",
    "none of the texts or annotations that it names holds words of its pages",
    "it is no manifest or collection of IIIF",
    "pages without text: 1 of 5",
)
PICTURE = "https://images.example/{name}/full/max/0/default.jpg"


def alto(*lines: str) -> Answer:
    words = (
        "<TextLine>" + "".join(f'<String CONTENT="{w}" WC="0.8"/>' for w in line.split())
        for line in lines
    )
    return Answer(ALTO.format(lines="</TextLine>".join([*words, ""])).encode(), headers=XML)


def plain(text: str) -> Answer:
    return Answer(text.encode(), headers={"Content-Type": "text/plain; charset=utf-8"})


def as_json(value: object) -> Answer:
    return Answer(json.dumps(value).encode(), headers=JSON)


def canvas(name: str, label: str = "", **fields: object) -> dict[str, Any]:
    body = {"id": PICTURE.format(name=name), "type": "Image"}
    painting = {"type": "Annotation", "motivation": "painting", "body": body}
    return {
        "id": f"https://ostby.example/canvas/{name}", "type": "Canvas",
        "label": {"none": [label]} if label else None,
        "items": [{"type": "AnnotationPage", "items": [painting]}], **fields,
    }  # fmt: skip


def manifest(*canvases: object, **fields: object) -> dict[str, Any]:
    return {
        "@context": "http://iiif.io/api/presentation/3/context.json",
        "id": "https://ostby.example/log", "type": "Manifest", "label": {"de": ["Das Logbuch"]},
        "items": canvases, **fields,
    }  # fmt: skip


def link(url: str, media_type: str, profile: str = "") -> list[dict[str, str]]:
    return [{"id": url, "type": "Dataset", "format": media_type, "profile": profile}]


def note(text: object, motivation: object = "supplementing", **fields: object) -> dict[str, Any]:
    body = {"type": "TextualBody", "value": text, "format": "text/plain"}
    return {"type": "Annotation", "motivation": motivation, "body": body, **fields}


@dataclass
class Library:
    """A library on this machine, and the collection `c` that is built of it."""

    site: Site
    folder: Path

    def serves(self, name: str, answer: Answer) -> str:
        return self.site.serves(f"/{name}", answer)

    def build(self, *urls: str, **options: object) -> BuildReport:
        given = {**GIVEN, "source": list(urls), **options}
        sources = locate_iiif([], IiifReader(), given, self.folder)
        chosen = BuildOptions("c", "iiif", limits=ReadingLimits(workers=0))
        return build(self.folder, sources, IiifReader(), HashEmbedder(), chosen, silent)

    def build_of(self, *canvases: object, **fields: object) -> BuildReport:
        return self.build(self.serves("log", as_json(manifest(*canvases, **fields))))

    def held(self) -> list[Document]:
        store = EmbeddedStore(self.folder)
        try:
            return [store.document(id_) for id_ in document_ids(self.folder)]
        finally:
            store.close()

    def document(self) -> Document:
        (document,) = self.held()
        return document


@pytest.fixture
def library(site: Site, tmp_path: Path) -> Library:
    return Library(site, tmp_path / "c")


ALTO_PROFILE = "http://www.loc.gov/standards/alto/v3/alto.xsd"


def test_a_manifest_is_a_document_with_a_page_for_each_canvas(library: Library) -> None:
    """Its pages have their labels, sections and pictures, whatever form each text has."""
    first = link(library.serves("1.xml", alto("The tide", "was low.")), "text/xml", ALTO_PROFILE)
    second = link(library.serves("2.html", Answer(HOCR.encode())), "text/vnd.hocr+html")
    french = Answer("Bâteaux\nici.".encode("cp1252"), headers={"Content-Type": "text/plain"})
    third = link(library.serves("3.txt", french), "text/plain")
    structures = [
        {"id": "r", "type": "Range", "label": {"en": ["Contents"]}, "items": [
            {"id": "r1", "type": "Range", "label": {"en": ["Harbour"]}, "items": [
                {"id": "https://ostby.example/canvas/a", "type": "Canvas"}]},
            {"id": "r2", "type": "Range", "label": {"en": ["Coast"]}, "items": [
                {"id": "https://ostby.example/canvas/c#xywh=0,0,9,9", "type": "Canvas"},
                {"id": "r3", "type": "Range", "label": {"en": ["Reefs"]}, "items": [
                    {"type": "SpecificResource",
                     "source": {"id": "https://ostby.example/canvas/d", "type": "Canvas"}}]}]},
        ]},
    ]  # fmt: skip
    report = library.build_of(
        canvas("a", "p. xii", seeAlso=first),
        canvas("b", "[recto]", rendering=second),
        canvas("c", "NP", seeAlso=third),
        canvas("d", "Leaf 4 [verso]", annotations=[
            {"type": "AnnotationPage", "items": [note("Reefs here."), note("No!", "commenting")]}]),
        canvas("e", "5"),
        metadata=[
            {"label": {"de": ["Verfasser"], "en": ["Author"]}, "value": {"none": ["Roe, Anna"]}},
            {"label": {"en": ["Shelf mark"]}, "value": {"none": ["<b>MC</b> 7"]}},
        ],
        rights="https://rights.example/1", navDate="1887-05-03T00:00:00Z", structures=structures,
        homepage=[{"id": "https://ostby.example/log.html", "type": "Text"}],
    )  # fmt: skip
    document = library.document()
    assert document.title == "Das Logbuch"
    pages = ["The tide\nwas low.", "Östby tide", "Bâteaux\nici.", "Reefs here."]
    assert document.text == "\n\n".join(pages)
    assert [document.text[at:].split("\n\n")[0] for at in document.pages] == pages
    assert document.printed_pages == ("xii", "recto", "", "Leaf 4 [verso]")
    assert [(document.text[s.start :][:5], s.section) for s in document.segments] == [
        ("The t", "Harbour"), ("Östby", ""), ("Bâtea", "Coast"), ("Reefs", "Coast > Reefs"),
    ]  # fmt: skip
    said = {
        "author": "Roe, Anna", "shelf_mark": "MC 7", "date": "1887-05-03",
        "rights": "https://rights.example/1", "url": "https://ostby.example/log.html",
        "manifest": "https://ostby.example/log", "ocr_confidence": 0.82,
    }  # fmt: skip
    assert said.items() <= document.metadata.items()
    assert [each.remarks for each in report.told] == [WITHOUT_TEXT[3:]]
    # a citation leads to the picture of its page
    store = EmbeddedStore(library.folder)
    passages = store.document_passages(document.id)
    store.close()
    assert [each.url for each in passages] == [PICTURE.format(name=name) for name in "abcd"]
    assert not any("page_urls" in each.metadata for each in passages)


def test_annotations_of_presentation_2_are_read_once(library: Library) -> None:
    """A list of lines beside one of their words is the same text; remarks are none."""

    def chars(text: str, motivation: str = "sc:painting", media_type: str = "text/plain") -> Any:
        body = {"@type": "cnt:ContentAsText", "chars": text, "format": media_type}
        return {"@type": "oa:Annotation", "motivation": motivation, "resource": body}

    words = {"resources": [chars(word) for word in "The tide was low.".split()]}
    lines = {
        "resources": [chars("The tide"), chars("<p>was <i>low</i>.</p>", media_type="text/html")]
    }
    more = {"resources": [chars("Ships came."), chars("Nonsense!", "oa:commenting")]}
    urls = [
        library.serves("lines", as_json({**lines, "next": f"{library.site.address}/more"})),
        library.serves("words", as_json(words)),
    ]
    library.serves("more", as_json(more))
    picture = {"@id": PICTURE.format(name="a"), "@type": "dctypes:Image"}
    page = {
        "@id": "https://ostby.example/canvas/a", "@type": "sc:Canvas", "label": "f. 1r",
        "otherContent": [{"@id": url, "@type": "sc:AnnotationList"} for url in urls],
        "images": [{"@type": "oa:Annotation", "motivation": "sc:painting", "resource": picture}],
    }  # fmt: skip
    whole = {
        "@id": "https://ostby.example/log", "@type": "sc:Manifest",
        "label": [{"@value": "Y log", "@language": "cy"}, {"@value": "Log", "@language": "en"}],
        "metadata": [
            {"label": [{"@value": "Awdur", "@language": "cy"},
                       {"@value": "Author", "@language": "en"}],
             "value": ["Roe, Anna", "Hay, Karl"]}],
        "license": "https://rights.example/1", "attribution": "Ostby <b>Archives</b>",
        "sequences": [{"@type": "sc:Sequence", "canvases": [page]}],
        "structures": [
            {"@id": "r1", "@type": "sc:Range", "label": "Harbour", "ranges": ["r2"]},
            {"@id": "r2", "@type": "sc:Range", "label": "Tides", "canvases": [page["@id"]],
             "ranges": ["r2"]},
            {"@id": "r3", "@type": "sc:Range", "label": "Walls", "canvases": [page["@id"]]},
        ],
    }  # fmt: skip
    library.build(library.serves("log", as_json(whole)))
    document = library.document()
    assert (document.title, document.printed_pages) == ("Y log", ("f. 1r",))
    assert document.text == "The tide\nwas low.\n\nShips came."
    assert [each.section for each in document.segments] == ["Harbour > Tides; Walls"]
    said = {
        "author": ("Roe, Anna", "Hay, Karl"), "rights": "https://rights.example/1",
        "attribution": "Ostby Archives", "page_urls": PICTURE.format(name="a"),
    }  # fmt: skip
    assert said.items() <= document.metadata.items()


def test_a_body_may_be_a_choice_or_a_file(library: Library) -> None:
    hocr = {"id": library.serves("1.hocr", Answer(HOCR.encode())), "format": "text/vnd.hocr+html"}
    choice = {"type": "Choice", "items": [note("One reading.")["body"], note("Another.")["body"]]}
    file = {"type": "Text", "format": "text/plain", "id": library.serves("2.txt", plain("Ships."))}
    bodies = [hocr | {"type": "Text"}, choice, file]
    library.build_of(
        *(
            canvas(str(number), annotations=[{"items": [note("") | {"body": body}]}])
            for number, body in enumerate(bodies)
        )
    )
    assert library.document().text == "Östby tide\n\nOne reading.\n\nShips."


def test_a_text_of_the_whole_is_read_where_pages_have_none(library: Library) -> None:
    text = link(library.serves("whole.txt", plain("The tide.\fShips.\f")), "text/plain")
    library.build_of(canvas("a", "1"), canvas("b", "7"), rendering=text)
    document = library.document()
    assert (document.text, document.printed_pages) == ("The tide.\n\nShips.", ("1", "7"))


def test_a_text_that_cannot_be_fetched_gives_way_to_another(library: Library) -> None:
    gone = f"{library.site.address}/gone.xml"
    other = link(library.serves("1.txt", plain("Ships.")), "text/plain")
    report = library.build_of(canvas("a", seeAlso=[*link(gone, "text/xml", ALTO_PROFILE), *other]))
    assert library.document().text == "Ships."
    assert {each.source: each.remarks for each in report.told} == {gone: ("HTTP 404 Not Found",)}


def test_a_manifest_without_any_text_is_told(library: Library, tmp_path: Path) -> None:
    pdf = link("https://ostby.example/log.pdf", "application/pdf", "Alto Adige")
    blank = [{"type": "AnnotationPage", "items": [note("A fine page.", "commenting")]}]
    path = tmp_path / "log.json"
    for page, reason in (
        (canvas("a", rendering=pdf), WITHOUT_TEXT[0]),
        (canvas("a", annotations=blank), WITHOUT_TEXT[1]),
    ):
        path.write_text(json.dumps(manifest(page)))
        assert only_reason(IiifReader().read(path, "")) == reason
    for content in ("[]", '{"type": "Collection"}', "{"):
        path.write_text(content)
        assert only_reason(IiifReader().read(path, "")) == WITHOUT_TEXT[2]


def test_the_manifests_of_collections_are_fetched_once(library: Library) -> None:
    text = [{"type": "AnnotationPage", "items": [note("Ships.")]}]
    first, second = (
        library.serves(name, as_json(manifest(canvas("a", annotations=text), label=name)))
        for name in ("log-1", "log-2")
    )
    old = {"@type": "sc:Collection", "manifests": [{"@id": first, "@type": "sc:Manifest"}]}
    inner = library.serves("inner", as_json({**old, "collections": []}))
    outer = {"type": "Collection", "items": [{"id": inner}, {"id": first}, {"id": second}]}
    top = library.site.address + "/top"
    outer["items"].append({"id": top})  # type: ignore[attr-defined]
    library.serves("top", as_json(outer))
    assert library.build(top).manifest.documents == 2
    assert library.site.visits() == {
        **dict.fromkeys(("/robots.txt", "/top", "/inner", "/log-1", "/log-2"), 1)
    }
    # nothing is asked for twice, unless somebody says so, and what is named no more goes
    assert library.build(top).unchanged
    assert library.site.visits()["/log-1"] == 1
    assert library.build(second, refresh=True).manifest.documents == 1
    assert library.site.visits()["/log-2"] == 2


def test_a_page_that_changed_is_read_again(library: Library) -> None:
    url = library.serves("1.txt", plain("Ships."))
    library.build_of(canvas("a", seeAlso=link(url, "text/plain")))
    library.serves("1.txt", plain("Walls."))
    log = f"{library.site.address}/log"
    assert library.build(log).unchanged
    library.build(log, refresh=True)
    assert library.document().text == "Walls."


def test_what_gives_no_manifest_stops(library: Library) -> None:
    url = library.serves("a", as_json({"type": "Person"}))
    with pytest.raises(SourceError, match="--allow-private"):
        library.build(url, allow_private="")
    with pytest.raises(SourceError, match=r"/a: it is no manifest or collection of IIIF\."):
        library.build(url)
    with pytest.raises(SourceError, match="--corpora is for files"):
        library.build(url, corpora=Path("corpora.toml"))
    library.site.serves("/robots.txt", Answer(b"User-agent: *\nDisallow: /"))
    with pytest.raises(SourceError, match="does not allow it"):
        library.build(url)
