"""TEI: editions as printed or normalised, their pages, dates and names, and debates.

What is read of whole files is among the golden files: their sources are in `tests/data/xml`.
"""

import re
from collections.abc import Callable

import pytest
from lxml import etree

from atlas_search.readers import Draft, Read
from atlas_search.readers.xml.read import XmlReader
from atlas_search.readers.xml.tei import date_of, resolve_pointers
from tests.places import ROOT
from tests.readers.drafts import only_reason, pages, paragraphs, pieces

Tei = Callable[..., Draft]
ReadXml = Callable[..., list[Read]]
DATA = ROOT / "tests" / "data" / "xml"
HEAD = "<teiHeader><fileDesc><titleStmt><title>T</title></titleStmt></fileDesc></teiHeader>"


@pytest.fixture
def tei(xml: Callable[..., Draft]) -> Tei:
    """A function that reads one TEI text with this body."""
    head = f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{HEAD}<text>'
    return lambda body, **settings: xml(f"{head}{body}</text></TEI>", **settings)


def documents(name: str, **settings: object) -> list[Draft]:
    reads = list(XmlReader(**settings).read(DATA / name, ""))  # type: ignore[arg-type]
    return [read for read in reads if isinstance(read, Draft)]


def test_an_edition_can_be_read_normalised() -> None:
    (draft,) = documents("edition.xml", normalised=True)
    assert "4 March\n" in draft.text
    assert "The House sat late" in draft.text
    assert "second line." in draft.text
    assert draft.segments[1].section == "Part One > 4 March"


def test_pages_have_their_printed_numbers() -> None:
    (draft,) = documents("edition.xml")
    seventh, eighth = pages(draft)[6:]
    assert seventh.startswith("4 Mar.")
    assert seventh.endswith("It ends on")
    assert eighth.startswith("the next page")
    assert draft.printed_pages == ("", "", "", "", "", "iii", "7", "8")
    assert draft.remark == "page numbers out of order are kept as labels: iii"


@pytest.mark.parametrize(
    ("body", "texts", "labels", "remark"),
    [
        ("<pb/><p>One.</p><pb/><p>Two <pb/>three.</p>", ["One.", "Two", "three."], (), ""),
        ('<pb n="1r"/><p>One.</p><pb n="1v"/><p>Two.</p>', ["One.", "Two."], ("1r", "1v"),
         "pages are counted from 1, as their numbers are out of order and kept as labels: 1r, 1v"),
        # a page break in a word leaves the word whole
        ('<pb n="1"/><p>Par-<pb n="2" break="no"/>liament</p>', ["Par", "liament"], (), ""),
        ('<cb n="2"/><p>One <cb n="3"/>two.</p>', ["", "One", "two."], (), ""),
    ],
)  # fmt: skip
def test_pages_are_counted_where_their_numbers_make_no_sequence(
    tei: Tei, body: str, texts: list[str], labels: tuple[str, ...], remark: str
) -> None:
    draft = tei(f"<body>{body}</body>")
    assert (pages(draft), draft.printed_pages, draft.remark) == (texts, labels, remark)
    assert draft.metadata.get("pages_are") == ("columns" if "<cb" in body else None)


def test_each_element_of_a_name_can_be_a_document(read_xml: ReadXml) -> None:
    part, appendix = documents("edition.xml", documents_at="div")
    assert (part.key, part.title, part.text[:8]) == ("1", "Part One", "Part One")
    assert (appendix.key, appendix.title) == ("2", "Appendix")
    assert appendix.text == "Appendix\n\n[Note: Printed in Perth.]"
    assert appendix.metadata["author"] == ["Mary Bell"]
    first, second = documents("unknown.xml", documents_at="Chapter")
    assert (first.key, first.text[:16]) == ("1", "On coal and iron")
    assert (second.key, second.text) == ("two", "Iron is not.")
    poem = f"<TEI>{HEAD}<text><body><p>A.</p></body></text></TEI>"
    assert only_reason(read_xml(poem, documents_at="poem")) == (
        "it has no <poem>, at which its documents should begin"
    )


def test_a_document_in_a_text_begins_on_the_page_that_is_open(read_xml: ReadXml) -> None:
    body = '<pb n="4"/><div xml:id="a"><p>A.</p></div><div><p>B.<pb n="5"/>C</p></div>'
    source = f"<TEI>{HEAD}<text><body>{body}</body></text></TEI>"
    drafts = [read for read in read_xml(source, documents_at="div") if isinstance(read, Draft)]
    assert [(draft.key, draft.title, draft.pages) for draft in drafts] == [
        ("a", "T", (0, 0, 0, 0)),
        ("2", "T", (0, 0, 0, 0, 2)),
    ]


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


