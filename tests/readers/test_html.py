"""Web pages: main text, titles, dates, captions, encodings and damage.

Whole pages are among the cases of `cases/html`.
"""

from pathlib import Path

import pytest

from atlas_search.building.chunking import chunking, passage_spans
from atlas_search.core.domain import Document
from atlas_search.readers import Draft
from atlas_search.readers.fetch import PageOrigin, save_page
from atlas_search.readers.html import NO_MAIN_TEXT, HtmlReader
from tests.readers.conftest import Reads
from tests.readers.drafts import only_draft, only_reason

SAT = (
    "The court sat on 17 May 1954 and heard counsel for both sides, who spoke, as the record has "
    "it, until the lamps were lit; the reporter noted every word of it."
)
ROSE = (
    "It rose at six. Of the argument on costs nothing was written down, although the clerk had "
    "been told to do so, and the bench asked for the record again in the following term."
)
ABSTRACT = "港務委員會星期二開會聽取引水員對新浮標的意見而沒有人要求過這些浮標也沒有人願意為它們付錢委員會四點休會未作表決下個月再議"  # noqa: E501


def draft(reads: Reads, body: str | bytes, head: str = "", name: str = "a.html") -> Draft:
    page = f"<html><head><meta charset=utf-8>{head}</head><body>{body!s}</body></html>"
    return only_draft(reads(body if isinstance(body, bytes) else page, name))


def stating(reads: Reads, head: str, body: str = f"<p>{SAT}</p>") -> dict[str, object]:
    """The metadata of a page with this in its head, but for the title."""
    metadata = draft(reads, body, head).metadata
    return {name: value for name, value in metadata.items() if name != "title"}


def test_a_whole_page_keeps_menus_comments_and_footers(reads: Reads) -> None:
    page = Path(__file__).with_name("cases") / "html" / "page.html"
    whole = only_draft(reads(page.read_bytes(), "a.html", HtmlReader(True)))
    for text in ("Court Reports", "Share this", "Comment: it rose", "© Court Reports"):
        assert text in whole.text
    assert whole.remark == ""
    assert HtmlReader(True).options != HtmlReader(False).options


def test_all_columns_of_a_page_laid_out_as_a_table_are_kept(reads: Reads) -> None:
    table = f"<table><tr><td>Menu</td><td><p>{SAT}</p><p>{ROSE}</p></td></tr></table>"
    assert draft(reads, table).text.endswith(f"{SAT}\n\n{ROSE}")


def test_a_section_trafilatura_leaves_out_is_kept_between_those_it_finds(reads: Reads) -> None:
    lost = ROSE.replace("six", "seven")
    body = (
        f"<div id=content><div class=text><p>{SAT}</p></div>"
        f"<div class=related-widget><p>{lost}</p></div><div class=text><p>{ROSE}</p></div></div>"
    )
    assert lost in draft(reads, body).text


def test_a_text_without_paragraphs_is_read_to_its_end(reads: Reads) -> None:
    body = f"<div><font><b>Mr. HAY</b>: {SAT}<br><br><b>Mr. ROE</b>: {ROSE}</font></div>"
    assert draft(reads, body).text == f"Mr. HAY: {SAT}\n\nMr. ROE: {ROSE}"


def test_a_page_without_main_text_is_kept_whole_with_a_remark(reads: Reads) -> None:
    read = draft(reads, '<a href="/a">A link</a> <button>Go</button>')
    assert (read.text, read.remark) == ("A link", NO_MAIN_TEXT)


def test_text_that_stands_only_in_a_script_is_not_cited(reads: Reads) -> None:
    script = '<script type="application/ld+json">{"@type":"Article","articleBody":"%s"}</script>'
    assert draft(reads, "<p>Loading</p>", script % (ROSE * 3)).text == "Loading"


CAPTION = "A buoy, painted red, at low tide in June."


