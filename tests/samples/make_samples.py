"""Writes the PDF, Word and EPUB samples from the texts in `tests/samples/texts`.

    python -m tests.samples.make_samples

A text is Markdown with front matter like the other samples; `legal_uk/x.pdf.md` becomes
`create/samples/legal_uk/x.pdf`. The same texts give the same bytes every time: dates are fixed, and
nothing is compressed, since zlib does not give the same bytes everywhere.
"""

import re
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import docx
import frontmatter
from docx.document import Document
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate

from atlas_search.core.files import bundled_folder
from tests.samples.make_epub import epub_parts

HERE = Path(__file__).parent
TEXTS = HERE / "texts"
SAMPLES = bundled_folder("samples")
MADE = datetime(2000, 1, 1)
"""The creation date that the files state; reportlab gives no other choice."""

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_PAGE = "<!-- page -->"
_MARGIN = 72
_WORD_STYLES = {"Normal", "Default Paragraph Font", "Title", "Heading 1", "Heading 2", "Heading 3"}


@dataclass(frozen=True)
class Block:
    """A paragraph, or with a `level` from 1 a heading of the text. `_PAGE` is a page break."""

    text: str
    level: int = 0


@dataclass(frozen=True)
class Sample:
    """One text: its front matter and its blocks."""

    name: str
    metadata: Mapping[str, str]
    blocks: Sequence[Block]

    @property
    def title(self) -> str:
        """The title of the document."""
        return self.metadata["title"]

    @property
    def imprint(self) -> str:
        """The line below the title in a format without fields for it."""
        origin = self.metadata.get("court") or self.metadata["body"]
        date, source, url = (self.metadata[name] for name in ("date", "source", "url"))
        return f"{origin}, {date}. Source: {source}. {url}"


def made() -> Iterator[tuple[Path, bytes]]:
    """The path of each file below the samples folder and what it holds, in order of path."""
    for path in sorted(TEXTS.rglob("*.md")):
        target = path.relative_to(TEXTS).with_suffix("")
        yield target, _WRITERS[target.suffix](_sample(path, target))


def main() -> None:
    """Write every file."""
    for target, content in made():
        (SAMPLES / target).write_bytes(content)


def _sample(path: Path, target: Path) -> Sample:
    text = frontmatter.load(str(path))
    return Sample(
        name=target.as_posix(),
        metadata={name: str(value) for name, value in text.metadata.items()},
        blocks=[_block(block) for block in text.content.split("\n\n")],
    )


def _block(text: str) -> Block:
    marks, _, rest = text.partition(" ")
    return Block(rest, len(marks)) if re.fullmatch("#+", marks) else Block(text)


def _pdf(sample: Sample) -> bytes:
    """A4 pages, with an outline of the headings."""
    stream = BytesIO()
    document = SimpleDocTemplate(
        stream,
        pagesize=A4,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        invariant=1,
        pageCompression=0,
        lang="en",
        title=sample.title,
        author=sample.metadata["author"],
        subject=f"{sample.metadata['source']}. {sample.metadata['url']}",
        keywords=sample.metadata["tags"],
    )
    document.afterFlowable = lambda flowable: _outline(document, flowable)
    document.build(list(_flowables(sample)))
    return stream.getvalue()


def _flowables(sample: Sample) -> Iterator[Flowable]:
    styles = getSampleStyleSheet()
    yield Paragraph(escape(sample.title), styles["Title"])
    yield Paragraph(escape(sample.imprint), styles["Italic"])
    for block in sample.blocks:
        if block.text == _PAGE:
            yield PageBreak()
        elif block.level:
            anchor = f"<a name={quoteattr(block.text)}/>"
            yield Paragraph(anchor + escape(block.text), styles[f"Heading{block.level}"])
        else:
            yield Paragraph(escape(block.text), styles["BodyText"])


def _outline(document: SimpleDocTemplate, flowable: Flowable) -> None:
    if isinstance(flowable, Paragraph) and flowable.style.name.startswith("Heading"):
        heading = flowable.getPlainText()
        document.canv.addOutlineEntry(heading, heading)


def _docx(sample: Sample) -> bytes:
    """Headings in Word's styles; `##` of the text is its Heading 1."""
    document = docx.Document()
    document.add_heading(sample.title, level=0)
    document.add_paragraph(sample.imprint)
    for block in sample.blocks:
        if block.level:
            document.add_heading(block.text, level=block.level - 1)
        else:
            document.add_paragraph(block.text)
    _set_properties(document, sample)
    _drop_unused_parts(document)
    stream = BytesIO()
    document.save(stream)
    with zipfile.ZipFile(stream) as written:
        return _zip({name: written.read(name) for name in written.namelist()})


def _set_properties(document: Document, sample: Sample) -> None:
    properties = document.core_properties
    properties.title = sample.title
    properties.author = sample.metadata["author"]
    properties.subject = sample.metadata["source"]
    properties.keywords = sample.metadata["tags"]
    properties.identifier = sample.metadata["url"]
    properties.language = "en"
    properties.content_status = sample.metadata["status"]
    properties.comments = ""
    properties.last_modified_by = ""
    properties.created = properties.modified = MADE


def _drop_unused_parts(document: Document) -> None:
    """The template brings 900 kB of table styles and a picture."""
    for style in list(document.styles):
        if style.name not in _WORD_STYLES:
            style.delete()
    for part in (document.part, document.part.package):
        for id_, relation in list(part.rels.items()):
            if relation.reltype.endswith(("/stylesWithEffects", "/thumbnail", "/customXml")):
                del part.rels[id_]


def _epub(sample: Sample) -> bytes:
    """A book, one file a chapter; `#` of the text begins a chapter."""
    starts = [at for at, block in enumerate(sample.blocks) if block.level == 1]
    ends = [*starts[1:], len(sample.blocks)]
    chapters = {
        sample.blocks[start].text: "\n".join(map(_html, sample.blocks[start:end]))
        for start, end in zip(starts, ends, strict=True)
    }
    fields = [
        ("title", sample.title),
        ("identifier", sample.metadata["url"]),
        ("language", "en"),
        ("date", sample.metadata["date"]),
        *(("subject", tag) for tag in sample.metadata["tags"].split(", ")),
        ("source", sample.metadata["source"]),
        ("rights", "CC0 1.0"),
    ]
    identifier = uuid.uuid5(uuid.NAMESPACE_URL, sample.name).urn
    parts = epub_parts(identifier, f"{MADE.isoformat()}Z", fields, chapters)
    return _zip({name: text.encode() for name, text in parts.items()})


def _html(block: Block) -> str:
    tag = f"h{block.level}" if block.level else "p"
    return f"<{tag}>{escape(block.text)}</{tag}>"


def _zip(parts: Mapping[str, bytes]) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, content in parts.items():
            info = zipfile.ZipInfo(name, _ZIP_TIME)
            info.create_system = 3  # ZipInfo takes that of the machine
            archive.writestr(info, content)
    return stream.getvalue()


_WRITERS: dict[str, Callable[[Sample], bytes]] = {".pdf": _pdf, ".docx": _docx, ".epub": _epub}

if __name__ == "__main__":
    main()
