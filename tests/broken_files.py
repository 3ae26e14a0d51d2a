"""Broken files of every kind, with what is said of them."""

import codecs
import random
from collections.abc import Callable

from reportlab.lib.pdfencrypt import StandardEncryption

from tests.source_files import PAGE, TEI, book, good_files, lines_of, pdf, with_part, workbook

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

Broken = dict[str, tuple[bytes, str]]
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
        "no text.csv": (b"id,name\n1,x\n", READ),
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


def broken_pptx() -> Broken:
    whole = good_files("pptx")["farm/show.pptx"]
    part = "ppt/slides/slide1.xml"
    names = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    text = f"<sld {names}><spTree><sp><txBody><a:p><a:r><a:t>Ha {{}} ha</a:t></a:r></a:p></txBody>"
    text += "</sp></spTree></sld>"
    old = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(1000)
    return {
        "empty.pptx": (b"", "the file is empty"),
        "random.pptx": (RANDOM, "it is not a PowerPoint file"),
        "cut.pptx": (whole[: len(whole) // 2], "breaks off before its end"),
        "old.pptx": (old, "PowerPoint file of the old kind (.ppt)"),
        "plain zip.pptx": (book({"a.txt": "not a talk"}), "presentation.xml is missing"),
        "bomb.pptx": (with_part(whole, part, " " * 60_000_000), "it would unpack to"),
        "billion laughs.pptx": (with_part(whole, part, BILLION + text.format("&l9;")), "not valid"),
        "outside.pptx": (with_part(whole, part, OUTSIDE + text.format("&x;")), READ),
        "deep.pptx": (with_part(whole, part, "<a>" * 500), "Excessive depth"),
    }


def broken_xlsx() -> Broken:
    whole = good_files("xlsx")["farm/flocks.xlsx"]
    part = "xl/worksheets/sheet1.xml"
    sheet = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    cell = '<c r="{}" t="inlineStr"><is><t>Ha {} ha</t></is></c>'
    rows = f'{sheet}<dimension ref="A1:XFD1048576"/><sheetData>{{}}</sheetData></worksheet>'
    text = rows.format(f"<row>{cell}</row>")
    far = rows.format(f'<row r="1048576">{cell.format("XFD1048576", "far")}</row>')
    old = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(1000)
    return {
        "empty.xlsx": (b"", "the file is empty"),
        "random.xlsx": (RANDOM, "it is not an Excel file"),
        "cut.xlsx": (whole[: len(whole) // 2], "breaks off before its end"),
        "old.xlsx": (old, "Excel file of the old kind (.xls)"),
        "plain zip.xlsx": (book({"a.txt": "not a sheet"}), "openpyxl cannot open it"),
        "bomb.xlsx": (with_part(whole, part, " " * 20_000_000), "it would unpack to"),
        "billion laughs.xlsx": (
            with_part(whole, part, BILLION + text.format("A1", "&l9;")),
            "open",
        ),
        "outside.xlsx": (with_part(whole, part, OUTSIDE + text.format("A1", "&x;")), "open it"),
        "far.xlsx": (with_part(whole, part, far), READ),
        "no text.xlsx": (workbook([["id", "text"], [1, ""], [2, "x"], [2, "y"]]), "duplicate id"),
    }


def broken_odt() -> Broken:
    whole = good_files("odt")["farm/lease.odt"]
    part = "content.xml"
    names = 'xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
    text = f"<c {names}><o:body><o:text><o:p>Ha {{}} ha</o:p></o:text></o:body></c>"
    return {
        "empty.odt": (b"", "the file is empty"),
        "random.odt": (RANDOM, "it is not an OpenDocument file"),
        "cut.odt": (whole[: len(whole) // 2], "breaks off before its end"),
        "plain zip.odt": (book({"a.txt": "not a text"}), "content.xml is missing"),
        "sheet.odt": (with_part(whole, part, "<c/>"), "another kind of OpenDocument"),
        "locked.odt": (
            with_part(whole, "META-INF/manifest.xml", "<m:encryption-data/>"),
            "encrypt",
        ),
        "bomb.odt": (with_part(whole, part, " " * 60_000_000), "it would unpack to"),
        "billion laughs.odt": (with_part(whole, part, BILLION + text.format("&l9;")), "not valid"),
        "outside.odt": (with_part(whole, part, OUTSIDE + text.format("&x;")), READ),
        "deep.odt": (with_part(whole, part, "<a>" * 500), "Excessive depth"),
    }


def broken_rtf() -> Broken:
    return {
        "empty.rtf": (b"", "the file is empty"),
        "random.rtf": (RANDOM, "it is not an RTF file"),
        "no text.rtf": (rb"{\rtf1{\fonttbl{\f0 Arial;}}}", "it holds no text"),
        "cut.rtf": (good_files("rtf")["farm/seed.rtf"][:-9], READ),
        "deep.rtf": (rb"{\rtf1 Deep." + b"{" * 100_000, READ),
        "binary.rtf": (rb"{\rtf1 Ha\bin9999999999 ha}", READ),
        "page code.rtf": (rb"{\rtf1\ansicpg99999 Ha\u-10179 ?\'81{\super 2} ha}", READ),
    }


def broken_mail() -> Broken:
    deep = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(2000))
    many = "=?utf-8?q?a?= " * 100_000
    return {
        "empty.eml": (b"", "the file is empty"),
        "random.eml": (RANDOM, "it is not a mail file"),
        "random.mbox": (RANDOM, "it is not a mail file"),
        "deep.eml": (deep.encode(), "its parts cannot be told apart"),
        "long.eml": (f"Subject: {many}\n\nHa".encode(), READ),
        "no text.eml": (b"Subject: x\n\n\n", "it holds no text"),
    }


def broken_marc() -> Broken:
    (whole,) = [data for name, data in good_files("marc").items() if name.startswith("farm")]
    return {
        "empty.mrc": (b"", "the file is empty"),
        "random.mrc": (RANDOM, "it is not a MARC file"),
        "cut.mrc": (whole + whole[:40], "record 2 is damaged"),
        "long.mrc": (b"99999" + whole[5:], "record 1 is damaged"),
        "offsets.mrc": (whole.replace(b"245", b"2\xff5"), "record 1 is damaged"),
    }


def broken_bib() -> Broken:
    return {
        "empty.bib": (b"", "the file is empty"),
        "random.bib": (RANDOM, "not UTF-8 at byte"),
        "blank.ris": (b"no record", "it holds no record"),
        "nothing.ris": (b"TY  - BOOK\nTI  - Wool\nER  - \n", "neither an abstract nor a note"),
        "open.bib": (b"@a{b, title={Wool", "line 1: this entry cannot be read"),
        "deep.bib": (b"@a{b, note=" + b"{" * 20_000, "line 1: this entry cannot be read"),
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
    "bib": broken_bib,
    "marc": broken_marc,
    "mail": broken_mail,
    "rtf": broken_rtf,
    "pptx": broken_pptx,
    "xlsx": broken_xlsx,
    "odt": broken_odt,
}