@pytest.mark.parametrize(
    "kept",
    [
        f'<div class="wp-caption"><img src="b.png"><p>{CAPTION}</p></div>',
        f"<figure><figcaption><div>{CAPTION}</div></figcaption></figure>",
        f"<dl><dt>[1]</dt><dd><div>{CAPTION}</div></dd></dl>",
        f"<header><div>{ABSTRACT}</div></header>",  # prose in Chinese is short
    ],
)
def test_captions_references_and_abstracts_of_the_main_text_are_kept(
    reads: Reads, kept: str
) -> None:
    text = draft(reads, f"<article><p>{SAT}</p>{kept}<p>{ROSE}</p></article>").text
    assert CAPTION in text or ABSTRACT in text


def test_a_caption_that_is_a_link_only_is_left_out(reads: Reads) -> None:
    link = '<div class="caption"><a href="/b">Another page about buoys that were painted</a></div>'
    body = f"<article><p>{SAT}</p>{link}<p>{ROSE}</p></article>"
    assert draft(reads, body).text == f"{SAT}\n\n{ROSE}"


def test_the_link_of_a_place_to_itself_is_no_part_of_it(reads: Reads) -> None:
    link = '<a href="#x" class="pilcrow">¶</a>'
    read = draft(reads, f"<article><h1>Buoys{link}</h1><p>{SAT}{link}</p></article>")
    assert read.text == f"Buoys\n\n{SAT}"
    assert read.segments[0].section == "Buoys"
    assert draft(reads, f"<p>§ 4 and C# {SAT}</p>").text.startswith("§ 4 and C#")


def test_a_group_of_headings_is_one_heading_and_no_passage(reads: Reads) -> None:
    group = "<hgroup>\n <h2>IV</h2>\n <p>Of <i>buoys</i></p>\n</hgroup>"
    read = draft(reads, f"<article><h1>Harbours</h1>{group}<p>{SAT}</p></article>")
    assert read.text == f"Harbours\n\nIV\nOf buoys\n\n{SAT}"
    assert [each.section for each in read.segments] == ["Harbours", "Harbours > IV Of buoys"]
    document = Document("d", "c", "Title", read.text, {}, "c/d", (0,), read.segments)
    (span,) = passage_spans(document, chunking(), None)
    assert read.text[slice(*span)] == SAT


@pytest.mark.parametrize(
    ("head", "h1", "title"),
    [
        ("<title>The hearing - Court Reports</title>", "The hearing", "The hearing"),
        ("<title>Report 7 &mdash; 1954</title>", "The hearing", "Report 7 — 1954"),
        ('<meta property="og:title" content="A &quot;hearing&quot;"><title>x</title>', "",
         'A "hearing"'),
        ('<meta name="DC.title" content=" By  the archive "><title>x</title>', "",
         "By the archive"),
        ("", "The hearing", "The hearing"),
        ("<title>The hearing of 4 Quay Street</title>", "The hearing",
         "The hearing of 4 Quay Street"),
        ("<title>Buoys — Harbours 0.4 documentation</title>", "Buoys<a href=#b>¶</a>", "Buoys"),
        ("<title>Northport - On buoys</title>", "On buoys", "On buoys"),
        ('<meta property="og:title" content="On buoys | Northport">', "On buoys", "On buoys"),
        ('<meta property="og:title" content="On buoys | Northport">'
         '<meta property="og:site_name" content="Northport">', "", "On buoys"),
        ('<meta property="og:title" content="On buoys and their cost - Northport">', "Northport",
         "On buoys and their cost - Northport"),
        ("<title>Buoys: on their cost</title>", "Buoys", "Buoys"),
        ("<title>buoys_final.docx</title>", "", ""),
        ("<title>Buoys - and lamps</title>", "", "Buoys - and lamps"),
    ],
)  # fmt: skip
def test_a_title_is_stated_or_a_heading_without_the_name_of_its_site(
    reads: Reads, head: str, h1: str, title: str
) -> None:
    body = f"<h1>{h1}</h1><article><p>{SAT}</p></article>" if h1 else f"<p>{SAT}</p>"
    assert draft(reads, body, head).title == title


