"""Small real files of every source type, in two corpora."""

import csv
import json
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pymarc
from docx.enum.text import WD_BREAK
from reportlab.pdfgen.canvas import Canvas

from tests.hash_embedder import HashEmbedder
from tests.samples.make_epub import epub_parts

TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title>Debate on the harbour</title></titleStmt></fileDesc>
<profileDesc><creation><date when="1887-05-03">3 May 1887</date></creation></profileDesc>
</teiHeader><text><body><div type="debateSection"><head>Harbour dues</head>
<u who="#Ann"><seg>{count} ships lay in the harbour.</seg></u><pb n="2"/>
<u who="#Bob"><seg>Not one of them has paid.</seg></u></div></body></text></TEI>"""
HANSARD = """<hansard><housecommons><date format="1887-05-04">4 May 1887</date><debates><section>
<title>WOOL BILL</title><p><member>Mr. Cole</member><membercontribution>: Wool is dear.
</membercontribution></p></section></debates></housecommons></hansard>"""
PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="author" content="A. Clerk"><meta name="date" content="1887-05-03"></head><body>
<nav><a href="/">Home</a></nav><main><article><h1>{title}</h1>{body}</article></main></body></html>
"""


def good_files(kind: str, count: str = "Twelve") -> dict[str, bytes]:
    """Files of the corpora `town` and `farm` by path; `count` stands in one document only."""
    if kind == "files":
        return {
            path: content
            for each in MAKERS
            if each not in FOLDERS
            for path, content in MAKERS[each](count).items()
        }
    return MAKERS[kind](count)


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def _txt(count: str) -> dict[str, bytes]:
    ledger = f"""---
title: The ledger
date: 1887-05-03
tags: [ships, dues]
berths: 40
---
# Arrivals

{count} ships came on the tide.

# Departures

None left before the storm.
"""
    return {
        "town/ledger.md": ledger.encode(),
        "farm/wool.txt": "Sheep give wool.\fWool is spun in winter.".encode("utf-8-sig"),
    }


def _pdf(count: str) -> dict[str, bytes]:
    charter = [
        ["The charter", f"{count} ships may moor here."],
        ["Penalties", "A fine of a crown."],
    ]
    return {
        "town/charter.pdf": pdf(charter, title="The town charter", author="A. Clerk"),
        "farm/survey.pdf": pdf([["A survey of the pastures."]]),
    }


