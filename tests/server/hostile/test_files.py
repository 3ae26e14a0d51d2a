"""Small files made to crash, to hang or to flood whoever reads them, and bundled samples that are
damaged: each costs only itself.

Each hostile file is written anew: none is large, and none is from anywhere.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from atlas_search.building.chunking import chunking
from atlas_search.building.prepare import Preparation, Remark
from atlas_search.building.source_file import CorpusRule
from atlas_search.building.sources import by_rule
from atlas_search.building.workers import End, ReadingLimits, read_files
from atlas_search.readers.files import files_reader
from tests.broken_files import BILLION, DEEP_HTML
from tests.places import ROOT
from tests.server.hostile.builds import build_with
from tests.source_builds import documents, remarks
from tests.source_files import book, good_files, with_part

pytestmark = pytest.mark.thorough

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
    """Lists in lists, with indentation for brackets."""
    lines = "".join(f"{' ' * level}a:\n" for level in range(levels))
    return f"---\n{lines}---\nSheep.\n".encode()


def dashed_front_matter(levels: int = 50_000) -> bytes:
    """Lists in lists, with a dash for each level, all in one line."""
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
    """A book with as many names for its one chapter."""
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
    parts = {
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
        for name, part in parts.items()
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


READ = ""
"""In place of a reason: the file gives a document, and nothing is said of it."""
REASONS = {
    "deep.md": "its front matter is nested too deeply",
    "indented.md": "its front matter is nested too deeply",
    "dashed.md": "its front matter is nested too deeply",
    "merged.md": "its front matter is not valid YAML: it holds more than 10000 values",
    "aliases.md": "its front matter is not valid YAML: it holds more than 10000 values",
    "repeats.epub": READ,
    "names.epub": READ,
    "out.epub": "it holds no text; 1 of 1 parts missing or damaged (../../",
    "laughs.epub": "1 of 1 parts not well-formed, read as HTML",
    "wide.csv": READ,
    "flate.pdf": "reading it crashed (SIGABRT), maybe for want of memory; it was left out",
    "circle.pdf": "none of its pages can be read: the file is damaged",
    "deep.docx": "python-docx cannot open it (Excessive depth",
    "deep.html": "its elements are nested too deeply for the parser",
    "closed.html": READ,
    "deep.xml": "line 1: elements are nested more than 256 deep",
    "laughs.xml": "line 1: its entities multiply into more text",
    "laughs.xhtml": "no main text was found",
    "deep.jsonl": "line 1: not read as JSON: it is nested too deeply",
    "marks.txt": READ,
}
WITH_TEXT = {name for name, reason in REASONS.items() if not reason}
LIMITS = ReadingLimits(workers=2, seconds=120, memory=1000)


def test_hostile_files_cost_only_themselves(tmp_path: Path) -> None:
    for name in HOSTILE:
        write_hostile(tmp_path / "sources" / "town", name)
    (tmp_path / "sources" / "town" / "good.txt").write_text("Sheep give wool.")
    report = build_with(
        files_reader(), tmp_path / "sources", tmp_path / "c", LIMITS, chunking("whole")
    )
    messages, counts = remarks(report), documents(report)
    assert counts["town/good.txt"] == 1
    assert {
        name for name in HOSTILE if not messages[f"town/{name}"].startswith(REASONS[name])
    } == set()
    assert {name for name in WITH_TEXT if not counts[f"town/{name}"]} == set()


def test_one_line_larger_than_memory_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sources" / "town").mkdir(parents=True)
    (tmp_path / "sources" / "town" / "good.txt").write_text("Sheep give wool.")
    (tmp_path / "sources" / "town" / "long.jsonl").write_bytes(long_json_line())
    limits = ReadingLimits(workers=1, memory=300)
    report = build_with(files_reader(), tmp_path / "sources", tmp_path / "c", limits)
    assert remarks(report) == {
        "town/good.txt": "",
        "town/long.jsonl": "reading it took more than 300 MB of memory; it was left out. "
        "If nothing is wrong with it, raise FILE_MEMORY_MB",
    }


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_no_pattern_goes_wild_on_a_long_line(tmp_path: Path, suffix: str) -> None:
    for name, line in lines_for_patterns().items():
        (tmp_path / f"{name}{suffix}").write_bytes(line)
    reader = files_reader()
    sources = by_rule([tmp_path], reader.suffixes, CorpusRule("town"))
    preparation = Preparation("files", reader, chunking(), _no_tokens, "")
    ends = {}
    with closing(read_files(preparation, LIMITS, sources.files)) as reading:
        for file, given in reading:
            *documents, ends[file.name] = (each for each in given if not isinstance(each, Remark))
            assert len(documents) == 1, file.name
    assert [name for name, end in ends.items() if not isinstance(end, End) or end.failure] == []
    assert len(ends) == len(lines_for_patterns())


def _no_tokens(text: str) -> list[tuple[int, int]]:
    raise NotImplementedError(text)


# files damaged as a disk, a transfer or a hand damages them


CHANCE = Random(14)
DAMAGES: Mapping[str, Callable[[bytes], bytes]] = {
    "bits": lambda data: _changed(data, len(data) // 200 + 1),
    "begun": lambda data: data[: len(data) // 2],
    "headless": lambda data: data[len(data) // 3 :],
    "empty": lambda _: b"",
    "zeros": lambda data: b"\x00" * len(data),
    "noise": lambda data: CHANCE.randbytes(min(len(data), 20_000)),
    "twice": lambda data: data + data,
    "holes": lambda data: b"".join(
        data[at : at + 400] + b"\x00" * 100 for at in range(0, len(data), 500)
    ),
    "shuffled": lambda data: b"".join(
        sorted(data[at : at + 512] for at in range(0, len(data), 512))
    ),
}


def _changed(data: bytes, times: int) -> bytes:
    changed = bytearray(data)
    for _ in range(times):
        changed[CHANCE.randrange(len(changed))] ^= 1 << CHANCE.randrange(8)
    return bytes(changed)


def samples() -> Iterator[Path]:
    """The smallest bundled sample of each format."""
    smallest: dict[str, Path] = {}
    for path in sorted(ROOT.glob("create/samples/*/*"), key=lambda path: path.stat().st_size):
        smallest.setdefault(path.suffix, path)
    yield from smallest.values()


def damaged() -> dict[str, bytes]:
    """Every sample in every damage, by a name that ends in its format's."""
    return {
        f"{damage}-{number}{path.suffix}": change(path.read_bytes())
        for damage, change in DAMAGES.items()
        for number, path in enumerate(samples())
    }


def test_damaged_files_cost_only_themselves(tmp_path: Path) -> None:
    files = damaged()
    assert len(files) >= 60
    folder = tmp_path / "sources" / "town"
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "good.txt").write_text("Sheep give wool.")
    report = build_with(files_reader(), tmp_path / "sources", tmp_path / "c", LIMITS)
    counts, messages = documents(report), remarks(report)
    assert counts["town/good.txt"] == 1
    unread = [name for name in files if not counts[f"town/{name}"]]
    assert [name for name in unread if not messages[f"town/{name}"]] == []
    leaks = ("Traceback", str(tmp_path))
    assert [
        name for name, remark in messages.items() if any(each in remark for each in leaks)
    ] == []
