"""The signs of an e-book's notes, and the notes."""

from pathlib import Path

import pytest

from tests.test_read_epub import book, draft
from tests.test_read_epub_pages import EPUB


def text(folder: Path, body: str) -> str:
    return draft(folder, book({"one.xhtml": f"<div {EPUB}>{body}</div>"})).text


@pytest.mark.parametrize(
    "sign",
    [
        '<a epub:type="noteref" href="notes.xhtml#n1">1</a>',
        '<sup><a epub:type="noteref" href="#n1">12</a></sup>',
        '<a class="noteref" href="#n1">1</a>',
        '<a id="FNanchor_1" href="#Footnote_1" class="fnanchor pginternal">[1]</a>',
        '<sup><a href="#n1">*</a></sup>',
        '<a href="#n1"><sup>iv</sup></a>',
        '<sup><a href="#n1">1</a>, <a href="#n2">2</a></sup>',
        '<a role="doc-noteref" href="#n1">†</a>',
    ],
)
def test_the_sign_of_a_note_sticks_to_no_word(tmp_path: Path, sign: str) -> None:
    assert text(tmp_path, f"<p>The upper <i>Savannah</i>{sign} was formerly a river.</p>") == (
        "The upper Savannah was formerly a river."
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('<p>A river.</p><p><a class="noteref" href="#r1">1</a> Of old.</p>', "1 Of old."),
        ('<ul><li>Gulls <a href="#p48">48</a></li></ul>', "Gulls 48"),
        ("<p>Of 10 m<sup>2</sup> and more</p>", "Of 10 m2 and more"),
        ('<p>See note<a class="noteref" href="#n1">on gulls</a></p>', "See noteon gulls"),
        ('<p><sup><a href="#v2">2</a></sup>And it was good.</p>', "2And it was good."),
    ],
)
def test_other_numbers_stay(tmp_path: Path, body: str, expected: str) -> None:
    assert text(tmp_path, body).endswith(expected)


def test_a_note_stays_where_it_stands(tmp_path: Path) -> None:
    aside = '<aside epub:type="footnote" id="n1"><p><a href="#r1">1</a>. A coin.</p></aside>'
    sign = '<a id="r1" epub:type="noteref" href="#n1">1</a>'
    assert text(tmp_path, f"<p>A pound{sign}</p>{aside}") == "A pound\n\n1. A coin."


def test_a_heading_has_no_sign(tmp_path: Path) -> None:
    heading = '<h1>January 1660<a epub:type="noteref" href="#n1">47</a></h1><p>Text.</p>'
    (segment,) = draft(tmp_path, book({"one.xhtml": f"<div {EPUB}>{heading}</div>"})).segments
    assert segment.section == "January 1660"