def pdf(pages: Sequence[Sequence[str]], title: str = "", author: str = "", **options: Any) -> bytes:
    """Pages of lines; the first line of each is in the outline if there is a title."""
    canvas = Canvas(stream := BytesIO(), invariant=1, **options)
    canvas.setTitle(title)
    canvas.setAuthor(author)
    for lines in pages:
        if title:
            canvas.bookmarkPage(lines[0])
            canvas.addOutlineEntry(lines[0], lines[0], 0)
        for place, line in enumerate(lines):
            canvas.drawString(72, 700 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def _html(count: str) -> dict[str, bytes]:
    notice = f"<p>{count} ships are expected.</p><h2>Tolls</h2><p>The toll is a penny.</p>"
    return {
        "town/notice.html": PAGE.format(title="A notice", body=notice).encode(),
        "farm/fair.htm": PAGE.format(title="The fair", body="<p>Lambs are sold.</p>").encode(),
    }


def _xml(count: str) -> dict[str, bytes]:
    return {
        "town/debate.xml": TEI.format(count=count).encode(),
        "farm/hansard.xml": HANSARD.encode(),
    }


def table(rows: Sequence[Mapping[str, object]], delimiter: str = ",") -> bytes:
    written = StringIO()
    writer = csv.DictWriter(written, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue().encode()


def _speeches(count: str) -> list[dict[str, object]]:
    return [
        {
            "id": "s/1",
            "title": "On ships",
            "date": "1887-05-03",
            "speaker": "Ann",
            "section": "Harbour dues",
            "page": 7,
            "text": f"{count} ships, and not one has paid.",
        },
        {
            "id": "s 2",
            "title": "On walls",
            "date": "1887",
            "speaker": "Bob",
            "section": "Sea wall",
            "page": 9,
            "text": "The wall is old.\nIt will fall.",
        },
    ]


def _csv(count: str) -> dict[str, bytes]:
    return {
        "town/ships.csv": table(_speeches(count)),
        "farm/lambs.tsv": table([{"content": "Lambs are born in spring."}], "\t"),
    }


def lines_of(*records: object) -> bytes:
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records).encode()


def _jsonl(count: str) -> dict[str, bytes]:
    extra = {"metadata": {"tags": ["ships", "dues"], "berths": 40}}
    return {
        "town/letters.jsonl": lines_of(*(speech | extra for speech in _speeches(count))),
        "farm/diary.json": json.dumps([{"text": "It rained on the hay."}]).encode(),
    }


def _docx(count: str) -> dict[str, bytes]:
    minutes = docx.Document()
    minutes.core_properties.title = "Minutes of the council"
    minutes.core_properties.author = "A. Clerk"
    minutes.add_heading("Harbour", level=1)
    minutes.add_paragraph(f"{count} ships were counted.")
    minutes.add_paragraph().add_run().add_break(WD_BREAK.PAGE)
    minutes.add_heading("Sea wall", level=1)
    minutes.add_paragraph("The wall shall be mended.")
    will = docx.Document()
    will.add_paragraph("I leave my sheep to my daughter.")
    return {"town/minutes.docx": _saved(minutes), "farm/will.docx": _saved(will)}


def _saved(document: Any) -> bytes:
    document.save(stream := BytesIO())
    return stream.getvalue()


def _epub(count: str) -> dict[str, bytes]:
    chapters = {
        "The harbour": f"<h1>The harbour</h1><p>{count} ships found shelter.</p>",
        "The sea wall": "<h1>The sea wall</h1><p>It was built of granite.</p>",
    }
    fields = [("title", "A history of the town"), ("creator", "A. Clerk"), ("date", "1887")]
    almanac = {"Spring": "<h1>Spring</h1><p>Shear the sheep in May.</p>"}
    return {
        "town/history.epub": book(epub_parts("a", "2000-01-01T00:00:00Z", fields, chapters)),
        "farm/almanac.epub": book(
            epub_parts("b", "2000-01-01T00:00:00Z", [("title", "Almanac")], almanac)
        ),
    }


def book(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip file of these parts."""
    with zipfile.ZipFile(stream := BytesIO(), "w") as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def with_part(archive: bytes, name: str, content: str) -> bytes:
    """The same zip file with one part replaced."""
    with zipfile.ZipFile(BytesIO(archive)) as before:
        parts: dict[str, str | bytes] = {each: before.read(each) for each in before.namelist()}
    assert name in parts
    return book(parts | {name: content})


def _pptx(count: str) -> dict[str, bytes]:
    talk, fair = pptx.Presentation(), pptx.Presentation()
    talk.core_properties.title, talk.core_properties.author = "A talk on the town", "A. Clerk"
    for title, line in {
        "Harbour": f"{count} ships are in port.",
        "Sea wall": "The wall is of granite.",
    }.items():
        slide = talk.slides.add_slide(talk.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text = title, line
    slide = fair.slides.add_slide(fair.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, 9, 9).text_frame.text = "Lambs are shown at the fair."
    return {"town/talk.pptx": _saved(talk), "farm/show.pptx": _saved(fair)}


def _xlsx(count: str) -> dict[str, bytes]:
    first, *_ = speeches = _speeches(count)
    return {
        "town/ships.xlsx": workbook([[*first], *([*each.values()] for each in speeches)]),
        "farm/flocks.xlsx": workbook([["Farm", "Sheep", "Wool"], ["Hill", 40, "white"]]),
    }


def workbook(*sheets: Sequence[Sequence[object]]) -> bytes:
    """A workbook of sheets of rows, `Sheet`, `Sheet1` and so on."""
    book = openpyxl.Workbook()
    for sheet in [book.active, *(book.create_sheet() for _ in sheets[1:])]:
        for row in sheets[book.index(sheet)]:
            sheet.append(row)
    # openpyxl writes the time of the day
    return with_part(_saved(book), "docProps/core.xml", CORE)


CORE = (
    '<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cp='
    '"http://schemas.openxmlformats.org/package/2006/metadata/core-properties">'
    "<dc:creator>A. Clerk</dc:creator></cp:coreProperties>"
)


def _odt(count: str) -> dict[str, bytes]:
    lines = {"Harbour": f"{count} ships lie here.", "Wall": "It is of granite."}
    report = "".join(
        f'<text:h text:outline-level="1">{title}</text:h><text:p>{line}</text:p>'
        for title, line in lines.items()
    )
    meta = "<dc:title>A report on the town</dc:title><meta:initial-creator>A. Clerk"
    return {
        "town/report.odt": opendocument(report, f"{meta}</meta:initial-creator>"),
        "farm/lease.odt": opendocument("<text:p>The pasture is let for a year.</text:p>"),
    }


ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "fo", "svg", "draw", "meta")
)


def opendocument(body: str, meta: str = "", styles: str = "") -> bytes:
    """An OpenDocument text of these elements."""
    dc = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
    parts: dict[str, str | bytes] = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "META-INF/manifest.xml": "<manifest/>",
        "meta.xml": f"<office:document-meta {ODF} {dc}>{meta}</office:document-meta>",
        "content.xml": f"<office:document-content {ODF}>{styles}<office:body><office:text>{body}"
        "</office:text></office:body></office:document-content>",
    }
    return book(parts)


def _rtf(count: str) -> dict[str, bytes]:
    heading = r"\pard\outlinelevel0 {}\par\pard "
    bylaw = (
        r"{\rtf1\ansi{\info{\title The by-laws}{\author A. Clerk}}"
        rf"{heading.format('Harbour')}{count} ships may stay.\par\page "
        rf"{heading.format('Sea wall')}Nobody may walk on it.\par}}"
    )
    return {
        "town/bylaws.rtf": bylaw.encode(),
        "farm/seed.rtf": rb"{\rtf1\ansi Oats are sown in March.\par}",
    }


def _mail(count: str) -> dict[str, bytes]:
    head = "From: {0} <{0}@example.org>\nSubject: {1}\nMessage-ID: <{2}>\nDate: {3}\n\n{4}\n\n"
    anna = "Anna", "On ships", "1@town", "Mon, 3 May 1999 10:00:00 +0200", f"{count} ships came."
    bob = "Bob", "On walls", "2@town", "Tue, 4 May 1999 10:00:00 +0200", "The wall is old."
    line = "From anna@example.org Mon May  3 10:00:00 1999\n"
    return {
        "town/letters.mbox": "".join(line + head.format(*each) for each in (anna, bob)).encode(),
        "farm/note.eml": b"From: Eve\nSubject: The shearing\n\nShearing begins in June.\n",
    }


def _marc(count: str) -> dict[str, bytes]:
    def record(number: str, title: str, *more: tuple[str, str, str]) -> bytes:
        made = pymarc.Record(force_utf8=True)
        made.add_field(pymarc.Field("001", data=number))
        for tag, code, value in (("245", "a", title), *more):
            made.add_field(pymarc.Field(tag, subfields=[pymarc.Subfield(code, value)]))
        return bytes(made.as_marc())

    ships = record("s1", "Ships /", ("520", "a", f"{count} ships are listed."))
    walls = record("w2", "Walls", ("100", "a", "Clerk, A."), ("260", "c", "1887."))
    wool = record("1", "Wool and its uses.")
    return {"town/books.mrc": ships + walls, "farm/library.marc": wool}


def _bib(count: str) -> dict[str, bytes]:
    ships = f"@article{{ships, title={{On ships}}, year=1887, abstract={{{count} ships came.}}}}"
    walls = "@book{walls, title={On walls}, author={Clerk, A.}, note={The wall is old.}}"
    return {
        "town/books.bib": f"{ships}\n{walls}\n".encode(),
        "farm/papers.ris": b"TY  - JOUR\nTI  - On wool\nAB  - Wool is warm.\nER  - \n",
    }


def _zotero(count: str) -> dict[str, bytes]:
    ships = {"itemType": "report", "key": "SHIP1111", "title": "On ships", "date": "1887"}
    ships["abstractNote"] = f"{count} ships came."
    walls = {"itemType": "letter", "key": "WALL1111", "title": "On walls", "abstractNote": "Old."}
    items = [ships, walls | {"attachments": [{"path": "files/wall.txt"}]}]
    return {
        "town/library.json": json.dumps({"items": items}).encode(),
        "town/files/wall.txt": b"The wall is old.",
        "farm/wool.txt": b"Wool is warm.",
    }


def _oai(count: str) -> dict[str, bytes]:
    def record(key: str, fields: str) -> str:
        return (
            f"<record><header><identifier>{key}</identifier></header><metadata><oai:dc "
            'xmlns:oai="http://www.openarchives.org/OAI/2.0/oai_dc/" '
            f'xmlns="http://purl.org/dc/elements/1.1/">{fields}</oai:dc></metadata></record>'
        )

    ships = (
        f"<title>On ships</title><date>1887</date><description>{count} ships came.</description>"
    )
    walls = "<title>On walls</title><creator>Clerk, A.</creator>"
    return {
        f"{place}/answer.xml": (
            '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords>'
            f"{''.join(record(*each) for each in records)}</ListRecords></OAI-PMH>"
        ).encode()
        for place, records in {
            "town": [("oai:town:1", ships), ("oai:town:2", walls)],
            "farm": [("oai:farm:1", "<title>Wool</title><subject>sheep</subject>")],
        }.items()
    }


def _iiif(count: str) -> dict[str, bytes]:
    def manifest(label: str, *pages: str) -> bytes:
        canvases = [
            {
                "label": {"none": [f"f. {number}r"]},
                "annotations": [
                    {"items": [{"motivation": "supplementing", "body": {"value": page}}]}
                ],
            }
            for number, page in enumerate(pages, start=1)
        ]
        whole = {"type": "Manifest", "label": {"en": [label]}, "items": canvases}
        pair = {"label": {"en": ["Shelf mark"]}, "value": {"en": ["MC 7"]}}
        return json.dumps(whole | {"metadata": [pair]}).encode()

    return {
        "town/ships.json": manifest("On ships", f"{count} ships came.", "Two left."),
        "farm/wool.json": manifest("Wool", "Wool is warm."),
    }


def _beir(count: str) -> dict[str, bytes]:
    return {
        "town/corpus.jsonl": lines_of(
            {"_id": "d 1", "title": "Ships", "text": f"{count} ships came.", "metadata": {"n": 1}},
            {"_id": "d/2", "title": "", "text": "The wall fell."},
        ),
        "town/queries.jsonl": lines_of({"_id": "q1", "text": "how many ships?"}),
        "town/qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td 1\t1\n",
        "farm/docs.jsonl": lines_of({"id": "1", "title": "Hay", "text": "The hay is dry."}),
    }


MAKERS = {
    "txt": _txt,
    "pdf": _pdf,
    "html": _html,
    "xml": _xml,
    "csv": _csv,
    "jsonl": _jsonl,
    "docx": _docx,
    "epub": _epub,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odt,
    "rtf": _rtf,
    "mail": _mail,
    "marc": _marc,
    "bib": _bib,
    "zotero": _zotero,
    "oai": _oai,
    "iiif": _iiif,
    "beir": _beir,
}
FETCHED = ("oai", "iiif")
"""Types whose sources are addresses, if they are not saved."""
FOLDERS = ("zotero", *FETCHED, "beir")
"""Types that read whole folders."""


def write_chroma(
    folder: Path,
    records: Mapping[str, str],
    metadata: Mapping[str, Any] | None = None,
    collection: str = "letters",
    embedder: HashEmbedder | None = None,
) -> None:
    """A Chroma collection, or more records for it: texts by id, all with the same metadata."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    found = client.get_or_create_collection(collection, embedding_function=None)
    texts = list(records.values())
    found.upsert(
        ids=list(records),
        documents=texts,
        metadatas=[{"corpus": "town"} if metadata is None else dict(metadata)] * len(texts),
        embeddings=(embedder or HashEmbedder()).embed(texts),
    )
    client.close()
