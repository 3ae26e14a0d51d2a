"""Small files made to crash, to hang or to flood whoever reads them.

Each is written anew: none is large, and none is from anywhere.
"""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.broken_files import BILLION, DEEP_HTML
from tests.source_files import book, good_files, with_part

LINE = 300_000
"""Characters of a line that patterns are tried on."""

CHAPTER = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Ha {} ha</p></body></html>'
_CONTAINER = """<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
"""
_PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>
{items}</manifest><spine>{spine}</spine></package>"""
_ITEM = '<item id="{0}" href="{1}" media-type="application/xhtml+xml"/>'


def deep_front_matter(levels: int = 50_000) -> bytes:
    """A list in a list in a list, in YAML."""
    return b"---\na: " + b"[" * levels + b"]" * levels + b"\n---\nSheep.\n"


def indented_front_matter(levels: int = 3_000) -> bytes:
    """The same with indentation for brackets."""
    lines = "".join(f"{' ' * level}a:\n" for level in range(levels))
    return f"---\n{lines}---\nSheep.\n".encode()


def dashed_front_matter(levels: int = 50_000) -> bytes:
    """The same with a dash for each level, all in one line."""
    return b"---\na:\n " + b"- " * levels + b"x\n---\nSheep.\n"


def merged_front_matter(levels: int = 40) -> bytes:
    """Each level merges the one before twice: a million million keys."""
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, levels)]
    return ("---\n" + "\n".join(lines) + "\n---\nSheep.\n").encode()


def bombed_front_matter(levels: int = 40) -> bytes:
    """Each level holds the one before ten times: aliases for more than can be counted."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return ("---\n" + "\n".join(lines) + "\n---\nSheep.\n").encode()


