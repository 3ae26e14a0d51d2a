"""PDF files of lines of text."""

from collections.abc import Sequence
from io import BytesIO

from reportlab.pdfgen.canvas import Canvas

Entry = tuple[str, int, int]
"""A bookmark: its title, its page from 0, its level from 0."""


def pdf(pages: Sequence[Sequence[str]], outline: Sequence[Entry] = (), **options: object) -> bytes:
    """Pages of lines 14 points apart; an empty line is a gap between paragraphs."""
    stream = BytesIO()
    canvas = Canvas(stream, pageCompression=0, **options)
    for number, lines in enumerate(pages):
        for title, page, level in outline:
            if page == number:
                canvas.bookmarkPage(title)
                canvas.addOutlineEntry(title, title, level)
        for place, line in enumerate(lines):
            canvas.drawString(72, 700 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()
