"""Build a collection from PDF files."""

from create.command import run, store_command
from create.pdf.read import PdfReader


def pdf_reader() -> PdfReader:
    """Build a collection from PDF files; page numbers are kept."""
    return PdfReader()


create_pdf_store = store_command("pdf", pdf_reader)

if __name__ == "__main__":
    run(create_pdf_store)
