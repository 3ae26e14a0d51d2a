from collections.abc import Sequence
from io import BytesIO

import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from atlas_search.readers.pdf import PdfReader
from tests.drafts import only_draft
from tests.pdf_pages import draft, pdf, reason
from tests.samples.pdf_demo import write_demo


def test_a_sentence_may_go_on_over_the_page(tmp_path):
    found = draft(tmp_path, pdf([["The pilot boards"], ["the ship."], ["Then it enters."]]))
    assert found.text == "The pilot boards\nthe ship.\n\nThen it enters."


def test_a_word_broken_over_a_line_end_is_joined_before_it(tmp_path):
    found = draft(
        tmp_path, pdf([["The consti-", "tution, as amend-", "ed", "since 1914-", "1918."]])
    )
    assert found.text == "The constitution, as amended since 1914-\n1918."


def test_text_outside_the_visible_page_is_left_out(tmp_path):
    canvas = Canvas(stream := BytesIO(), cropBox=(50, 50, 500, 750))
    canvas.drawString(72, 700, "Visible.")
    canvas.drawString(72, 20, "proof 3 of 12 March")
    canvas.save()
    assert draft(tmp_path, stream.getvalue()).text == "Visible."


def labelled(labels: Sequence[tuple[int, str, str, int]]) -> bytes:
    """Three pages, numbered from a page on in a style (ROMAN_LOWER), with a prefix and a start."""
    stream = BytesIO()
    canvas = Canvas(stream, pageCompression=0)
    for page, style, prefix, start in labels:
        canvas.addPageLabel(page, style=style, start=start, prefix=prefix or None)
    for text in ("A preface.", "Gulls fly.", "Terns fly."):
        canvas.drawString(72, 700, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def test_the_numbers_on_the_pages_are_kept_beside_those_of_the_file(tmp_path):
    found = draft(tmp_path, labelled([(0, "ROMAN_LOWER", "", 12), (1, "ARABIC", "", 1)]))
    assert found.printed_pages == ("xii", "1", "2")
    assert found.text[found.pages[1] :].startswith("Gulls")
    appendix = draft(tmp_path, labelled([(0, "ARABIC", "A-", 7)]))
    assert appendix.printed_pages == ("A-7", "A-8", "A-9")


def test_numbers_that_only_count_the_pages_are_not_kept(tmp_path):
    assert draft(tmp_path, labelled([(0, "ARABIC", "", 1)])).printed_pages == ()
    assert draft(tmp_path, labelled([])).printed_pages == ()


def test_what_the_file_states_is_metadata(tmp_path):
    canvas = Canvas(stream := BytesIO(), invariant=1, lang="en-GB")
    canvas.setTitle("How a harbour works")
    canvas.setAuthor("A. Pilot; B. Keeper")
    canvas.setSubject("Harbours")
    canvas.setKeywords("lights, tides")
    canvas.setCreator("Typesetter 1")
    canvas.drawString(72, 700, "Text.")
    canvas.save()
    found = draft(tmp_path, stream.getvalue())
    assert found.title == "How a harbour works"
    assert found.metadata == {
        "title": "How a harbour works",
        "author": "A. Pilot; B. Keeper",
        "subject": "Harbours",
        "tags": "lights, tides",
        "creator": "Typesetter 1",
        "created": "2000-01-01",
        "modified": "2000-01-01",
        "language": "en-GB",
    }


@pytest.mark.parametrize(
    ("written_as", "day"),
    [
        (b"D:20190304101500+01'00'", "2019-03-04"),
        (b"20190304               ", "2019-03-04"),
        (b"D:201903               ", "2019-03"),
        (b"D:2019                 ", "2019"),
        (b"D:20191399000000+00'00'", None),
        (b"4 March 2019           ", None),
    ],
)
def test_a_creation_date_is_written_as_iso(tmp_path, written_as, day):
    data = pdf([["Text."]], invariant=1).replace(b"D:20000101000000+00'00'", written_as)
    assert draft(tmp_path, data).metadata.get("created") == day


def test_what_programs_write_for_nothing_is_no_metadata(tmp_path):
    found = draft(tmp_path, pdf([["Text."]]))
    assert found.title == ""
    assert set(found.metadata) == {"created", "modified"}


def test_a_title_within_a_sentence_is_not_the_heading(tmp_path):
    pages = [["Lights are old.", "Lights", "They burn."]]
    (segment,) = draft(tmp_path, pdf(pages, [("Lights", 0, 0)])).segments
    assert segment.start == len("Lights are old.\n")


def test_a_bookmark_without_a_page_begins_with_the_one_below_it(tmp_path):
    data = pdf([["Preface."], ["Lights", "burn."]], [("Part 1", 1, 0), ("Lights", 1, 1)])
    target = b"/Dest [ 4 0 R /Fit ] /First"
    assert target in data
    found = draft(tmp_path, data.replace(target, b"/First".rjust(len(target))))
    assert [(s.start, s.section) for s in found.segments] == [(found.pages[1], "Part 1 > Lights")]


def test_a_section_of_pages_without_text_at_the_end_is_left_out(tmp_path):
    found = draft(tmp_path, pdf([["One."], []], [("One", 0, 0), ("Plates", 1, 0)]))
    assert [s.section for s in found.segments] == ["One."]


def test_a_scan_is_skipped_and_told_to_be_recognised(tmp_path):
    canvas = Canvas(stream := BytesIO())
    for _ in range(3):
        canvas.drawInlineImage(Image.new("RGB", (40, 40), "grey"), 72, 600)
        canvas.showPage()
    canvas.save()
    assert reason(tmp_path, stream.getvalue()) == (
        "3 pages without text, as in a scan; run OCR (e.g. `ocrmypdf`) first"
    )


def test_pages_without_text_are_counted_and_keep_their_numbers(tmp_path):
    found = draft(tmp_path, pdf([["One."], [], ["Three."], []]))
    assert found.text == "One.\n\nThree."
    assert found.pages == (0, 4, 6, 12)
    assert found.remark == "2 of 4 pages (2, 4) without text: if they are scans, run OCR first"


def test_a_first_page_without_text_keeps_its_number(tmp_path):
    assert draft(tmp_path, pdf([[], ["Two."]])).pages == (0, 0)


def test_a_page_that_cannot_be_loaded_is_remarked(tmp_path):
    data = pdf([["One."], ["Two."]])
    assert b"/Kids [ 3 0 R 4 0 R ]" in data
    found = draft(tmp_path, data.replace(b"3 0 R 4 0 R ]", b"3 0 R 99 0 R]"))
    assert found.text == "One."
    assert found.remark == "1 of 2 pages (2) cannot be read: the file is damaged"


def test_a_password_is_asked_to_be_removed(tmp_path):
    data = pdf([["Secret."]], encrypt=StandardEncryption("user", "owner"))
    assert reason(tmp_path, data) == (
        "it is encrypted; remove the password, for instance with `qpdf --decrypt`"
    )


def test_encryption_without_a_password_to_open_is_read(tmp_path):
    data = pdf([["Open."]], encrypt=StandardEncryption("", "owner", canCopy=0))
    assert draft(tmp_path, data).text == "Open."


def test_an_empty_file_is_skipped(tmp_path):
    assert reason(tmp_path, b"") == "the file is empty"


def test_a_file_of_another_kind_is_skipped(tmp_path):
    assert reason(tmp_path, b"<html></html>") == "it is not a PDF, whatever its name says"


def test_a_truncated_file_is_skipped(tmp_path):
    data = pdf([["One."]])
    assert reason(tmp_path, data[: len(data) // 2]) == (
        "it breaks off before its end; get the whole file again"
    )


def test_a_damaged_file_is_skipped(tmp_path):
    assert reason(tmp_path, b"%PDF-1.4\nnothing\n%%EOF") == (
        "it is damaged; open it in a PDF program and save it anew, or get it again"
    )


def test_a_file_without_pages_is_skipped(tmp_path):
    kids = b"/Count 1 /Kids [ 3 0 R ]"
    data = pdf([["One."]])
    assert kids in data
    assert reason(tmp_path, data.replace(kids, b"/Count 0 /Kids [       ]")) == "it has no pages"


def test_a_missing_file_raises(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        list(PdfReader().read(tmp_path / "nowhere.pdf", ""))


def test_the_same_bytes_give_the_same_draft(tmp_path):
    data = pdf([["The consti-", "tution."], ["Two."]], [("Two", 1, 0)])
    assert draft(tmp_path, data) == draft(tmp_path, data)


def test_the_demo_is_two_corpora_of_two_pages_each(tmp_path):
    write_demo(tmp_path)
    paths = sorted(tmp_path.rglob("*.pdf"))
    assert [path.parent.name for path in paths] == ["harbour", "railway"]
    for path in paths:
        found = only_draft(PdfReader().read(path, ""))
        assert len(found.pages) == 2
        assert found.title
        assert len(found.segments) > 2


def test_the_demo_is_the_same_every_time(tmp_path):
    for name in ("a", "b"):
        write_demo(tmp_path / name)
    one, other = (
        [path.read_bytes() for path in sorted((tmp_path / name).rglob("*.pdf"))]
        for name in ("a", "b")
    )
    assert one == other
