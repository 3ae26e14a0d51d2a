"""Web pages: main text, sections, what they state, encodings and damage."""

from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft, Skipped
from atlas_search.readers.fetch import PageOrigin, save_page
from atlas_search.readers.html import NO_MAIN_TEXT, HtmlReader

SAT = (
    "The court sat on <time>17 May 1954</time> and heard counsel for both sides, who spoke, as the "
    "record has it, until the lamps were lit; the reporter noted every word of it."
)
ROSE = (
    "It rose at six. Of the argument on costs nothing was written down, although the clerk had "
    "been told to do so, and the bench asked for the record again in the following term."
)
PAGE = f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>The hearing - Court Reports</title></head>
<body>
  <header><a href="/">Court Reports</a></header>
  <nav><ul><li><a href="/a">All reports</a></li><li><a href="/b">About us</a></li></ul></nav>
  <div class="page">
    <article>
      <div class="top"><h1>The hearing</h1></div>
      <p class="standfirst">Two days in May.</p>
      <p>{SAT}</p>
      <div class="wrap"><h2>Costs &amp; fees</h2></div>
      <p>{ROSE}</p>
      <table>
        <tr><th>Fee</th><th>Paid&nbsp;by</th></tr>
        <tr><td>£2 10s.</td><td>the appellant</td></tr>
      </table>
      <figure><img src="x.png"><figcaption>The bench in 1954</figcaption></figure>
      <h3>Order</h3>
      <pre>IT IS ORDERED
   that costs lie.</pre>
      <aside><p>1. The reporter’s own notes are in the archive of the court, in two boxes, where
      they were found again in 1988 by the clerk and bound in one volume.</p></aside>
      <div class="share"><a href="#">Share this</a> <a href="#">Print</a></div>
    </article>
    <div id="comments"><p>{ROSE.replace("It", "Comment: it")}</p></div>
    <aside><p>More: <a href="/c">Another hearing that was held in another year, and its order,
    with all that was said about it then and later</a></p></aside>
  </div>
  <footer><p>© Court Reports. All rights in the reports are reserved, whatever use is made of them,
  and whoever makes it, in this country or in any other, now or later.</p></footer>
</body></html>"""
TEXT = """The hearing

Two days in May.

{sat}

Costs & fees

{rose}

Fee | Paid by

Fee: £2 10s. | Paid by: the appellant

The bench in 1954

Order

IT IS ORDERED
   that costs lie.

