"""Every source type by the name of its command."""

from create.beir.create_beir_store import create_beir_store
from create.chroma.create_chroma_store import create_chroma_store
from create.csv.create_csv_store import create_csv_store
from create.docx.create_docx_store import create_docx_store
from create.epub.create_epub_store import create_epub_store
from create.files.create_files_store import create_files_store
from create.html.create_html_store import create_html_store
from create.jsonl.create_jsonl_store import create_jsonl_store
from create.pdf.create_pdf_store import create_pdf_store
from create.txt.create_txt_store import create_txt_store
from create.xml.create_xml_store import create_xml_store

COMMANDS = {
    "files": create_files_store,
    "txt": create_txt_store,
    "pdf": create_pdf_store,
    "html": create_html_store,
    "xml": create_xml_store,
    "csv": create_csv_store,
    "jsonl": create_jsonl_store,
    "docx": create_docx_store,
    "epub": create_epub_store,
    "beir": create_beir_store,
    "chroma": create_chroma_store,
}
