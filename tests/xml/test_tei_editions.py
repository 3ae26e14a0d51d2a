"""Editions in TEI: as printed or normalised, with pages, sections and dates."""

import pytest
from lxml import etree

from atlas_search.readers import Draft
from atlas_search.readers.xml.tei import date_of
from tests.xml.xml_drafts import HEAD, drafts, page, paragraphs, reason, speeches


def test_an_edition_is_read_as_printed() -> None:
    (draft,) = drafts("edition.xml")
    assert paragraphs(draft) == [
        "The Diary",
        "of a Member",
        "by Mary Bell",
        "Part One",
        "4 Mar.",
        "[Note: A Monday.]",
        "The Huose sat late; I stayed in Melbourne [...] alone. "
        "So much for Lyne, Barton and Lyne of Hume.",
        "[Note: Until ten.]",
        "bread\n2. ink",
        "A quoted paragraph.",
        "It ends on the next page with a word.",
        "1 April",
        "Song",
        "First line,\nsecond lyne.",
        "Ayes | 12\n| 3",
        "[Figure: A sketch of the House]",
        "Reading went well.",
        "Appendix",
        "[Note: Printed in Perth.]",
    ]


def test_an_edition_can_be_read_normalised() -> None:
    (draft,) = drafts("edition.xml", normalised=True)
    assert "4 March\n" in draft.text
    assert "The House sat late" in draft.text
    assert "second line." in draft.text
    assert draft.segments[1].section == "Part One > 4 March"


def test_divisions_are_sections_and_end() -> None:
    (draft,) = drafts("edition.xml")
    assert [(segment.section, draft.text[segment.start :][:8]) for segment in draft.segments] == [
        ("Part One", "Part One"),
        ("Part One > 4 Mar.", "4 Mar.\n\n"),
        ("Part One > 1 April", "1 April\n"),
        ("Appendix", "Appendix"),
    ]


def test_a_header_is_metadata() -> None:
    (draft,) = drafts("edition.xml")
    assert draft.title == "The Diary of a Member"
    assert draft.metadata == {
        "author": ["Mary Bell"],
        "editor": ["A. Clerk", "B. Clerk"],
        "date": "1901-03/1901-07",
        "published": "2015",
        "publisher": "Sample Press",
        "publication_place": "Perth",
        "source": "Mary Bell, Diary (Perth, 1932)",
        "language": "en",
        "tags": ["diaries", "parliament"],
        "abstract": "A diary.",
        "persons": ["Lyne", "Barton"],
        "places": ["Hume"],
    }


def test_pages_have_their_printed_numbers() -> None:
    (draft,) = drafts("edition.xml")
    assert len(draft.pages) == 8
    assert page(draft, 7).startswith("4 Mar.")
    assert page(draft, 7).endswith("It ends on")
    assert page(draft, 8).startswith("the next page")
    assert draft.remark == "page numbers out of order are kept as labels: iii"
    assert draft.printed_pages == ("", "", "", "", "", "iii", "7", "8")


def test_pages_without_numbers_are_counted(tei) -> None:
    draft = tei("<body><pb/><p>One.</p><pb/><p>Two <pb/>three.</p></body>")
    assert [page(draft, number) for number in (1, 2, 3)] == ["One.", "Two", "three."]
    assert draft.remark == ""


def test_pages_whose_numbers_make_no_sequence_are_counted_and_it_is_said(tei) -> None:
    draft = tei('<body><pb n="1r"/><p>One.</p><pb n="1v"/><p>Two.</p></body>')
    assert draft.pages == (0, 6)
    assert draft.printed_pages == ("1r", "1v")
    assert draft.remark == (
        "pages are counted from 1, as their numbers are out of order and kept as labels: 1r, 1v"
    )


def test_a_page_break_in_a_word_leaves_the_word_whole(tei) -> None:
    draft = tei('<body><pb n="1"/><p>Par-<pb n="2" break="no"/>liament</p></body>')
    assert draft.text == "Parliament"
    assert draft.pages == (0, 3)


def test_columns_count_where_there_are_no_pages(tei) -> None:
    draft = tei('<body><cb n="2"/><p>One <cb n="3"/>two.</p></body>')
    assert draft.pages == (0, 0, 4)
    assert draft.metadata["pages_are"] == "columns"


def test_a_play_is_read_with_its_speakers() -> None:
    (draft,) = drafts("drama.xml")
    assert speeches(draft) == [
        ("Act I", "", "Act I\n\nA lobby."),
        ("Act I", "The Whip", "WHIP.\n\nVote!"),
        ("Act I", "FIRST MEMBER", "FIRST MEMBER.\n\naside\n\nI sleep,\nI dream."),
        ("Act I", "", "Bells."),
    ]


def test_each_text_of_a_corpus_is_a_document_and_knows_the_persons_of_the_corpus() -> None:
    first, second = drafts("corpus.xml")
    assert (first.key, first.title, first.text) == ("letter-a", "First letter", "Dear A.")
    assert first.metadata == {"date": "1843-07-05~", "persons": ["Ada Byron"]}
    assert (second.key, second.title, second.metadata) == ("2", "Second letter", {})


