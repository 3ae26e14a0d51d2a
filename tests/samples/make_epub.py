"""The files inside an EPUB 3 book, for `tests.samples.make_samples`."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""


def epub_parts(
    identifier: str,
    modified: str,
    fields: Sequence[tuple[str, str]],
    chapters: Mapping[str, str],
) -> dict[str, str]:
    """The files of a book by their paths, the one that must come first at the front.

    `fields` are Dublin Core elements, the first of them the title; `chapters` are headings and
    the XHTML of each chapter, its heading included.
    """
    files = {
        f"chapter-{number}.xhtml": (heading, body)
        for number, (heading, body) in enumerate(chapters.items(), start=1)
    }
    links = "\n".join(
        f"<li><a href={quoteattr(name)}>{escape(heading)}</a></li>"
        for name, (heading, _) in files.items()
    )
    contents = (
        f'<nav epub:type="toc" xmlns:epub="http://www.idpf.org/2007/ops"><ol>{links}</ol></nav>'
    )
    return {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/content.opf": _package(identifier, modified, fields, list(files)),
        "OEBPS/nav.xhtml": _xhtml(fields[0][1], contents),
    } | {f"OEBPS/{name}": _xhtml(heading, body) for name, (heading, body) in files.items()}


def _package(
    identifier: str, modified: str, fields: Sequence[tuple[str, str]], names: Sequence[str]
) -> str:
    elements = "\n".join(f"<dc:{name}>{escape(value)}</dc:{name}>" for name, value in fields)
    items = "\n".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    order = "\n".join(f'<itemref idref="{name}"/>' for name in names)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<package version="3.0" unique-identifier="id" xmlns="http://www.idpf.org/2007/opf">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">{identifier}</dc:identifier>
{elements}
<meta property="dcterms:modified">{modified}</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
{items}
</manifest>
<spine>
{order}
</spine>
</package>
"""


def _xhtml(title: str, body: str) -> str:
    return f"""<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en" xml:lang="en">
<head><title>{escape(title)}</title></head>
<body>
{body}
</body>
</html>
"""