def epub_of_repeats(times: int = 20_000, characters: int = 60_000) -> bytes:
    """A book whose reading order names its one chapter again and again."""
    spine = '<itemref idref="a"/>' * times
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "book.opf": _PACKAGE.format(items=_ITEM.format("a", "a.xhtml"), spine=spine),
        "a.xhtml": CHAPTER.format("sheep " * (characters // 6)),
    }
    return book(parts)


def epub_of_aliases(times: int = 20_000, characters: int = 60_000) -> bytes:
    """The same by as many names for the one chapter."""
    items = "".join(_ITEM.format(f"a{n}", f"x/{n}/../../a.xhtml") for n in range(times))
    spine = "".join(f'<itemref idref="a{n}"/>' for n in range(times))
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "book.opf": _PACKAGE.format(items=items, spine=spine),
        "a.xhtml": CHAPTER.format("sheep " * (characters // 6)),
    }
    return book(parts)


def epub_that_leads_out() -> bytes:
    """A book whose chapter is to be a file of the machine."""
    parts = {
        "META-INF/container.xml": _CONTAINER,
        "book.opf": _PACKAGE.format(
            items=_ITEM.format("a", "../../../../../../etc/passwd"), spine='<itemref idref="a"/>'
        ),
    }
    return book(parts)


def wide_csv(columns: int = 20_000) -> bytes:
    """A table that is all header."""
    names = ",".join(f"c{number}" for number in range(columns))
    return f"id,text,{names}\n1,Sheep.{',' * columns}\n".encode()


def flate_pdf(megabytes: int = 600) -> bytes:
    """A page whose content is a string of so many megabytes, deflated a thousandfold."""
    packer = zlib.compressobj(9)
    packed = packer.compress(b"BT /F1 9 Tf 9 9 Td (")
    for _ in range(megabytes):
        packed += packer.compress(b"a" * 1_000_000)
    packed += packer.compress(b") Tj ET") + packer.flush()
    return _pdf(
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream" % (len(packed), packed),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    )


def circular_pdf(pages: int = 1_000_000) -> bytes:
    """A tree of pages that holds itself, and says how many they are."""
    return _pdf(
        b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count %d>>" % pages,
        b"<</Type/Pages/Kids[2 0 R]/Count 9>>",
    )


def docx_of_one_part_twice() -> bytes:
    """A Word file whose list of parts names one stretch of bytes a thousand times."""
    whole = good_files("docx")["farm/will.docx"]
    return with_part(whole, "word/document.xml", "<a>" + "<b>" * 100_000)


def deep_html(levels: int = 100_000) -> bytes:
    """Open elements, none of which is closed."""
    return b"<html><body>" + b"<div>" * levels + b"Sheep."


def deep_xml(levels: int = 100_000) -> bytes:
    """Elements in elements, all of them closed."""
    return b"<text>" + b"<p>" * levels + b"Sheep." + b"</p>" * levels + b"</text>"


def long_json_line(megabytes: int = 200) -> bytes:
    """One record, one line."""
    return b'{"text": "' + b"sheep and wool " * (megabytes * 1_000_000 // 15) + b'"}\n'


def deep_json(levels: int = 100_000) -> bytes:
    """A record with a list in a list in a list."""
    return b'{"text": "Sheep.", "a": ' + b"[" * levels + b"]" * levels + b"}\n"


def combining(megabytes: int = 10) -> bytes:
    """One letter with millions of marks."""
    return b"a" + "\u0301".encode() * (megabytes * 500_000)


def lines_for_patterns() -> dict[str, bytes]:
    """A long line each of what patterns of words, dates, numbers and marks begin with."""
    said = {
        "spaces": " ",
        "tabs": "\t",
        "dots": ".",
        "dashes": "-",
        "digits": "1",
        "brackets": "(",
        "squares": "[",
        "braces": "{",
        "angles": "<",
        "quotes": '"',
        "hashes": "#",
        "stars": "*",
        "lows": "_",
        "equals": "=",
        "ats": "@",
        "slashes": "/",
        "colons": ":",
        "commas": ",",
        "pipes": "|",
        "ticks": "`",
        "bangs": "![",
        "letters": "a",
        "capitals": "A",
        "initials": "A. ",
        "numbers": "1. ",
        "pairs": "a. ",
        "dashed": "a-",
        "dotted": "1.",
        "signed": "Mr. ",
        "returns": "\r",
        "lines": "\n",
        "feeds": "\f",
        "entities": "&#",
        "fields": "a: ",
    }
    return {
        name: (f"Sheep {part * (LINE // len(part))}\x07 end.").encode()
        for name, part in said.items()
    }


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "deep.md": deep_front_matter,
    "indented.md": indented_front_matter,
    "dashed.md": dashed_front_matter,
    "merged.md": merged_front_matter,
    "aliases.md": bombed_front_matter,
    "repeats.epub": epub_of_repeats,
    "names.epub": epub_of_aliases,
    "out.epub": epub_that_leads_out,
    "laughs.epub": lambda: with_part(
        good_files("epub")["farm/almanac.epub"],
        "OEBPS/chapter-1.xhtml",
        BILLION + CHAPTER.format("&l9;"),
    ),
    "wide.csv": wide_csv,
    "flate.pdf": flate_pdf,
    "circle.pdf": circular_pdf,
    "deep.docx": docx_of_one_part_twice,
    "deep.html": deep_html,
    "closed.html": lambda: DEEP_HTML.encode(),
    "deep.xml": deep_xml,
    "laughs.xml": lambda: (BILLION + "<d><p>&l9;</p></d>").encode(),
    "laughs.xhtml": lambda: (BILLION + CHAPTER.format("&l9;")).encode(),
    "deep.jsonl": deep_json,
    "marks.txt": combining,
}


def _pdf(*objects: bytes) -> bytes:
    """A file of these objects, the second of which is the tree of pages."""
    body = b"%PDF-1.7\n"
    places = []
    for number, content in enumerate((b"<</Type/Catalog/Pages 2 0 R>>", *objects), start=1):
        places.append(len(body))
        body += b"%d 0 obj" % number + content + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(places) + 1,
        len(body),
    )
    return body + head + table + tail


def write_hostile(folder: Path, name: str) -> Path:
    """One of them, written into a folder."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(HOSTILE[name]())
    return path
