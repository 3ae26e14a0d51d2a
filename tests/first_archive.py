"""A folder as a newcomer has one: twelve files of all kinds on a strike, two without text."""

from pathlib import Path

import docx
from reportlab.pdfgen.canvas import Canvas

from tests.samples.make_epub import epub_parts
from tests.source_files import PAGE, TEI, book, lines_of, pdf, table

LETTER = """---
title: {title}
date: {date}
author: {author}
---
{text}
"""
ANNA = (
    "Dear Karl, the dockers struck on Friday because the company cut the wage of a day from six "
    "shillings to five. Nobody works at the harbour now, and the strike is quiet."
)
KARL = (
    "Dear Anna, I read of the strike in the newspaper. The mayor wants to send for soldiers. I "
    "would rather that he sent for bread."
)
MEMOIR = [("title", "Memoir of a crane driver"), ("creator", "J. Voss"), ("date", "1931")]
CHAPTERS = {
    "The long week": "<h1>The long week</h1><p>In the long week of the strike my crane stood "
    "still, and I learned to read the sky.</p>"
}
SCAN = "scan.pdf"
PHOTO = "photo.tiff"


def write_archive(folder: Path) -> Path:
    """Write the twelve files directly into a folder, and return it."""
    folder.mkdir(parents=True)
    letters = {
        "letter-anna.md": ("Anna to Karl", "1912-05-04", "Anna Brandt", ANNA),
        "letter-karl.md": ("Karl to Anna", "1912-05-06", "Karl Brandt", KARL),
    }
    for name, (title, date, author, text) in letters.items():
        content = LETTER.format(title=title, date=date, author=author, text=text)
        (folder / name).write_text(content, encoding="utf-8")
    diary = (
        "Diary of the harbour master\n\n4 May 1912. The strike has begun. Forty ships lie at "
        "anchor, and no crane moves.\n\n11 May 1912. The strike is over.\n"
    )
    (folder / "diary.txt").write_text(diary, encoding="utf-8")
    minutes = docx.Document()
    minutes.core_properties.title = "Minutes of the strike committee"
    minutes.add_heading("Demands of the strikers", level=1)
    minutes.add_paragraph("The strikers demand six shillings a day, and that nobody is dismissed.")
    minutes.save(str(folder / "minutes.docx"))
    report = [["The company lost nine hundred pounds in the week of the strike."]]
    article = "<p>The soldiers came on Thursday. The strike ended without a shot.</p>" * 3
    interview = "I was a boy, and I carried soup to the strikers. My father was a docker."
    files = {
        "report.pdf": pdf(report, "Report of the harbour company", "The directors"),
        "newspaper.html": PAGE.format(title="Soldiers at the harbour", body=article).encode(),
        "debate.xml": TEI.format(count="Forty").encode(),
        "wages.csv": table([{"title": "Wages in 1912", "date": "1912", "text": "A docker had five "
                             "shillings a day after the cut, and a foreman nine."}]),
        "interview.jsonl": lines_of({"title": "Interview with a docker's son", "text": interview}),
        "memoir.epub": book(epub_parts("memoir", "2000-01-01T00:00:00Z", MEMOIR, CHAPTERS)),
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / PHOTO).write_bytes(b"II*\0")
    empty = Canvas(str(folder / SCAN))
    empty.rect(100, 100, 200, 200, fill=1)
    empty.save()
    return folder