@pytest.mark.parametrize(
    "time",
    [
        '<time pubdate datetime="2016-03-04">last Friday</time>',
        '<time itemprop="datePublished">2016-03-04</time>',
        '<time class="entry-date published" datetime="2016-03-04T10:00">Friday</time>',
        '<span itemprop="datePublished" content="2016-03-04">Friday</span>',
        '<abbr class="published" title="2016-03-04T00:55">12:55 AM</abbr>',
    ],
)
def test_a_time_marked_as_that_of_publication_is_the_date(reads: Reads, time: str) -> None:
    assert str(stating(reads, "", f"{time}<p>{SAT}</p>")["date"]).startswith("2016-03-04")


@pytest.mark.parametrize(
    "head",
    [
        '<link rel="canonical" href="https://example.org/2016/03/04/hearing">',
        '<meta property="article:modified_time" content="2016-03-04">',
        '<meta http-equiv="date" content="2016-03-04">',
        '<meta name="dcterms.created" content="2016-03-04">',
        "<title>Hearing of 4 March 2016</title>",
    ],
)
def test_a_date_is_never_guessed(reads: Reads, head: str) -> None:
    others = "".join(f"<time class=published datetime=2016-03-0{n}>x</time>" for n in (4, 5))
    body = f"<time datetime=2016-03-04>4 March</time><p>{SAT}</p><p>Posted on 4 March 2016</p>"
    assert "date" not in stating(reads, head, body)
    assert "date" not in stating(reads, head, body + others)


@pytest.mark.parametrize("href", ["http://[bad", "/relative", "javascript:void(0)", ""])
def test_a_link_that_is_no_web_address_is_not_the_url(reads: Reads, href: str) -> None:
    assert "url" not in stating(reads, f'<link rel="canonical" href="{href}">')


@pytest.mark.parametrize("json", ["{", "[" * 100_000, '"text"', '[1, null, {"@graph": 3}]'])
def test_json_that_cannot_be_read_states_nothing(reads: Reads, json: str) -> None:
    assert stating(reads, f'<script type="application/ld+json">{json}</script>') == {}


def test_a_fetched_page_names_where_and_when_it_was_read(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    content = "<meta charset=utf-8><link rel=canonical href=https://example.org/x><p>l'été"
    origin = PageOrigin("https://example.org/read", "2026-01-02", charset="iso-8859-1")
    save_page(page, content.encode("cp1252"), origin)
    read = only_draft(HtmlReader().read(page, ""))
    assert read.metadata == {"url": "https://example.org/read", "fetched": "2026-01-02"}
    assert read.text == "l'été"  # the server knows the encoding better than the page
    (tmp_path / ".a.html.json").write_text("{}{")
    assert only_reason(HtmlReader().read(page, "")) == (
        ".a.html.json is damaged: delete it and fetch the page again"
    )


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        ("<meta charset='windows-1252'>", "cp1252"),
        ("<META HTTP-EQUIV=Content-Type CONTENT='text/html; charset=ISO-8859-1'>", "cp1252"),
        ("<!-- <meta charset=utf-8> --><meta charset=macintosh>", "mac_roman"),
        ("<?xml version='1.0' encoding='UTF-8'?>", "utf-8"),
        ("<meta charset=iso-8859-1>", "utf-8-sig"),
        ("<meta charset=utf-8>", "utf-16"),
        ("<meta charset=utf-16>", "utf-8"),
        ("", "utf-8"),
    ],
)
def test_a_page_is_read_in_the_encoding_it_states(reads: Reads, head: str, encoding: str) -> None:
    page = f"{head}<body><p>“Où est l’été ?” coûte 5 €</p>".encode(encoding)
    read = only_draft(reads(page, "a.html"))
    assert (read.text, read.remark) == ("“Où est l’été ?” coûte 5 €", "")