1. The reporter’s own notes are in the archive of the court, in two boxes, where they were found \
again in 1988 by the clerk and bound in one volume.""".format(
    sat=SAT.replace("<time>", "").replace("</time>", ""), rose=ROSE
)


def read(folder: Path, content: str | bytes, **options: object) -> Draft:
    draft = _read(folder, content, **options)
    assert isinstance(draft, Draft), draft
    return draft


def reason(folder: Path, content: str | bytes, **options: object) -> str:
    skipped = _read(folder, content, **options)
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason


def _read(
    folder: Path,
    content: str | bytes,
    name: str = "a.html",
    encoding: str = "",
    whole_page: bool = False,
) -> Draft | Skipped:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (only,) = HtmlReader(whole_page).read(folder / name, encoding)
    return only


def stating(folder: Path, head: str, body: str = f"<p>{SAT}</p>") -> dict[str, object]:
    """The metadata of a page with this in its head, but for the title."""
    page = f"<html><head><meta charset=utf-8>{head}</head><body>{body}</body></html>"
    return {name: value for name, value in read(folder, page).metadata.items() if name != "title"}


def test_the_main_text_is_kept_word_for_word_without_what_is_around_it(tmp_path: Path) -> None:
    assert read(tmp_path, PAGE).text == TEXT


def test_each_heading_starts_a_section(tmp_path: Path) -> None:
    draft = read(tmp_path, PAGE)
    assert draft.segments == (
        Segment(0, "The hearing"),
        Segment(TEXT.index("Costs"), "The hearing > Costs & fees"),
        Segment(TEXT.index("Order"), "The hearing > Costs & fees > Order"),
    )


def test_a_whole_page_keeps_menus_comments_and_footers(tmp_path: Path) -> None:
    draft = read(tmp_path, PAGE, whole_page=True)
    for text in ("Court Reports", "Share this", "Comment: it rose", "© Court Reports"):
        assert text in draft.text
    assert draft.remark == ""


def test_whole_pages_are_read_again_after_main_texts() -> None:
    assert HtmlReader(True).options != HtmlReader(False).options


def test_all_columns_of_a_page_laid_out_as_a_table_are_kept(tmp_path: Path) -> None:
    page = f"<body><table><tr><td>Menu</td><td><p>{SAT}</p><p>{ROSE}</p></td></tr></table></body>"
    assert read(tmp_path, page).text.endswith(TEXT.split("\n\n")[2] + "\n\n" + ROSE)


def test_a_section_trafilatura_leaves_out_is_kept_between_those_it_finds(tmp_path: Path) -> None:
    lost = ROSE.replace("six", "seven")
    page = (
        f"<body><div id=content><div class=text><p>{SAT}</p></div>"
        f"<div class=related-widget><p>{lost}</p></div>"
        f"<div class=text><p>{ROSE}</p></div></div></body>"
    )
    assert lost in read(tmp_path, page).text


def test_a_text_without_paragraphs_is_read_to_its_end(tmp_path: Path) -> None:
    page = (
        f"<body><div><font><b>Mr. HAY</b>: {SAT}<br><br><b>Mr. ROE</b>: {ROSE}</font></div></body>"
    )
    said = TEXT.split("\n\n")[2]
    assert read(tmp_path, page).text == f"Mr. HAY: {said}\n\nMr. ROE: {ROSE}"


def test_a_page_without_main_text_is_kept_whole_with_a_remark(tmp_path: Path) -> None:
    draft = read(tmp_path, '<body><a href="/a">A link</a> <button>Go</button></body>')
    assert (draft.text, draft.remark) == ("A link", NO_MAIN_TEXT)


def test_text_that_stands_only_in_a_script_is_not_cited(tmp_path: Path) -> None:
    script = '<script type="application/ld+json">{"@type":"Article","articleBody":"%s"}</script>'
    draft = read(tmp_path, f"<head>{script % (ROSE * 3)}</head><body><p>Loading</p></body>")
    assert draft.text == "Loading"


def test_reading_again_gives_the_same(tmp_path: Path) -> None:
    assert read(tmp_path, PAGE) == read(tmp_path, PAGE)


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>The hearing - Court Reports</title>", "The hearing"),
        ("<title>Report 7 &mdash; 1954</title>", "Report 7 — 1954"),
        (
            '<meta property="og:title" content="A &quot;hearing&quot;"><title>x</title>',
            'A "hearing"',
        ),
        ('<meta name="DC.title" content=" By  the archive "><title>x</title>', "By the archive"),
        ("", "The hearing"),
        ("<title>The hearing of 4 Quay Street</title>", "The hearing of 4 Quay Street"),
    ],
)
def test_the_title_is_stated_or_a_heading(tmp_path: Path, head: str, title: str) -> None:
    page = f"<html><head><meta charset=utf-8>{head}</head><body><h1>The hearing</h1><p>{SAT}</p>"
    draft = read(tmp_path, page)
    assert (draft.title, draft.metadata["title"]) == (title, title)


def test_a_library_states_a_page_in_dublin_core_and_highwire_tags(tmp_path: Path) -> None:
    assert stating(
        tmp_path,
        """<meta name="citation_author" content="Lane, Ann"><meta name="author" content="admin">
        <meta name="citation_author" content="Roe, J."><meta name="DC.date.issued" content="1954">
        <meta name="citation_journal_title" content="Notes"><meta name="DC.language" content="en">
        <meta name="DC.publisher" content="An Archive"><meta name="keywords" content="costs, fees">
        <link rel="canonical" href="https://example.org/7">""",
    ) == {
        "author": ["Lane, Ann", "Roe, J."],
        "date": "1954",
        "source": "Notes",
        "language": "en",
        "publisher": "An Archive",
        "tags": "costs, fees",
        "url": "https://example.org/7",
    }


def test_a_newspaper_states_a_page_in_json_and_open_graph(tmp_path: Path) -> None:
    assert stating(
        tmp_path,
        """<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
        {"@type": "WebSite", "name": "no"}, {"@type": ["NewsArticle"], "headline": "Costs",
        "datePublished": "2016-03-04T23:30:00-05:00", "dateModified": "2020-01-01",
        "author": [{"@type": "Person", "name": "Ann Lane"}], "publisher": {"name": "The Paper"},
        "keywords": ["costs", "fees"], "inLanguage": "en-GB"}]}</script>
        <meta property="og:url" content="https://example.org/7?utm=1">
        <link rel="canonical" href="/7"><meta property="article:author" content="https://x.org/a">""",
    ) == {
        "date": "2016-03-04T23:30:00-05:00",
        "modified": "2020-01-01",
        "author": "Ann Lane",
        "publisher": "The Paper",
        "tags": ["costs", "fees"],
        "language": "en-GB",
        "url": "https://example.org/7",
    }


@pytest.mark.parametrize(
    "time",
    [
        '<time pubdate datetime="2016-03-04">last Friday</time>',
        '<time itemprop="datePublished">2016-03-04</time>',
        '<time class="entry-date published" datetime="2016-03-04T10:00">Friday</time>',
        '<span itemprop="datePublished" content="2016-03-04">Friday</span>',
    ],
)
def test_a_time_marked_as_that_of_publication_is_the_date(tmp_path: Path, time: str) -> None:
    assert str(stating(tmp_path, "", f"{time}<p>{SAT}</p>")["date"]).startswith("2016-03-04")


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
def test_a_date_is_never_guessed(tmp_path: Path, head: str) -> None:
    body = f"<time datetime=2016-03-04>4 March</time><p>{SAT}</p><p>Posted on 4 March 2016</p>"
    assert "date" not in stating(tmp_path, head, body)


def test_times_of_several_pages_are_not_the_date_of_one(tmp_path: Path) -> None:
    others = "".join(f"<time class=published datetime=2016-03-0{n}>x</time>" for n in (4, 5))
    assert "date" not in stating(tmp_path, "", f"<p>{SAT}</p>{others}")


@pytest.mark.parametrize("href", ["http://[bad", "/relative", "javascript:void(0)", ""])
def test_a_link_that_is_no_web_address_is_not_the_url(tmp_path: Path, href: str) -> None:
    assert "url" not in stating(tmp_path, f'<link rel="canonical" href="{href}">')


@pytest.mark.parametrize("json", ["{", "[" * 100_000, '"text"', '[1, null, {"@graph": 3}]'])
def test_json_that_cannot_be_read_states_nothing(tmp_path: Path, json: str) -> None:
    assert stating(tmp_path, f'<script type="application/ld+json">{json}</script>') == {}


def test_a_fetched_page_names_where_and_when_it_was_read(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    origin = PageOrigin("https://example.org/read", "2026-01-02")
    save_page(page, b'<link rel=canonical href="https://example.org/other"><p>Text', origin)
    (draft,) = HtmlReader().read(page, "")
    assert isinstance(draft, Draft)
    assert draft.metadata == {"url": "https://example.org/read", "fetched": "2026-01-02"}


def test_a_damaged_note_is_named(tmp_path: Path) -> None:
    (tmp_path / ".a.html.json").write_text("{}{")
    assert reason(tmp_path, PAGE) == ".a.html.json is damaged: delete it and fetch the page again"


ACCENTS = "<p>“Où est l’été ?” coûte 5 €</p>"


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
def test_a_page_is_read_in_the_encoding_it_states(tmp_path: Path, head: str, encoding: str) -> None:
    draft = read(tmp_path, f"{head}<body>{ACCENTS}".encode(encoding))
    assert (draft.text, draft.remark) == ("“Où est l’été ?” coûte 5 €", "")


def test_an_encoding_is_assumed_where_a_page_states_none(tmp_path: Path) -> None:
    latin = "<body><p>l'été".encode("latin-1")
    assert reason(tmp_path, latin).startswith("not UTF-8 at byte ")
    assert read(tmp_path, latin, encoding="cp1252").text == "l'été"
    stated = "<meta charset=utf-8><body><p>l'été"
    assert read(tmp_path, stated, encoding="cp1252").text == "l'été"


def test_a_wrong_statement_is_overruled_only_if_asked_for(tmp_path: Path) -> None:
    wrong = "<meta charset=utf-8><body><p>l'été".encode("cp1252")
    assert reason(tmp_path, wrong).startswith("not UTF-8 at byte 31")
    draft = read(tmp_path, wrong, encoding="cp1252")
    assert draft.text == "l'été"
    assert draft.remark.startswith("read as cp1252: it is not utf-8, which it states to be")


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    assert reason(tmp_path, b"<meta charset=klingon><p>\xe9").startswith(
        "there is no encoding `klingon`"
    )


def test_the_server_knows_the_encoding_better_than_the_page(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    content = "<meta charset=utf-8><p>l'été".encode("cp1252")
    save_page(page, content, PageOrigin("https://example.org", "2026-01-02", charset="iso-8859-1"))
    (draft,) = HtmlReader().read(page, "")
    assert isinstance(draft, Draft)
    assert draft.text == "l'été"


XHTML = f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="cy"><head><title/><script src="a.js"/></head>
<body><h1>Yr&nbsp;achos</h1><p>{ROSE}</p></body></html>"""