INCLUDE = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd"/>'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<body><p>a <subst><del>b</del><add>c</add></subst> d</p></body>", "a c d"),
        ("<body><p>na<choice>\n <sic>vv</sic>\n <corr>v</corr>\n</choice>al, <app>\n <lem>a</lem>"
         "\n <rdg>b</rdg>\n</app>.</p></body>", "navval, a."),
        ("<body><entry><form><orth>baat</orth><pron>ba:t</pron></form><gramGrp><pos>n</pos></gramGrp>"
         "<sense>voix</sense></entry></body>", "baat ba:t n voix"),
        ("<body><p><persName><forename>Anna</forename><surname>Roe</surname></persName>, <bibl>"
         "<author>Hay</author><title>Tides</title><biblScope>77</biblScope></bibl>.</p></body>",
         "Anna Roe, Hay Tides 77."),
        ("<body><listBibl><biblStruct><monogr><title>Tides</title><imprint><pubPlace>Ostby</pubPlace>"
         "<publisher>Hay</publisher><date>1954</date></imprint></monogr></biblStruct></listBibl>"
         "</body>", "Tides Ostby Hay 1954"),
        ("<body><p>na<subst>\n <del>v</del>\n <add>vv</add>\n</subst>al</p></body>", "navval"),
        ("<body><p><choice><unclear>a</unclear><unclear>b</unclear></choice></p></body>", "a"),
        ("<body><p>a<lb/>b<lb break='no'/>c</p></body>", "a bc"),
        ("<body><p>har-\n<pb n='2' break='no'/><lb break='no'/>bour</p></body>", "harbour"),
        ("<body><p>dues<hi rend='superscript'>1</hi>, km<hi rend='sup'>2</hi>, tax<ref "
         "target='#n3'>3</ref>; <hi rend='sup'>4</hi> M<hi rend='sup'>r</hi></p></body>",
         "dues[1], km², tax[3]; 4 Mr"),
        ("<body><p>a<!-- b --><?c d?>e</p></body>", "ae"),
        ("<body><p>  a\t&#160;\n b&#8201;c  </p>\n\n<p> </p><p>&#160;</p></body>", "a b c"),
        ("<body><p>a&#13;b&#x2028;c</p></body>", "a b c"),
        ("<body><p>so<note>Or: thus.</note>it is, har-<note>x</note>bour<note>y</note>.</p></body>",
         "so it is, har-bour.\n\n[Note: Or: thus.]\n\n[Note: x]\n\n[Note: y]"),
        ("<body><p>so<note>See <bibl>Hall</bibl> 3.</note> it is</p></body>",
         "so it is\n\n[Note: See Hall 3.]"),
        ("<body><p>a <hi>b</hi>c <ref target='x'>d</ref></p></body>", "a bc d"),
        ("<body><table><row><cell rows='3'>a</cell><cell>b</cell><cell rows='2'>c</cell></row>\n"
         "<row><cell>d</cell></row> <row><cell cols='2'>e</cell></row></table></body>",
         "a | b | c\na | d | c\na | e"),
        ("<body><table><row role='label'><cell>Port</cell><cell>Depth</cell></row><row><cell>Ostby"
         "</cell><cell>4 m</cell></row><row><cell cols='2'>a</cell></row></table></body>",
         "Port | Depth\nPort: Ostby | Depth: 4 m\na"),
        ("<body><lg><l>a</l><l>b</l></lg><lg><l>c</l></lg></body>", "a\nb\n\nc"),
        ("<body><list><head>H</head><item>a<list><item>b</item></list></item></list></body>",
         "H\n\na\n\nb"),
        ("<body>stray<p>a</p>words</body>", "stray\n\na\n\nwords"),
        ("<front><p>a</p></front><body><p>b</p></body><back><p>c</p></back>", "a\n\nb\n\nc"),
        ("<group><text><body><p>a</p></body></text><text><body><p>b</p></body></text></group>",
         "a\n\nb"),
        # words stand as their white space says, where they have no joins
        ("<body><p><w>can</w><w>not</w> <w>say</w><pc>.</pc></p></body>", "cannot say."),
        ('<body><p><w>Yes</w></p><p><pc join="both">-</pc><w>no</w></p></body>', "Yes\n\n-no"),
        (f"<body><p>a {INCLUDE} b</p></body>", "a b"),
    ],
)  # fmt: skip
def test_markup_becomes_text(tei: Tei, body: str, text: str) -> None:
    draft = tei(body)
    assert draft.text == text
    remark = "1 xi:include were not followed: they point to other files"
    assert draft.remark == (remark if INCLUDE in body else "")


def test_speeches_one_after_another_by_one_speaker_stay_two(tei: Tei) -> None:
    draft = tei('<body><u who="#AnnAble">a</u><u who="#AnnAble">b</u><p>c</p><p>d</p></body>')
    assert pieces(draft) == [("", "Ann Able", "a"), ("", "Ann Able", "b"), ("", "", "c\n\nd")]
    assert paragraphs(draft) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0">{HEAD}{INCLUDE}</teiCorpus>',
         "it holds no text of its own, only 1 xi:include: put the files that they name into the "
         "folder, each is read by itself"),
        ('<listPerson xmlns="http://www.tei-c.org/ns/1.0"><person>Anne</person></listPerson>',
         "a TEI <listPerson>: a list for other files, not a text"),
    ],
)  # fmt: skip
def test_a_file_for_others_is_no_document(read_xml: ReadXml, source: str, reason: str) -> None:
    assert only_reason(read_xml(source)) == reason


NAMES = """
#a → Ann Able | persons.xml#a → Ann Able | #a #AbbottDiane → Ann Able, Abbott Diane
#KučanMilan.1941 → Kučan Milan | #DeJòdarJulià → De Jòdar Julià | #O'BrienPat → O'Brien Pat
#MacKayAngus → MacKay Angus | #van_der_Berg → van der Berg | #U8dvmLKX → U8dvmLKX | #Q1234 → Q1234
"""


def test_a_pointer_is_a_name() -> None:
    for pointers, name in (each.split(" → ") for each in re.split(r" \| |\n", NAMES.strip())):
        assert resolve_pointers(pointers, {"a": "Ann Able"}) == name
    assert [resolve_pointers(each, {}) for each in ("#unknown", "")] == ["", ""]
