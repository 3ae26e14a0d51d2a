"""Build a collection from Word files."""

from create.command import run, store_command
from create.docx.read import DocxReader


def docx_reader() -> DocxReader:
    """Build a collection from Word files; pages are those of Word's last rendering."""
    return DocxReader()


create_docx_store = store_command("docx", docx_reader)

if __name__ == "__main__":
    run(create_docx_store)
