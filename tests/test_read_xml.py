"""XML: TEI, the Hansards of several parliaments, any other, and files that must not be read."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from atlas_search.readers import Draft, Read, Skipped
from atlas_search.readers.xml.draft import unique_keys
from atlas_search.readers.xml.pages import Printed, counted_pages, printed_pages
from atlas_search.readers.xml.read import XmlReader
from atlas_search.readers.xml.tei_dates import date_of
from atlas_search.readers.xml.tei_names import pointed_at
from atlas_search.readers.xml.writer import Writer

DATA = Path(__file__).parent / "data" / "xml"
SAMPLES = sorted(DATA.glob("*.xml"))
HEAD = "<teiHeader><fileDesc><titleStmt><title>T</title></titleStmt></fileDesc></teiHeader>"


def reads(path: Path, encoding: str = "", **settings: object) -> list[Read]:
    return list(XmlReader(**settings).read(path, encoding))  # type: ignore[arg-type]


def drafts(name: str, **settings: object) -> list[Draft]:
    found = reads(DATA / name, **settings)
    assert all(isinstance(read, Draft) for read in found), found
    return [read for read in found if isinstance(read, Draft)]


@pytest.fixture
def read_bytes(tmp_path: Path):
    def read(content: bytes, encoding: str = "", **settings: object) -> list[Read]:
        path = tmp_path / "source.xml"
        path.write_bytes(content)
        return reads(path, encoding, **settings)

    return read


@pytest.fixture
def tei(read_bytes):
    """A function that reads one TEI text with this body."""

    def read(body: str, **settings: object) -> Draft:
        xml = f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{HEAD}<text>{body}</text></TEI>'
        (draft,) = read_bytes(xml.encode(), **settings)
        assert isinstance(draft, Draft), draft
        return draft

    return read


def paragraphs(draft: Draft) -> list[str]:
    return draft.text.split("\n\n")


def speeches(draft: Draft) -> list[tuple[str, str, str]]:
    """Section, speaker and text of every segment."""
    ends = [*(segment.start for segment in draft.segments[1:]), len(draft.text)]
    return [
        (segment.section, segment.speaker, draft.text[segment.start : end].strip())
        for segment, end in zip(draft.segments, ends, strict=True)
    ]


def page(draft: Draft, number: int) -> str:
    """The text of a page, by its number."""
    ends = [*draft.pages[1:], len(draft.text)]
    return draft.text[draft.pages[number - 1] : ends[number - 1]].strip()


def reason(found: Sequence[Read]) -> str:
    (skipped,) = found
    assert isinstance(skipped, Skipped), skipped
    return skipped.reason


# TEI: debates


def test_a_debate_is_read_speech_by_speech() -> None:
    (draft,) = drafts("debate.xml")
    section = "Egypt (Situation)"
    eden = "Anthony Eden"
    assert speeches(draft) == [
        (section, "", "Egypt (Situation)\n\n[The House met at half-past Two o'clock]"),
        (section, eden, "The Prime Minister:\n\nI will make a statement on the position."),
        (section, "", "[Interruption]"),
        (section, eden, "The fighting [pause] has stopped."),
        (section, "Gaitskell Hugh", "I thank the Prime Minister for Port Said."),
        (section, "Gaitskell Hugh", "And again."),
        (section, "", "(Cheers.)\n\n[...]\n\nThe House divided."),
    ]


def test_a_debate_is_dated_by_its_sitting_not_by_its_edition() -> None:
    (draft,) = drafts("debate.xml")
    assert draft.title == "Sample parliamentary corpus, Commons, 1956-11-06"
    assert draft.key == ""
    assert draft.metadata == {
        "date": "1956-11-06",
        "published": "2024-01-23",
        "publisher": "Sample Infrastructure",
        "source": "Sample Debates. Volume 560.",
        "url": "https://example.org/debates/560",
        "language": "en",
        "persons": ["Anthony Eden"],
        "places": ["Port Said"],
        "speakers": ["Anthony Eden", "Gaitskell Hugh"],
    }


def test_annotated_words_are_set_as_their_joins_say() -> None:
    (draft,) = drafts("annotated.xml")
    assert draft.text == "I cannot say, Mr Lee. “Yes”"
    assert draft.metadata["persons"] == ["Mr Lee"]
    assert draft.metadata["speakers"] == ["McDonald Roy"]


def test_without_joins_words_stand_as_their_white_space_says(tei) -> None:
    draft = tei("<body><p><w>can</w><w>not</w> <w>say</w><pc>.</pc></p></body>")
    assert draft.text == "cannot say."


def test_a_glued_mark_does_not_join_two_paragraphs(tei) -> None:
    draft = tei('<body><p><w>Yes</w></p><p><pc join="both">-</pc><w>no</w></p></body>')
    assert paragraphs(draft) == ["Yes", "-no"]


def test_a_corpus_file_that_only_includes_others_says_so(read_bytes) -> None:
    xml = (
        f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">{HEAD}'
        '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="2020.xml"/></teiCorpus>'
    )
    assert reason(read_bytes(xml.encode())) == (
        "it holds no text of its own, only 1 xi:include: put the files that they name into the "
        "folder, each is read by itself"
    )


def test_lists_of_persons_and_taxonomies_are_no_documents(read_bytes) -> None:
    xml = b'<listPerson xmlns="http://www.tei-c.org/ns/1.0"><person>Anne</person></listPerson>'
    assert reason(read_bytes(xml)) == "a TEI <listPerson>: a list for other files, not a text"


@pytest.mark.parametrize(
    ("pointers", "name"),
    [
        ("#a", "Ann Able"),
        ("persons.xml#a", "Ann Able"),
        ("#a #AbbottDiane", "Ann Able, Abbott Diane"),
        ("#KučanMilan.1941", "Kučan Milan"),
        ("#DeJòdarJulià", "De Jòdar Julià"),
        ("#O'BrienPat", "O'Brien Pat"),
        ("#MacKayAngus", "MacKay Angus"),
        ("#van_der_Berg", "van der Berg"),
        ("#U8dvmLKX", "U8dvmLKX"),
        ("#Q1234", "Q1234"),
        ("#unknown", ""),
        ("", ""),
    ],
)
def test_a_pointer_is_a_name(pointers: str, name: str) -> None:
    assert pointed_at(pointers, {"a": "Ann Able"}) == name


# TEI: editions


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
    assert draft.remark == "page numbers out of order were passed over: iii"


def test_pages_without_numbers_are_counted(tei) -> None:
    draft = tei("<body><pb/><p>One.</p><pb/><p>Two <pb/>three.</p></body>")
    assert [page(draft, number) for number in (1, 2, 3)] == ["One.", "Two", "three."]
    assert draft.remark == ""


def test_pages_whose_numbers_make_no_sequence_are_counted_and_it_is_said(tei) -> None:
    draft = tei('<body><pb n="1r"/><p>One.</p><pb n="1v"/><p>Two.</p></body>')
    assert draft.pages == (0, 6)
    assert draft.remark == "pages are counted from 1, as their numbers are out of order: 1r, 1v"


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


# Hansard


def test_a_bound_volume_gives_one_document_a_sitting_and_a_column_sequence() -> None:
    commons, written, lords = drafts("historic.xml")
    assert (commons.key, written.key, lords.key) == (
        "housecommons-1936-03-09",
        "writtenanswers-1936-03-09",
        "houselords-1936-03-10",
    )
    assert commons.title == "HOUSE OF COMMONS, Monday, 9th March, 1936."
    assert commons.remark == "left out of the volume: titlepage, index"
    assert lords.remark == "its date is given as 1936-03-10 and as Tuesday, 10th March, 1935."
    assert lords.metadata == {"date": "1936-03-10", "house": "House of Lords"}


def test_a_bound_volume_is_cited_by_its_columns() -> None:
    commons, written, _ = drafts("historic.xml")
    assert len(commons.pages) == 346
    assert page(commons, 345).startswith("HOUSE OF COMMONS.")
    assert page(commons, 346).startswith("steps he is taking.")
    assert commons.metadata["pages_are"] == "columns"
    assert page(written, 2) == "Every year."


def test_a_bound_volume_is_read_speech_by_speech() -> None:
    commons, written, _ = drafts("historic.xml")
    oral = "ORAL ANSWERS TO QUESTIONS."
    mines = f"{oral} > SCOTTISH MINES"
    assert speeches(commons) == [
        (oral, "", oral),
        (mines, "", "SCOTTISH MINES"),
        (mines, "Mr. Brown",
         "1. Mr. Brown asked the Secretary for Mines what steps he is taking."),
        (mines, "Captain Crook",
         'Captain Crook : None "at present".\n\nThere is nothing to add.'),
        (mines, "", "The House divided: Ayes, 2; Noes, 1.\n\nAYES. | NOES.\nBrown, J. | Crook, C."),
    ]  # fmt: skip
    assert speeches(written) == [
        ("Herrings", "", "Herrings\n\nMr. Green asked about herrings."),
        ("Herrings", "Mr. Black", "Mr. Black: They are counted.\n\nEvery year."),
    ]


def test_theyworkforyou_is_read_speech_by_speech() -> None:
    (draft,) = drafts("twfy.xml")
    assert speeches(draft) == [
        ("Oral Answers to Questions", "", "Oral Answers to Questions"),
        ("ENERGY", "", "ENERGY"),
        ("ENERGY > Coal", "", "Coal"),
        ("ENERGY > Coal", "Anne Example",
         "What is the cost, £1 my hon. Friend asks?\n\nA second paragraph."),
        ("ENERGY > Coal", "",
         "Question put.\n\n[Division 7]\n\n[ayes 2, noes 1]\n\n[aye]\nA. Able\nB. Baker\n\n"
         "[no]\nC. Carr"),
        ("Adjournment", "", "Adjournment"),
        ("Adjournment", "Bob Sample", "Good night.\n\none\ntwo"),
    ]  # fmt: skip


def test_theyworkforyou_says_which_day_of_which_house_it_is() -> None:
    (draft,) = drafts("twfy.xml")
    assert draft.title == "House of Commons debates, 2003-06-26"
    assert draft.metadata == {
        "date": "2003-06-26",
        "series": "House of Commons debates",
        "url": "https://example.org/1",
        "speakers": ["Anne Example", "Bob Sample"],
        "pages_are": "columns where speeches begin",
    }
    assert page(draft, 1221).startswith("Question put.")
    assert page(draft, 1222).startswith("Adjournment")


def test_the_australian_hansard_is_read_with_the_printed_names() -> None:
    (draft,) = drafts("australia-1901.xml")
    reading = "TARIFF BILL > Second Reading"
    assert draft.title == "House of Representatives, 1901-06-04"
    assert paragraphs(draft)[:2] == ["House of Representatives.", "Mr. Speaker took the chair."]
    assert speeches(draft) == [
        ("TARIFF BILL", "", "TARIFF BILL"),
        (reading, "", "Second Reading\n\nDebate resumed."),
        (reading, "LYNE, William", "Sir WILLIAM LYNE - I move -\n\nThat the Bill be read."),
        (reading, "REID, George", "Mr REID - Sir John Quick knows better."),
        (reading, "LYNE, William", "I go on."),
        (reading, "", "The House divided.\n\n2\n\nAYES\n\nLyne, W.J.\nReid, G.H. (teller)"),
    ]
    assert draft.remark == "1 missing blanks after marked words were put in"


def test_the_australian_hansard_has_pages_where_speeches_begin() -> None:
    (draft,) = drafts("australia-1901.xml")
    assert draft.metadata == {
        "date": "1901-06-04",
        "house": "House of Representatives",
        "parliament": "1",
        "session": "1",
        "speakers": ["LYNE, William", "REID, George"],
        "pages_are": "pages where speeches begin",
    }
    assert page(draft, 17).startswith("Sir WILLIAM LYNE")
    assert page(draft, 18).startswith("Mr REID")


def test_the_australian_hansard_of_1990_is_read_though_its_doctype_is_broken() -> None:
    (draft,) = drafts("australia-1990.xml")
    assert speeches(draft) == [
        ("SWEARING-IN", "", "SWEARING-IN"),
        ("SWEARING-IN", "The PRESIDENT",
         "The PRESIDENT —I inform the Senate.\n\nA second paragraph."),
        ("SWEARING-IN", "", "Sitting suspended."),
        ("SWEARING-IN", "Hill Sen R.",
         "The document read as follows-\n\n"
         "Senator HILL (South Australia-Leader of the Opposition) —by leave."),
    ]  # fmt: skip
    assert draft.metadata["date"] == "1990-05-08"
    assert draft.metadata["edition"] == "proof"
    assert draft.remark == (
        "its incomplete DOCTYPE was passed over; "
        "undeclared character entities were read as in HTML: mdash"
    )


def test_the_australian_hansard_since_2011_names_speakers_in_its_paragraphs() -> None:
    (draft,) = drafts("australia-2013.xml")
    pricing = "QUESTIONS WITHOUT NOTICE > Pricing"
    assert paragraphs(draft)[0] == "Wednesday, 26 June 2013"
    assert speeches(draft) == [
        ("QUESTIONS WITHOUT NOTICE", "", "QUESTIONS WITHOUT NOTICE"),
        (pricing, "", "Pricing"),
        (pricing, "Example, Ann, MP", "Ms EXAMPLE (Lalor) (14:09): Back to our favourite."),
        (pricing, "The SPEAKER", "The SPEAKER: Order!"),
        (pricing, "", "Mr Sample interjecting—"),
        (pricing, "Example, Ann, MP", "Ms EXAMPLE: I continue."),
    ]


def test_the_canadian_hansard_is_read_with_interjections() -> None:
    (draft,) = drafts("canada.xml")
    housing = "Oral Questions > Housing"
    assert draft.text.startswith("The House met at 10 a.m.\n\nOral Questions")
    assert speeches(draft) == [
        ("Oral Questions", "", "Oral Questions"),
        (housing, "", "(1415)\n\n[Translation]\n\nHousing"),
        (housing, "Ms. Ann Example",
         "Ms. Ann Example (North Sample, CPC): Mr. Speaker, what of Bill C-11?"),
        (housing, "Some hon. members", "Some hon. members: Oh, oh!"),
        (housing, "Ms. Ann Example", "I ask again."),
        (housing, "Hon. Bob Sample",
         "Hon. Bob Sample (Minister of Housing, Lib.): It is built.\n\n(Motion agreed to)"),
        (housing, "Ms. Ann Example", "Ann Example: Thank you."),
        (housing, "", "The House adjourned."),
    ]  # fmt: skip


def test_the_canadian_hansard_states_its_day() -> None:
    (draft,) = drafts("canada.xml")
    assert draft.title == "House of Commons Debates, Tuesday, February 7, 2023"
    assert draft.metadata == {
        "date": "2023-02-07",
        "series": "House of Commons Debates",
        "parliament": "44",
        "session": "1",
        "volume": "Volume 151",
        "language": "en",
        "speakers": ["Ms. Ann Example", "Some hon. members", "Hon. Bob Sample"],
    }


def test_akoma_ntoso_debates_are_read_speech_by_speech() -> None:
    (draft,) = drafts("akoma.xml")
    assert draft.title == "Sample Debates"
    assert draft.metadata["date"] == "2019-05-08"
    assert speeches(draft) == [
        ("Housing Bill", "", "Housing Bill"),
        ("Housing Bill", "Ann Example", "Ms Example (14:00): I support it.\n\nSo does he."),
        ("Housing Bill", "", "Bill read a first time."),
    ]


# Any other XML


def test_unknown_xml_is_read_as_plain_text_and_it_is_said() -> None:
    (draft,) = drafts("unknown.xml")
    assert paragraphs(draft) == [
        "On coal and iron",
        "Coal is black.",
        "Coal | 5\nIron | 6",
        "Iron is not.",
    ]
    assert draft.metadata == {"language": "en"}
    assert draft.remark == "no known structure: <Report> is read as plain text"


def test_unknown_xml_can_be_several_documents() -> None:
    first, second = drafts("unknown.xml", documents_at="Chapter")
    assert (first.key, first.text[:16]) == ("1", "On coal and iron")
    assert (second.key, second.text) == ("two", "Iron is not.")


# Files that are not read, or not as they ask


def test_an_external_entity_is_never_opened(read_bytes, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden words", encoding="utf-8")
    xml = f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">]>\n<a>before &x; after</a>'
    assert reason(read_bytes(xml.encode())) == (
        "line 2: the entity &x; is declared outside the file or not at all, and other files are "
        "never read; put what it stands for in its place"
    )


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "{}"> %x;]>',
        '<!DOCTYPE a [\n<!ENTITY % x PUBLIC "-//x" "{}">\n%x;\n]>',
        '<!DOCTYPE a SYSTEM "{}">',
        '<!DOCTYPE a PUBLIC "-//x" "{}" []>',
    ],
)
def test_no_doctype_brings_other_files_into_the_text(
    read_bytes, tmp_path: Path, doctype: str
) -> None:
    other = tmp_path / "other.dtd"
    other.write_text('<!ENTITY own "hidden words">', encoding="utf-8")
    xml = doctype.format(other.as_uri())
    (read,) = read_bytes(f"{xml}<a>open words</a>".encode())
    assert isinstance(read, Draft)
    assert read.text == "open words"
    assert "the entity &own; is declared outside" in reason(
        read_bytes(f"{xml}<a>&own;</a>".encode())
    )


def test_declarations_in_other_files_are_passed_over_and_it_is_said(read_bytes) -> None:
    doctype = '<!DOCTYPE a [<!ENTITY % iso SYSTEM "iso.ent"> %iso; <!ENTITY eth "th">]>'
    xml = f"{doctype}<a>&eacute;&eth;</a>"
    (draft,) = read_bytes(xml.encode())
    assert isinstance(draft, Draft)
    assert draft.text == "éth"
    assert draft.remark.startswith(
        "declarations in other files were not read; "
        "undeclared character entities were read as in HTML: eacute"
    )


def test_entities_that_multiply_are_not_read(read_bytes) -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    xml = f'<!DOCTYPE a [<!ENTITY l0 "lol">{levels}]><a>&l9;</a>'
    assert reason(read_bytes(xml.encode())) == (
        "line 1: its entities multiply into more text than a source can hold, as in an attack; "
        "remove them"
    )


def test_entities_that_contain_themselves_are_not_read(read_bytes) -> None:
    xml = b'<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>'
    assert "multiply" in reason(read_bytes(xml))


def test_an_entity_that_the_file_declares_is_read(read_bytes) -> None:
    (draft,) = read_bytes(b'<!DOCTYPE a [<!ENTITY dash "-<i>x</i>">]><a>b &dash; c</a>')
    assert isinstance(draft, Draft)
    assert draft.text == "b -x c"


def test_500_levels_are_too_many(read_bytes) -> None:
    xml = b"<a>" * 500 + b"x" + b"</a>" * 500
    assert reason(read_bytes(xml)) == "line 1: elements are nested more than 256 deep; flatten them"


@pytest.mark.parametrize("tag", ["div", "seg", "note", "choice", "sp", "list"])
def test_200_levels_are_read_without_recursion(tei, tag: str) -> None:
    assert tei(f"<body>{f'<{tag}>' * 200}x{f'</{tag}>' * 200}</body>").text in ("x", "[Note: x]")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b"just words", "it is not XML: Start tag expected, '<' not found at line 1"),
        (b"<a>\n<b>x", "it ends at line 2 in the middle of an element "
         "(Premature end of data in tag b line 2); get the whole file again"),
        (b"<a>\n<b>x</a>", "line 2: it is not well-formed XML: Opening and ending tag mismatch: "
         "b line 2 and a; correct it there"),
        (b"<a>\nx & y</a>",
         "line 2: it is not well-formed XML: xmlParseEntityRef: no name; correct it there"),
        (b"<a>\n&nosuchthing;</a>",
         "line 2: the entity &nosuchthing; is declared outside the file or not at all, and other "
         "files are never read; put what it stands for in its place"),
        (b"<a><b/></a>", "it holds no text"),
        ('<?xml version="1.0" encoding="UTF-8"?>\n<a>café</a>'.encode("latin-1"),
         "line 2: its bytes are not in the encoding that its first line declares, or not UTF-8 if "
         "it declares none; declare the right one"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><a>café</a>'.encode(),
         "its first line declares the encoding ISO-8859-1, but its bytes are UTF-8; correct that "
         "declaration"),
        ('<?xml version="1.0" encoding="utf-16"?><a>café</a>'.encode(),
         "its first line declares the encoding utf-16, but its bytes are UTF-8 or another "
         "encoding of single bytes; correct that declaration"),
        (b'<?xml version="1.0" encoding="klingon"?><a>x</a>',
         "line 1: Unsupported encoding: klingon; convert the file to UTF-8"),
    ],
)  # fmt: skip
def test_a_broken_file_is_skipped_with_its_reason(
    read_bytes, content: bytes, expected: str
) -> None:
    assert reason(read_bytes(content)) == expected


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16"),
        ("", "utf-16"),
        ('<?xml version="1.0" encoding="UTF-16"?>', "utf-16-be"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?>', "latin-1"),
        ("<?xml version='1.0' encoding='windows-1252'?>", "cp1252"),
        ("", "utf-8-sig"),
        ("", "utf-8"),
    ],
)
def test_the_encoding_that_a_file_states_counts(
    read_bytes, declaration: str, encoding: str
) -> None:
    (draft,) = read_bytes(
        f"{declaration}<a>café</a>".encode(encoding), "cp1251" * bool(declaration)
    )
    assert isinstance(draft, Draft)
    assert draft.text == "café"


def test_the_encoding_given_counts_where_a_file_states_none(read_bytes) -> None:
    (draft,) = read_bytes("<a>café</a>".encode("latin-1"), "latin-1")
    assert isinstance(draft, Draft)
    assert draft.text == "café"
    assert "there is no encoding `nonsense`" in reason(read_bytes(b"<a>x</a>", "nonsense"))
    assert "it is not ascii" in reason(read_bytes("<a>é</a>".encode(), "ascii"))


def test_windows_quotation_marks_in_latin_1_are_read_and_it_is_said(read_bytes) -> None:
    xml = '<?xml version="1.0" encoding="iso-8859-1"?><a>“so”</a>'.encode("cp1252")
    (draft,) = read_bytes(xml)
    assert isinstance(draft, Draft)
    assert draft.text == "“so”"
    assert draft.remark.startswith(
        "declared as iso-8859-1, but read as windows-1252, of which it has marks"
    )


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="missing"):
        reads(tmp_path / "missing.xml")


def test_the_settings_are_options() -> None:
    assert XmlReader(normalised=True).options == {
        "version": 1,
        "normalised": True,
        "documents_at": "",
    }
    assert XmlReader().suffixes == {".xml", ".tei"}


# Every sample, and the parts


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_offsets_are_in_order_and_in_the_text(path: Path) -> None:
    for draft in drafts(path.name):
        starts = [segment.start for segment in draft.segments]
        assert starts == sorted(set(starts))
        assert all(not draft.text[start].isspace() for start in starts)
        assert draft.pages[0] == 0
        assert list(draft.pages) == sorted(draft.pages)
        assert draft.pages[-1] < len(draft.text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_texts_have_no_blanks_to_spare(path: Path) -> None:
    for draft in drafts(path.name):
        assert draft.text == draft.text.strip()
        assert "\n\n\n" not in draft.text
        assert "  " not in draft.text
        assert all(line == line.strip() for line in draft.text.split("\n"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_same_bytes_give_the_same_drafts(path: Path) -> None:
    assert drafts(path.name) == drafts(path.name)


@pytest.mark.parametrize(
    ("labels", "pages"),
    [
        # one character a page: the offset of a label is its place
        (["1", "2", "3"], (0, 1, 2)),
        (["3", "4"], (0, 0, 0, 1)),
        (["1", "2", "5"], (0, 1, 2, 2, 2)),
        (["", "2", ""], (0, 1, 2)),
        (["[1]", "p. 2", "003"], (0, 1, 2)),
        (["i", "ii", "1", "2"], (0, 3)),
        ([*"123456789", "", "11"], tuple(range(11))),
    ],
)
def test_printed_numbers_are_page_numbers(labels: list[str], pages: tuple[int, ...]) -> None:
    marks = [(label, place) for place, label in enumerate(labels)]
    assert printed_pages(marks).pages == pages


def test_a_misprinted_number_is_passed_over() -> None:
    labels = [str(number) for number in range(1, 21)]
    labels[11] = "21"
    labels[4] = "4"
    marks = [(label, place) for place, label in enumerate(labels)]
    assert printed_pages(marks) == Printed(tuple(range(20)), ("4", "21"))


@pytest.mark.parametrize(
    "labels", [["1r", "1v"], ["0"], ["40001"], ["1", "2", "1", "2"], ["3", "2", "1"], ["", ""]]
)
def test_numbers_that_make_no_sequence_are_no_page_numbers(labels: list[str]) -> None:
    assert printed_pages([(label, place) for place, label in enumerate(labels)]).pages == ()


def test_counted_pages_begin_with_the_text() -> None:
    assert counted_pages([("x", 0), ("y", 4)]) == (0, 4)
    assert counted_pages([("x", 2), ("y", 4)]) == (0, 2, 4)
    assert counted_pages([]) == (0,)


def test_keys_are_unique() -> None:
    assert unique_keys(["a", "", "a", "2", "a-2", "a"]) == ["a", "2", "a-2", "2-2", "a-2-2", "a-3"]


@given(st.lists(st.sampled_from(["", "1", "2", "a", "a-2", "1-2"])))
def test_no_two_keys_are_alike(keys: list[str]) -> None:
    unique = unique_keys(keys)
    assert len(set(unique)) == len(keys)


@given(st.lists(st.tuples(st.sampled_from(["", "1", "2", "7", "x", "39"]), st.integers(0, 9))))
def test_page_offsets_ascend_from_zero(found: list[tuple[str, int]]) -> None:
    marks = sorted(found, key=lambda mark: mark[1])
    for pages in (printed_pages(marks).pages, counted_pages(marks)):
        assert list(pages) == sorted(pages)
        assert not pages or pages[0] == 0


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.text(" ab\n\u00a0", max_size=5)),
        st.tuples(st.sampled_from(["block", "line", "blank", "glue", "rejoin"])),
        st.tuples(st.sampled_from(["speech", "voice", "page", "section"]), st.sampled_from("ab")),
        st.tuples(st.just("note"), st.just("n")),
    ),
    max_size=30,
)


@given(STEPS)
def test_whatever_is_written_offsets_fit_the_text(steps: list[tuple[str, ...]]) -> None:
    writer = Writer()
    for name, *arguments in steps:
        getattr(writer, name)(*arguments)
    composed = writer.finish()
    starts = [segment.start for segment in composed.segments]
    assert starts == sorted(set(starts))
    assert all(not composed.text[start].isspace() for start in starts)
    assert all(offset < len(composed.text) for _, offset in composed.marks)
    assert composed.text == composed.text.strip()
    assert "\n\n\n" not in composed.text
    assert all(line == line.strip() for line in composed.text.split("\n"))