@pytest.mark.parametrize(
    ("page", "encoding", "remark"),
    [
        ("<body><p>l'été".encode("latin-1"), "cp1252", ""),
        ("<meta charset=utf-8><body><p>l'été".encode(), "cp1252", ""),
        ("<meta charset=utf-8><body><p>l'été".encode("cp1252"), "cp1252",
         "read as cp1252: it is not utf-8, which it states to be"),
        # text that is UTF-8 is read so, whatever the page states
        ("<meta charset=shift_jis><body><p>l'été — ça va".encode(), "",
         "read as utf-8: it is not shift_jis, which it states to be"),
    ],
)  # fmt: skip
def test_an_encoding_is_assumed_where_a_page_states_none_or_a_wrong_one(
    reads: Reads, page: bytes, encoding: str, remark: str
) -> None:
    read = only_draft(reads(page, "a.html", encoding=encoding))
    assert read.text.removesuffix(" — ça va") == "l'été"
    assert read.remark.startswith(remark)
    assert bool(read.remark) == bool(remark)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (b"<body><p>l'\xe9t\xe9", "not UTF-8 at byte "),
        (b"<meta charset=utf-8><body><p>l'\xe9t\xe9", "not UTF-8 at byte 31"),
        (b"<meta charset=klingon><p>\xe9", "there is no encoding `klingon`"),
        (b"<meta charset=shift_jis><body><p>caf\xe9", "not cp932 at byte"),
        *((page, "it holds no text") for page in (b" \n", b"\0\0", b"<!-- only this -->")),
        *((f"<body><p>{SAT}</p>{f'<{tag}>' * 5000}<p>{ROSE}</p></body>".encode(),
           "its elements are nested too deeply") for tag in ("div", "span", "blockquote", "b")),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_page_that_cannot_be_read_says_why(reads: Reads, page: bytes, reason: str) -> None:
    assert only_reason(reads(page, "a.html")).startswith(reason)


def test_xhtml_that_is_not_well_formed_is_read_as_html(reads: Reads) -> None:
    broken = f"<html><body><p>One<br>two &unknown; & three<p>{ROSE}</body>"
    read = only_draft(reads(broken, "a.xhtml"))
    assert read.text == f"One\ntwo &unknown; & three\n\n{ROSE}"


