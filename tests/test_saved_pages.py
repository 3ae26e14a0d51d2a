"""Web pages as sites and generators write them: titles, dates, captions, links to places."""

from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking, passage_spans
from atlas_search.readers import Draft
from atlas_search.readers.html import HtmlReader
from tests.cuts import document
from tests.drafts import only_draft, only_reason

MET = (
    "The harbour board met on Tuesday and heard what the pilots had to say about the new buoys, "
    "which nobody had asked for, and which nobody, as it seemed, had any wish to pay for either."
)
ROSE = MET.replace("met on Tuesday", "rose at four").replace("pilots", "masters")
ABSTRACT = "港務委員會星期二開會聽取引水員對新浮標的意見而沒有人要求過這些浮標也沒有人願意為它們付錢委員會四點休會未作表決下個月再議"  # noqa: E501


def read(folder: Path, body: str, head: str = "") -> Draft:
    page = f"<html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    return read_bytes(folder, page.encode())


def read_bytes(folder: Path, content: bytes) -> Draft:
    (folder / "a.html").write_bytes(content)
    return only_draft(HtmlReader().read(folder / "a.html", ""))


@pytest.mark.parametrize(
    ("head", "h1", "title"),
    [
        ("<title>Buoys — Harbours 0.4 documentation</title>", "Buoys<a href=#b>¶</a>", "Buoys"),
        ("<title>Northport - On buoys</title>", "On buoys", "On buoys"),
        ('<meta property="og:title" content="On buoys | Northport">', "On buoys", "On buoys"),
        (
            '<meta property="og:title" content="On buoys | Northport">'
            '<meta property="og:site_name" content="Northport">',
            "",
            "On buoys",
        ),
        (
            '<meta property="og:title" content="On buoys and their cost - Northport">',
            "Northport",
            "On buoys and their cost - Northport",
        ),
        ("<title>Buoys: on their cost</title>", "Buoys", "Buoys"),
        ("<title>buoys_final.docx</title>", "", ""),
        ("<title>Buoys - and lamps</title>", "", "Buoys - and lamps"),
    ],
)
def test_a_title_is_without_the_name_of_its_site(
    tmp_path: Path, head: str, h1: str, title: str
) -> None:
    body = f"<h1>{h1}</h1><article><p>{MET}</p></article>" if h1 else f"<p>{MET}</p>"
    assert read(tmp_path, body, head).title == title


def test_the_link_of_a_place_to_itself_is_no_part_of_it(tmp_path: Path) -> None:
    link = '<a href="#x" class="pilcrow">¶</a>'
    draft = read(tmp_path, f"<article><h1>Buoys{link}</h1><p>{MET}{link}</p></article>")
    assert draft.text == f"Buoys\n\n{MET}"
    assert draft.segments[0].section == "Buoys"


def test_a_sign_that_is_no_link_stays(tmp_path: Path) -> None:
    assert read(tmp_path, f"<p>§ 4 and C# {MET}</p>").text.startswith("§ 4 and C#")


def test_a_date_behind_its_short_form_is_read(tmp_path: Path) -> None:
    published = '<abbr class="published" title="2016-05-08T00:55">12:55 AM</abbr>'
    assert read(tmp_path, f"<p>{MET}</p>{published}").metadata["date"] == "2016-05-08T00:55"


def test_text_that_is_utf8_is_read_so_whatever_the_page_states(tmp_path: Path) -> None:
    draft = read_bytes(tmp_path, "<meta charset=shift_jis><body><p>l'été — ça va".encode())
    assert draft.text == "l'été — ça va"
    assert draft.remark == "read as utf-8: it is not shift_jis, which it states to be"


def test_text_in_neither_encoding_is_refused_for_the_one_that_is_stated(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_bytes(b"<meta charset=shift_jis><body><p>caf\xe9")
    assert only_reason(HtmlReader().read(page, "")).startswith("not cp932 at byte")


@pytest.mark.parametrize(
    "caption",
    [
        '<div class="wp-caption"><img src="b.png"><p>A buoy, painted red, at low tide in June.</p>'
        "</div>",
        "<figure><figcaption><div>A buoy, painted red, at low tide in June.</div></figcaption>"
        "</figure>",
        "<dl><dt>[1]</dt><dd><div>A buoy, painted red, at low tide in June.</div></dd></dl>",
    ],
)
def test_captions_and_references_of_the_main_text_are_kept(tmp_path: Path, caption: str) -> None:
    draft = read(tmp_path, f"<article><p>{MET}</p>{caption}<p>{ROSE}</p></article>")
    assert "A buoy, painted red, at low tide in June." in draft.text


def test_a_caption_that_is_a_link_only_is_left_out(tmp_path: Path) -> None:
    link = '<div class="caption"><a href="/b">Another page about buoys that were painted</a></div>'
    draft = read(tmp_path, f"<article><p>{MET}</p>{link}<p>{ROSE}</p></article>")
    assert draft.text == f"{MET}\n\n{ROSE}"


def test_a_paragraph_of_chinese_is_prose_though_it_is_short(tmp_path: Path) -> None:
    assert len(ABSTRACT) < 120
    body = f"<article><header><div>{ABSTRACT}</div></header><p>{MET}</p><p>{ROSE}</p></article>"
    assert ABSTRACT in read(tmp_path, body).text


def test_a_group_of_headings_is_one_heading_and_no_passage(tmp_path: Path) -> None:
    group = "<hgroup>\n <h2>IV</h2>\n <p>Of <i>buoys</i></p>\n</hgroup>"
    draft = read(tmp_path, f"<article><h1>Harbours</h1>{group}<p>{MET}</p></article>")
    assert draft.text == f"Harbours\n\nIV\nOf buoys\n\n{MET}"
    assert [segment.section for segment in draft.segments] == [
        "Harbours",
        "Harbours > IV Of buoys",
    ]
    cut = document(draft.text, (0,), *draft.segments)
    (span,) = passage_spans(cut, chunking(), None)
    assert draft.text[slice(*span)] == MET