def test_xhtml_is_read_as_xml(tmp_path: Path) -> None:
    draft = read(tmp_path, XHTML, name="a.xhtml")
    assert draft.text == f"Yr achos\n\n{ROSE}"
    assert draft.metadata == {"title": "Yr achos", "language": "cy"}


def test_xhtml_that_is_not_well_formed_is_read_as_html(tmp_path: Path) -> None:
    broken = f"<html><body><p>One<br>two &unknown; & three<p>{ROSE}</body>"
    assert read(tmp_path, broken, name="a.xhtml").text == (f"One\ntwo &unknown; & three\n\n{ROSE}")


def test_an_external_entity_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    doctype = f'<!DOCTYPE html [<!ENTITY f SYSTEM "{(tmp_path / "secret.txt").as_uri()}">]>'
    page = f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>a &f; b</p></body></html>'
    assert "secret" not in read(tmp_path, page, name="a.xhtml").text


@pytest.mark.parametrize("content", [b"", b" \n", b"\0\0", b"<!-- only this -->", b"\xef\xbb\xbf"])
def test_an_empty_file_is_skipped(tmp_path: Path, content: bytes) -> None:
    assert reason(tmp_path, content) == "it holds no text"


def test_a_page_written_by_a_script_is_skipped_with_advice(tmp_path: Path) -> None:
    page = "<body><div id=app></div><script>render()</script><noscript>Enable it</noscript></body>"
    assert "save it from there" in reason(tmp_path, page)