def test_tei_p4_is_read_without_its_dtd() -> None:
    (draft,) = drafts("p4.xml")
    assert draft.title == "Café talk"
    assert draft.text == "One\n\nA café—or &eacute; second."
    assert draft.metadata == {"author": ["N. N."], "date": "1998-05", "published": "1998-05"}
    assert draft.remark == "undeclared character entities were read as in HTML: eacute, mdash"


def test_each_element_of_a_name_can_be_a_document() -> None:
    part, appendix = drafts("edition.xml", documents_at="div")
    assert (part.key, part.title, part.text[:8]) == ("1", "Part One", "Part One")
    assert (appendix.key, appendix.title) == ("2", "Appendix")
    assert appendix.text == "Appendix\n\n[Note: Printed in Perth.]"
    assert appendix.metadata["author"] == ["Mary Bell"]


def test_a_document_in_a_text_begins_on_the_page_that_is_open(read_bytes) -> None:
    body = '<pb n="4"/><div xml:id="a"><p>A.</p></div><div><p>B.<pb n="5"/>C</p></div>'
    xml = f"<TEI>{HEAD}<text><body>{body}</body></text></TEI>"
    first, second = read_bytes(xml.encode(), documents_at="div")
    assert isinstance(first, Draft)
    assert isinstance(second, Draft)
    assert (first.key, first.title, first.pages) == ("a", "T", (0, 0, 0, 0))
    assert (second.key, second.title, second.pages) == ("2", "T", (0, 0, 0, 0, 2))


def test_a_name_that_no_element_has_is_said(read_bytes) -> None:
    xml = f"<TEI>{HEAD}<text><body><p>A.</p></body></text></TEI>".encode()
    assert reason(read_bytes(xml, documents_at="poem")) == (
        "it has no <poem>, at which its documents should begin"
    )


@pytest.mark.parametrize(
    ("element", "date"),
    [
        ('<date when="1901-03-04"/>', "1901-03-04"),
        ('<date when="1901-03-04T10:00:00Z">then</date>', "1901-03-04"),
        ('<date when="1901" cert="low"/>', "1901~"),
        ('<date when="1901" precision="medium"/>', "1901~"),
        ('<date when="1901">c. 1901</date>', "1901~"),
        ('<date notbefore="1901-03" notafter="1901-07"/>', "1901-03/1901-07"),
        ('<date from="1901" to="1903" cert="low"/>', "1901~/1903~"),
        ('<date from="1901-03"/>', "1901-03/.."),
        ('<date notafter="1901-03"/>', "../1901-03"),
        ('<date value="1901">p4</date>', "1901"),
        ("<date>4 March\n 1901</date>", "4 March 1901"),
        ("<date>no date</date>", ""),
        ('<date when="soon">1901</date>', "1901"),
    ],
)
def test_dates_are_edtf(element: str, date: str) -> None:
    assert date_of(etree.fromstring(element)) == date


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<body><p>a <subst><del>b</del><add>c</add></subst> d</p></body>", "a c d"),
        ("<body><p><choice><unclear>a</unclear><unclear>b</unclear></choice></p></body>", "a"),
        ("<body><p>a<lb/>b<lb break='no'/>c</p></body>", "a bc"),
        ("<body><p>a<!-- b --><?c d?>e</p></body>", "ae"),
        ("<body><p>  a\t&#160;\n b&#8201;c  </p>\n\n<p> </p><p>&#160;</p></body>", "a b c"),
        ("<body><p>a&#13;b&#x2028;c</p></body>", "a b c"),
        ("<body><p>so<note>See <bibl>Hall</bibl> 3.</note> it is</p></body>",
         "so it is\n\n[Note: See Hall 3.]"),
        ("<body><p>a <hi>b</hi>c <ref target='x'>d</ref></p></body>", "a bc d"),
        ("<body><lg><l>a</l><l>b</l></lg><lg><l>c</l></lg></body>", "a\nb\n\nc"),
        ("<body><list><head>H</head><item>a<list><item>b</item></list></item></list></body>",
         "H\n\na\n\nb"),
        ("<body>stray<p>a</p>words</body>", "stray\n\na\n\nwords"),
        ("<front><p>a</p></front><body><p>b</p></body><back><p>c</p></back>", "a\n\nb\n\nc"),
        ("<group><text><body><p>a</p></body></text><text><body><p>b</p></body></text></group>",
         "a\n\nb"),
    ],
)  # fmt: skip
def test_markup_becomes_text(tei, body: str, text: str) -> None:
    assert tei(body).text == text


def test_an_included_file_is_not_followed_and_it_is_said(tei) -> None:
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'
    draft = tei(f"<body><p>a {include} b</p></body>")
    assert draft.text == "a b"
    assert draft.remark == "1 xi:include were not followed: they point to other files"


def test_speeches_one_after_another_by_one_speaker_stay_two(tei) -> None:
    draft = tei('<body><u who="#AnnAble">a</u><u who="#AnnAble">b</u><p>c</p><p>d</p></body>')
    assert speeches(draft) == [("", "Ann Able", "a"), ("", "Ann Able", "b"), ("", "", "c\n\nd")]
