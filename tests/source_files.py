"""Small real files of every source type: two corpora of good ones, and broken ones."""

import codecs
import csv
import json
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import docx
from docx.enum.text import WD_BREAK
from reportlab.lib.pdfencrypt import StandardEncryption
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
            if each != "beir"
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
    "beir": _beir,
}


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


# broken files

TEXT = "Café à la mode: the ledger of the harbour master lists every ship of 1887."
WRAPS = {
    "txt": "{}",
    "csv": "id,text\n1,{}\n",
    "jsonl": '{{"id": 1, "text": "{}"}}',
    "html": "<html><body><p>{}</p></body></html>",
    "xml": "<text><p>{}</p></text>",
}
"""The formats that are text."""

READ = ""
"""In place of a reason: the file gives a document."""

NO_MARK = "it looks like UTF-16 without a byte order mark"
ENCODINGS = {
    "latin-1": (b"", "latin-1", "not UTF-8 at byte"),
    "utf-16": (codecs.BOM_UTF16_LE, "utf-16-le", READ),
    "utf-16-le": (b"", "utf-16-le", NO_MARK),
    "utf-16-be": (b"", "utf-16-be", NO_MARK),
    "utf-8-sig": (codecs.BOM_UTF8, "utf-8", READ),
}
XML_REASONS = {
    "latin-1": "not UTF-8 if it declares none",
    "utf-16-le": "it is not well-formed XML",
    "utf-16-be": "it is not XML",
}
RANDOM = random.Random(1).randbytes(4000)
LAUGHS = "".join(
    f'<!ENTITY l{level} "{f"&l{level - 1};" * 10 if level else "lol"}">' for level in range(10)
)
BILLION = f"<!DOCTYPE d [{LAUGHS}]>"
OUTSIDE = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
DEEP_HTML = "<div>" * 500 + "<p>Deep in the harbour.</p>" + "</div>" * 500

Broken = Mapping[str, tuple[bytes, str]]
"""Files by name, and a part of the reason for which each is skipped."""


def broken_texts(kind: str) -> Broken:
    """A text in every encoding, without saying which."""
    reasons = XML_REASONS if kind == "xml" else {}
    return {
        f"{name}.{kind}": (
            mark + WRAPS[kind].format(TEXT).encode(encoding),
            reasons.get(name, reason),
        )
        for name, (mark, encoding, reason) in ENCODINGS.items()
    }


def broken_txt() -> Broken:
    return broken_texts("txt") | {
        "empty.txt": (b"", "it holds no text"),
        "blank.md": (b"\xef\xbb\xbf \n\t\n", "it holds no text"),
        "random.txt": (RANDOM, "not UTF-8 at byte"),
        "no end.md": (b"---\ntitle: x\n", "front matter is not valid YAML"),
        "only front.md": (b"---\ntitle: x\n---\n", "it holds no text"),
        "null.txt": (b"A null \0 in a text.", READ),
    }


def broken_csv() -> Broken:
    return broken_texts("csv") | {
        "empty.csv": (b"", "its first line is empty"),
        "random.csv": (RANDOM, "not UTF-8 at byte"),
        "no text.csv": (b"id,name\n1,x\n", "no field `text`"),
        "open quote.csv": (b'id,text\n1,"never closed\n2,x\n', "never closes"),
        "ragged.csv": (b"id,text\n1,x\n2,x,y\n", "3 values, but the header names 2"),
        "twice.csv": (b"id,text\n1,first\n1,second\n", "duplicate id '1', first at line 2"),
    }


def broken_jsonl() -> Broken:
    deep = b'{"id": "deep", "text": "A deep note.", "m": ' + b"[" * 500 + b"]" * 500 + b"}"
    deeper = b'{"text": "x", "m": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    return broken_texts("jsonl") | {
        "empty.json": (b"", "not JSON"),
        "random.jsonl": (RANDOM, "not UTF-8 at byte"),
        "cut.json": (b'[{"text": "x"}, {"te', "not JSON"),
        "array.jsonl": (b'[{"text": "x"}]', "name it `.json`"),
        "no object.jsonl": (b'"text"\n', "not a JSON object"),
        "deep.jsonl": (deep, READ),
        "deeper.jsonl": (deeper, "nested too deeply"),
        "half.jsonl": (b'{"text": "half a character: \\ud800"}', "lone surrogates replaced"),
        "twice.jsonl": (
            lines_of({"id": 1, "text": "first"}, {"id": 1, "text": "second"}),
            "duplicate id '1', first at line 1",
        ),
    }