def test_a_page_500_elements_deep_is_read(tmp_path: Path) -> None:
    page = f"<body>{'<div>' * 500}<p>{SAT}</p>{'</div>' * 500}<p>{ROSE}</p></body>"
    assert read(tmp_path, page).text == "\n\n".join([TEXT.split("\n\n")[2], ROSE])


@pytest.mark.parametrize("tag", ["div", "span", "blockquote", "b"])
def test_a_page_too_deep_to_be_read_in_full_is_skipped(tmp_path: Path, tag: str) -> None:
    page = f"<body><p>{SAT}</p>{f'<{tag}>' * 5000}<p>{ROSE}</p></body>"
    assert "nested too deeply" in reason(tmp_path, page)


def test_a_page_on_one_line_of_megabytes_is_read_in_full(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n}. {ROSE}" for n in range(5000)]
    page = f"<body><div>{''.join(f'<p>{text}</p>' for text in paragraphs)}</div></body>"
    assert read(tmp_path, page).text == "\n\n".join(paragraphs)


def test_one_word_of_megabytes_is_read_in_full(tmp_path: Path) -> None:
    assert len(read(tmp_path, f"<body><p>{'x' * 11_000_000}</p></body>").text) == 11_000_000


def test_entities_and_control_characters_become_what_a_browser_shows(tmp_path: Path) -> None:
    draft = read(
        tmp_path, "<body><p>&lt;b&gt; caf&eacute; &#x2014; 5&nbsp;&euro; so\xadft \0nul</p>"
    )
    assert draft.text == "<b> café — 5 € soft nul"