def test_an_external_entity_is_not_read(reads: Reads, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    doctype = f'<!DOCTYPE html [<!ENTITY f SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]>'
    page = f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>a &f; b</p></body></html>'
    assert "secret" not in only_draft(reads(page, "a.xhtml")).text


def test_a_page_500_elements_deep_is_read(reads: Reads) -> None:
    body = f"{'<div>' * 500}<p>{SAT}</p>{'</div>' * 500}<p>{ROSE}</p>"
    assert draft(reads, body).text == f"{SAT}\n\n{ROSE}"


@pytest.mark.thorough
def test_a_page_on_one_line_of_megabytes_is_read_in_full(reads: Reads) -> None:
    paragraphs = [f"Paragraph {n}. {ROSE}" for n in range(5000)]
    body = f"<div>{''.join(f'<p>{text}</p>' for text in paragraphs)}</div>"
    assert draft(reads, body).text == "\n\n".join(paragraphs)
    assert len(draft(reads, f"<p>{'x' * 11_000_000}</p>").text) == 11_000_000


def test_entities_and_control_characters_become_what_a_browser_shows(reads: Reads) -> None:
    body = "<p>&lt;b&gt; caf&eacute; &#x2014; 5&nbsp;&euro; so\xadft \0nul</p>"
    assert draft(reads, body).text == "<b> café — 5 € soft nul"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("the tariff<sup>1</sup> of the bay", "the tariff[1] of the bay"),
        ("in May.<sup><a href='#n2'>[2]</a></sup> Then", "in May.[2] Then"),
        ("the dues<a href='#fn3'>3</a> of old", "the dues[3] of old"),
        ("the year 1887<sup>4</sup> was wet", "the year 1887[4] was wet"),
        ("40 km<sup>2</sup> and 10<sup>6</sup> men, x<sup>3</sup>", "40 km² and 10⁶ men, x³"),
        (
            "the toll<sup>1, 3–5</sup> fell 10<sup>-3</sup> m s<sup>−1</sup>",
            "the toll[1, 3–5] fell 10⁻³ m s⁻¹",
        ),
        ("the tariff<span style='font-size:8pt; vertical-align: super'>1</span>", "the tariff[1]"),
        ("the 2<sup>nd</sup> of <sup>14</sup>C", "the 2nd of 14C"),
        ("see <a href='#p4'>4</a> (<a href='#p5'>5</a>)", "see 4 (5)"),
        ("a toll<sup>12, 13</sup> was due", "a toll[12, 13] was due"),
        ("the toll<sup id='r1'><a href='#n1'>1</a></sup> was", "the toll[1] was"),
        ("the toll<a href='#n1'><sup>1</sup></a> was", "the toll[1] was"),
        ("the toll<a role='doc-noteref' href='#n1'>†</a> was", "the toll[†] was"),
        ("the toll<span class='superscript'>4</span> was", "the toll[4] was"),
        ("der Zoll<sup>1)</sup> und die Gebühr<sup>[2]</sup>", "der Zoll[1] und die Gebühr[2]"),
        ("la taxe<sup><a href='#n3'>note 3</a></sup> fut", "la taxe[note 3] fut"),
        ("die Maut<sup><a href='#a3'>Anm. 3</a></sup> war", "die Maut[Anm. 3] war"),
        ("关税<sup>1</sup>很高", "关税[1]很高"),
        ("пошлина<sup>2</sup> была", "пошлина[2] была"),
        ("40 км<sup>2</sup> и 5 см<sup>3</sup>", "40 км² и 5 см³"),
        ("Le XIX<sup>e</sup> siècle, M<sup>lle</sup> Roe", "Le XIXe siècle, Mlle Roe"),
        ("“the toll”<sup>5</sup> (the fee)<sup>6</sup>", "“the toll”[5] (the fee)[6]"),
        ("the toll<sup>1</sup><sup>,</sup><sup>2</sup> fell", "the toll[1],[2] fell"),
        ("the toll<sup><a href='#n'><i>12</i></a></sup>, and", "the toll[12], and"),
        ("the toll <sup>1</sup> fell", "the toll 1 fell"),
        ("In 1954<sup>7</sup> 12<sup>8</sup> ships", "In 1954[7] 12[8] ships"),
        ("H<sub>2</sub>O at 3 m<sup>-2</sup>", "H2O at 3 m⁻²"),
        ("the toll<sup><a href='#n'>a</a></sup> fell", "the toll[a] fell"),
        ("Gov<sup>r</sup> Hay and n<sup>o</sup> 5", "Govr Hay and no 5"),
    ],
)
def test_a_number_that_is_raised_or_linked_is_no_part_of_a_word(
    reads: Reads, body: str, text: str
) -> None:
    page = (
        f"<html><body><main><p>{body}, and {'the clerk kept the minutes ' * 8}.</p></main></body>"
    )
    assert only_draft(reads(page, "page.html")).text.startswith(text)


def test_a_short_paragraph_beside_the_only_long_one_is_kept(reads: Reads) -> None:
    page = f"<body><main><p>A toll was due.</p><p>{SAT * 3}</p><p>So it was.</p></main></body>"
    text = only_draft(reads(page, "page.html")).text
    assert text.startswith("A toll was due.\n\n")
    assert text.endswith("\n\nSo it was.")


def test_a_page_of_which_hardly_any_words_are_kept_says_so(reads: Reads) -> None:
    menu = "".join(f'<li><a href="/{n}">Port {n} of the bay</a></li>' for n in range(400))
    page = f"<body><div><ul>{menu}</ul></div><main><p>{SAT * 3}</p></main></body>"
    read = only_draft(reads(page, "page.html"))
    assert "Port 7" not in read.text
    assert "words were taken for its main text" in read.remark
    assert only_draft(reads(page, "page.html", HtmlReader(whole_page=True))).remark == ""