def broken_html() -> Broken:
    bomb = f'{BILLION}<html xmlns="http://www.w3.org/1999/xhtml"><p>Ha &l9; ha</p></html>'
    thief = f'{OUTSIDE}<html xmlns="http://www.w3.org/1999/xhtml"><p>Ha &x; ha</p></html>'
    return broken_texts("html") | {
        "empty.html": (b"", "it holds no text"),
        "random.html": (RANDOM, "not UTF-8 at byte"),
        "deep.html": (DEEP_HTML.encode(), READ),
        "deeper.html": (b"<div>" * 100_000 + b"<p>Deep.</p>", "nested too deeply"),
        "script.html": (b"<html><script>write()</script></html>", "if a script writes it"),
        "billion laughs.xhtml": (bomb.encode(), READ),
        "outside.xhtml": (thief.encode(), READ),
        "cut.html": (PAGE.format(title="Cut", body="<p>A long te").encode()[:-32], READ),
    }


def broken_xml() -> Broken:
    deep = "<d>" * 500 + "Deep." + "</d>" * 500
    return broken_texts("xml") | {
        "empty.xml": (b"", "the file is empty"),
        "random.xml": (RANDOM, "it is not XML"),
        "deep.xml": (deep.encode(), "nested more than 256 deep"),
        "cut.xml": (TEI.encode()[:-40], "it ends at line 6"),
        "billion laughs.xml": (f"{BILLION}<d><p>&l9;</p></d>".encode(), "entities multiply"),
        "outside.xml": (f"{OUTSIDE}<d><p>Ha &x;</p></d>".encode(), "other files are never read"),
        "far away.xml": (b'<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd"><d>Far</d>', READ),
    }


def broken_pdf() -> Broken:
    whole = good_files("pdf")["town/charter.pdf"]
    locked = pdf([["Secret."]], encrypt=StandardEncryption("password", canPrint=0))
    return {
        "empty.pdf": (b"", "the file is empty"),
        "random.pdf": (RANDOM, "it is not a PDF"),
        "encrypted.pdf": (locked, "password"),
        "cut.pdf": (whole[: len(whole) // 2], "breaks off"),
        "no pages.pdf": (pdf([[]]), "no text"),
    }


def broken_docx() -> Broken:
    whole = good_files("docx")["farm/will.docx"]
    part = "word/document.xml"
    body = '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    text = f"{body}<w:body><w:p><w:r><w:t>Ha {{}} ha</w:t></w:r></w:p></w:body></w:document>"
    old = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(1000)
    return {
        "empty.docx": (b"", "the file is empty"),
        "random.docx": (RANDOM, "it is not a Word file"),
        "cut.docx": (whole[: len(whole) // 2], "breaks off before its end"),
        "old.docx": (old, "Word file of the old kind"),
        "plain zip.docx": (book({"a.txt": "not a document"}), "python-docx cannot open it"),
        "encrypted.docx": (old + "EncryptedPackage".encode("utf-16-le"), "it is encrypted"),
        "bomb.docx": (with_part(whole, part, " " * 20_000_000), "it would unpack to"),
        "billion laughs.docx": (
            with_part(whole, part, BILLION + text.format("&l9;")),
            "cannot open it",
        ),
        "outside.docx": (with_part(whole, part, OUTSIDE + text.format("&x;")), READ),
    }


def broken_epub() -> Broken:
    whole = good_files("epub")["farm/almanac.epub"]
    part = "OEBPS/chapter-1.xhtml"
    text = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Ha {} ha</p></body></html>'
    return {
        "empty.epub": (b"", "the file is empty"),
        "random.epub": (RANDOM, "it is not an EPUB"),
        "cut.epub": (whole[: len(whole) // 2], "breaks off before its end"),
        "plain zip.epub": (book({"a.txt": "not a book"}), "META-INF/container.xml is missing"),
        "bomb.epub": (with_part(whole, part, " " * 20_000_000), "it would unpack to"),
        "billion laughs.epub": (with_part(whole, part, BILLION + text.format("&l9;")), READ),
        "outside.epub": (with_part(whole, part, OUTSIDE + text.format("&x;")), READ),
    }


BROKEN: dict[str, Callable[[], Broken]] = {
    "txt": broken_txt,
    "csv": broken_csv,
    "jsonl": broken_jsonl,
    "html": broken_html,
    "xml": broken_xml,
    "pdf": broken_pdf,
    "docx": broken_docx,
    "epub": broken_epub,
}
