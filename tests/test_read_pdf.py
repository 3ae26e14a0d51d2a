from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from atlas_search.readers import Draft
from atlas_search.readers.pdf.read import PdfReader
from tests.drafts import only_draft, only_reason
from tests.samples.pdf_demo import write_demo

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


def written(folder: Path, data: bytes) -> Path:
    path = folder / "paper.pdf"
    path.write_bytes(data)
    return path


def draft(folder: Path, data: bytes) -> Draft:
    return only_draft(PdfReader().read(written(folder, data), ""))


def reason(folder: Path, data: bytes) -> str:
    return only_reason(PdfReader().read(written(folder, data), ""))


def test_pages_begin_where_their_text_does(tmp_path):
    found = draft(tmp_path, pdf([["Page one."], ["Page two."], ["Page three."]]))
    assert found.text == "Page one.\n\nPage two.\n\nPage three."
    assert found.pages == (0, 11, 22)
    assert found.text[found.pages[1] :].startswith("Page two.")


def test_lines_stay_as_printed_and_gaps_part_paragraphs(tmp_path):
    found = draft(tmp_path, pdf([["A harbour", "shelters ships.", "", "A mole", "breaks waves."]]))
    assert found.text == "A harbour\nshelters ships.\n\nA mole\nbreaks waves."


def test_lines_of_one_distance_throughout_are_one_paragraph(tmp_path):
    found = draft(tmp_path, pdf([["one", "", "two", "", "three"]]))
    assert found.text == "one\ntwo\nthree"


def test_the_lines_of_a_paragraph_become_one_and_short_lines_stay(tmp_path: Path) -> None:
    lines = [
        "THE HARBOUR",
        "A harbour shelters ships from the open",
        "sea, and from the wind.",
        "1. The mole breaks the waves of the sea.",
        "2. The quay is where ships are unloaded.",
    ]
    assert draft(tmp_path, pdf([lines])).text == (
        "THE HARBOUR\nA harbour shelters ships from the open sea, and from the wind.\n"
        "1. The mole breaks the waves of the sea.\n2. The quay is where ships are unloaded."
    )


def test_heads_and_feet_that_run_on_are_read_once(tmp_path: Path) -> None:
    bodies = ["Ships came in the spring and", "went again with the autumn.", "Nobody wrote of it."]
    pages = [
        ["Harbour Board", "", "", body, "", "", f"- {number} -"]
        for number, body in enumerate(bodies, start=7)
    ]
    found = draft(tmp_path, pdf(pages))
    assert found.text == (
        "Harbour Board\nShips came in the spring and\nwent again with the autumn.\n\n"
        "Nobody wrote of it."
    )
    assert [found.text[start:][:5] for start in found.pages] == ["Harbo", "went ", "Nobod"]


def test_a_superscript_does_not_part_paragraphs(tmp_path):
    canvas = Canvas(stream := BytesIO())
    canvas.drawString(72, 700, "The lights of the harbour were moved,")
    canvas.drawString(72, 686, "as the pilots had asked")
    canvas.drawString(72, 672, "for years.")
    canvas.setFont("Helvetica", 7)
    canvas.drawString(60, 690, "1")
    canvas.save()
    assert "\n\n" not in draft(tmp_path, stream.getvalue()).text


def test_a_sentence_may_go_on_over_the_page(tmp_path):
    found = draft(tmp_path, pdf([["The pilot boards"], ["the ship."], ["Then it enters."]]))
    assert found.text == "The pilot boards\nthe ship.\n\nThen it enters."


def test_a_word_broken_over_a_line_end_is_joined_before_it(tmp_path):
    found = draft(
        tmp_path, pdf([["The consti-", "tution, as amend-", "ed", "since 1914-", "1918."]])
    )
    assert found.text == "The constitution, as amended since 1914-\n1918."


def test_a_hyphen_before_a_capital_stays(tmp_path):
    found = draft(tmp_path, pdf([["An X-", "Ray of ANGLO-", "SAXON law by Mr Smith-", "Jones."]]))
    assert found.text == "An X-Ray of ANGLOSAXON law by Mr Smith-Jones."


def test_a_hyphen_stays_that_the_document_writes_elsewhere(tmp_path):
    found = draft(tmp_path, pdf([["A well-", "known case."], ["It is well-known."]]))
    assert found.text == "A well-known case.\n\nIt is well-known."


def test_a_hyphen_at_the_end_of_a_page_stays(tmp_path):
    assert draft(tmp_path, pdf([["A consti-"], ["tution."]])).text == "A consti-\ntution."


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


def test_sections_begin_at_the_line_that_has_the_bookmark_and_are_named_as_it_is(tmp_path):
    pages = [["Preface", "x"], ["1 Harbours", "Text.", "1.1 Lights", "More.", "2.Tides", "End."]]
    outline = [("Harbours", 1, 0), ("Lights", 1, 1), ("2. Tides", 1, 0)]
    found = draft(tmp_path, pdf(pages, outline))
    assert [(found.text[s.start :].split("\n")[0], s.section) for s in found.segments] == [
        ("1 Harbours", "1 Harbours"),
        ("1.1 Lights", "1 Harbours > 1.1 Lights"),
        ("2.Tides", "2.Tides"),
    ]


def test_a_line_that_begins_with_the_bookmark_is_its_heading(tmp_path: Path) -> None:
    page = ["Article 12. Of tides.", "", "", "Text of two", "short lines.", "", ""]
    page += [
        "Article 1 bis. Of buoys.",
        "",
        "",
        "Article 1. Of lamps.",
        "",
        "",
        "The end",
        "of it.",
    ]
    found = draft(tmp_path, pdf([page], [("Article 1", 0, 0)]))
    (segment,) = found.segments
    assert segment.section == "Article 1. Of lamps."
    assert found.text[segment.start :].startswith("Article 1. Of lamps.")


def test_prose_that_begins_with_the_bookmark_does_not_name_the_section(tmp_path: Path) -> None:
    page = ["Text of two", "short lines.", "", "", "Harbours: they shelter ships from the sea, and"]
    page += ["from the wind, and from whoever", "comes.", "", "", "The end", "of it."]
    found = draft(tmp_path, pdf([page], [("Harbours", 0, 0)]))
    (segment,) = found.segments
    assert (found.text[segment.start :][:9], segment.section) == ("Harbours:", "Harbours")


def test_a_heading_below_a_short_paragraph_is_a_line_of_its_own(tmp_path: Path) -> None:
    lines = [
        "Article 5.",
        "The harbour belongs to the town of Northport.",
        "Article 6.",
        "",
        "",
        "Ships that come by night wait for a pilot at the mole, unless the harbour master",
        "has told them otherwise by lamp, and pay for him as the board has laid down in its",
        "rules, which the master keeps, and which he shows to whoever asks for them by day,",
        "on the quay.",
    ]
    text = draft(tmp_path, pdf([lines])).text
    assert text.startswith(
        "Article 5.\nThe harbour belongs to the town of Northport.\nArticle 6.\n\nShips"
    )
    assert text.count("\n") == 4


def test_a_section_whose_title_is_on_no_line_begins_with_its_page(tmp_path):
    found = draft(tmp_path, pdf([["Preface."], ["Of harbours."]], [("Harbours", 1, 0)]))
    assert [(s.start, s.section) for s in found.segments] == [(found.pages[1], "Harbours")]


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
