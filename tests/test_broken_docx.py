"""Word files that are empty, damaged, hostile or of another kind."""

import pytest

from atlas_search.readers.docx import DocxReader
from tests.word_files import W, changed, draft, paragraphs, reason, run, saved


def test_a_file_without_text_is_skipped(tmp_path):
    assert reason(tmp_path, saved(paragraphs(" "))) == "it holds no text"


def test_a_document_without_body_is_skipped(tmp_path):
    data = changed(
        saved(paragraphs(run("Text."))), {"word/document.xml": f"<w:document {W}/>".encode()}
    )
    assert reason(tmp_path, data) == "it holds no text"


def test_broken_core_properties_leave_the_text(tmp_path):
    data = changed(saved(paragraphs(run("Text."))), {"docProps/core.xml": b"<other/>"})
    assert draft(tmp_path, data).metadata == {}


def test_an_empty_file_is_skipped(tmp_path):
    assert reason(tmp_path, b"") == "the file is empty"


def test_a_file_of_another_kind_is_skipped(tmp_path):
    assert reason(tmp_path, b"%PDF-1.4") == "it is not a Word file, whatever its name says"


def test_a_truncated_file_is_skipped(tmp_path):
    data = saved(paragraphs(run("Text.")))
    assert reason(tmp_path, data[: len(data) // 2]) == (
        "it breaks off before its end or is damaged; get the whole file again"
    )


@pytest.mark.parametrize("part", ["word/document.xml", "[Content_Types].xml", "_rels/.rels"])
def test_a_file_that_lacks_a_part_is_skipped(tmp_path, part):
    data = changed(saved(paragraphs(run("Text."))), {part: b""})
    assert reason(tmp_path, data).startswith("python-docx cannot open it (")


def test_a_file_with_broken_xml_is_skipped(tmp_path):
    data = changed(saved(paragraphs(run("Text."))), {"word/document.xml": b"<w:document>"})
    assert reason(tmp_path, data).endswith("; open it in Word and save it as .docx anew")


def test_an_entity_is_not_expanded(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    xml = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document {W}><w:body>'
        "<w:p><w:r><w:t>Text.</w:t></w:r></w:p><w:p><w:r><w:t>&e;</w:t></w:r></w:p>"
        "</w:body></w:document>"
    )
    data = changed(saved(paragraphs(run("Text."))), {"word/document.xml": xml.encode()})
    assert draft(tmp_path, data).text == "Text."


def test_a_zip_bomb_is_refused(tmp_path):
    data = changed(saved(paragraphs(run("Text."))), {"word/media/x.bin": bytes(30_000_000)})
    assert reason(tmp_path, data).startswith("it would unpack to 30,")


def test_encryption_is_asked_to_be_removed(tmp_path):
    data = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(504) + "EncryptedPackage".encode("utf-16-le")
    assert reason(tmp_path, data) == "it is encrypted; remove the password in Word and save it anew"


def test_the_old_format_is_asked_to_be_converted(tmp_path):
    data = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(504)
    assert "(.doc); save it as .docx" in reason(tmp_path, data)


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        list(DocxReader().read(tmp_path / "nowhere.docx", ""))
