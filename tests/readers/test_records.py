"""Records of libraries and archives, and lists of literature."""

import json
from collections.abc import Sequence
from typing import Any

import pymarc
import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft, Skipped
from atlas_search.readers.files import READERS
from tests.readers.conftest import Reads
from tests.readers.drafts import check, only_draft, only_reason, paragraphs

Fields = Sequence[tuple[str, str]]

BOOK = (
    ("245", "a The dues of Ostby / c by Anna Roe."),
    ("260", "a Ostby : b Harbour Press, c 1887."),
    ("505", "a I. Ships. II. Walls."),
    ("520", "a Twelve ships are listed."),
    ("650", "a Harbours z Norway v Sources. 2 lcsh"),
    ("100", "a Roe, Anna, d 1850-1901."),
    ("700", "a Hay, B. J., e editor."),
    ("852", "a National Library h HF 1887 i .R6"),
    ("040", "a DLC"),
)


def binary(fields: Fields, leader: str = "", **options: Any) -> bytes:
    record = pymarc.Record(force_utf8=True)
    if leader:
        record.leader = pymarc.Leader(leader)
    for tag, text in fields:
        parts = [pymarc.Subfield(each[0], each[2:]) for each in _parts(text)]
        record.add_field(pymarc.Field(tag, subfields=parts))
    return bytes(record.as_marc())


def _parts(text: str) -> list[str]:
    """`a The dues of Ostby / c by Anna Roe.`: single signs are codes."""
    parts: list[str] = []
    for word in text.split():
        if len(word) == 1 and word.isalnum() and word not in "I":
            parts.append(f"{word} ")
        else:
            parts[-1] = f"{parts[-1].rstrip()} {word}" if parts[-1][2:] else f"{parts[-1]}{word}"
    return parts


def xml(fields: Fields) -> str:
    inner = "".join(
        f'<datafield tag="{tag}">'
        + "".join(f'<subfield code="{part[0]}">{part[2:]}</subfield>' for part in _parts(text))
        + "</datafield>"
        for tag, text in fields
    )
    return (
        '<collection xmlns="http://www.loc.gov/MARC21/slim"><record><leader>00000nam</leader>'
        f'<controlfield tag="001">b1</controlfield>{inner}</record></collection>'
    )


def test_a_catalogue_record_is_a_document_in_both_forms(reads: Reads) -> None:
    first = only_draft(reads(xml(BOOK), "books.xml"))
    second = only_draft(reads(binary(BOOK), "books.mrc"))
    for draft in (first, second):
        assert draft.title == "The dues of Ostby"
        assert paragraphs(draft) == [
            "The dues of Ostby / by Anna Roe.",
            "Ostby : Harbour Press, 1887.",
            "I. Ships. II. Walls.",
            "Twelve ships are listed.",
            "Roe, Anna, 1850-1901.\nHay, B. J., editor.",
            "Subjects: Harbours – Norway – Sources.",
        ]
        assert draft.metadata == {
            "author": ["Roe, Anna", "Hay, B. J."],
            "date": "1887",
            "publisher": "Harbour Press",
            "publication_place": "Ostby",
            "archive": "National Library",
            "shelf_mark": "HF 1887 .R6",
            "tags": ["Harbours – Norway – Sources"],
        }
    assert (first.key, second.key) == ("b1", "record-1")


def test_other_forms_of_records_are_told_apart(reads: Reads) -> None:
    unimarc = (
        ("200", "a \x98L'\x9caltra faccia f Anna Roe"),
        ("210", "a Milano c Mondadori d 1996"),
        ("700", "a Roe b , Anna"),
        ("606", "a Storia"),
    )
    draft = only_draft(reads(binary(unimarc), "books.mrc"))
    assert (draft.title, draft.metadata["author"]) == ("L'altra faccia", ["Roe, Anna"])
    assert paragraphs(draft)[-1] == "Subjects: Storia"
    authority = (("100", "a Roe, Anna"), ("400", "a Ann Roe"), ("678", "a She counted ships."))
    person = only_draft(reads(binary(authority, "00000nz  a2200000n  4500"), "names.mrc"))
    assert person.title == "Roe, Anna"
    assert paragraphs(person) == ["Roe, Anna", "Ann Roe", "She counted ships."]
    script = (("245", "a Gang wu zhi"), ("880", "6 245-01 a 港务志"))
    assert paragraphs(only_draft(reads(binary(script), "a.mrc"))) == ["Gang wu zhi", "港务志"]


def test_the_encoding_of_records_can_be_given(reads: Reads) -> None:
    data = binary([("245", "a Ships")]).replace(b"Ships", "Опыт ".encode("cp1251"))
    data = data[:9] + b" " + data[10:]
    assert "say in which encoding" in only_reason(reads(data, "a.mrc"))
    reader = READERS.load("marc", "a test")()
    assert only_draft(reads(data, "a.mrc", reader, "cp1251")).text == "Опыт"


AID = """<ead xmlns="urn:isbn:1-931666-22-9"><eadheader><eadid>roe</eadid></eadheader>
<archdesc level="collection"><did><unittitle>Anna Roe Papers</unittitle><unitid>MC 7</unitid>
<unitdate type="bulk">1870-1880</unitdate><unitdate type="inclusive">1866-1890</unitdate>
<repository><corpname>Ostby Archives</corpname></repository>
<origination><persname>Roe, Anna</persname></origination></did>
<bioghist><head>Life</head><p>She counted ships.</p></bioghist>
<controlaccess><subject source="lcsh">Harbours</subject></controlaccess>
<dsc><c01 level="series"><did><unittitle>Letters</unittitle></did>
<c02 id="l1" level="file"><did><unittitle>To Karl</unittitle><unitdate>1866</unitdate>
<unitid>MC 7/1</unitid><container type="box">1</container><container type="folder">2</container>
</did><scopecontent><p>On dues.</p></scopecontent>
<c03><did><unittitle>A drawing</unittitle></did></c03></c02>
<c02><did><unittitle>To Eve</unittitle><unitdate>1870</unitdate></did></c02></c01></dsc>
</archdesc></ead>"""


def test_a_described_unit_is_a_document_and_others_are_lines_above(reads: Reads) -> None:
    whole, letters = reads(AID, "aid.xml")
    assert isinstance(whole, Draft)
    assert isinstance(letters, Draft)
    check(whole)
    check(letters)
    assert (whole.key, whole.title) == ("roe", "Anna Roe Papers")
    assert paragraphs(whole) == [
        "Anna Roe Papers, 1866-1890, MC 7",
        "Roe, Anna",
        "Life",
        "She counted ships.",
        "Harbours",
        "Letters",
        "To Eve, 1870",
    ]
    assert whole.metadata == {
        "author": ["Roe, Anna"],
        "date": "1866-1890",
        "archive": "Ostby Archives",
        "shelf_mark": "MC 7",
        "tags": ["Harbours"],
        "document_type": "collection",
    }
    assert (letters.key, letters.title) == ("roe.l1", "To Karl")
    assert paragraphs(letters) == [
        "To Karl, 1866, MC 7/1, Box 1, Folder 2",
        "On dues.",
        "A drawing",
    ]
    assert letters.segments[0] == Segment(0, "Anna Roe Papers > Letters")
    assert letters.metadata == {
        "date": "1866",
        "archive": "Ostby Archives",
        "shelf_mark": "MC 7/1",
        "container": "Box 1, Folder 2",
        "source": "Anna Roe Papers",
        "document_type": "file",
    }


@pytest.mark.parametrize(
    ("dates", "date"),
    [
        ("<unitdatestructured><daterange><fromdate>1866</fromdate><todate>1870</todate>"
         "</daterange></unitdatestructured>", "1866–1870"),
        ("<unittitle>Ships, <unitdate>1887</unitdate></unittitle>", "1887"),
        ("<unitdate>undated</unitdate>", "undated"),
    ],
)  # fmt: skip
def test_the_dates_of_both_versions_of_ead(reads: Reads, dates: str, date: str) -> None:
    content = (
        '<ead xmlns="http://ead3.archivists.org/schema/"><control><recordid>x</recordid></control>'
        f"<archdesc><did>{dates}</did><scopecontent><p>Ships.</p></scopecontent></archdesc></ead>"
    )
    assert only_draft(reads(content, "aid.xml")).metadata["date"] == date


BIBTEX = r"""@string{may = "May"}
@article{roe, author = {Roe, Anna and {Ports and Harbours Board}}, title = {The {D}ues of
  {\"O}stby}, journal = {Ports}, year = 1887, volume = 3, number = 2, pages = {1--9},
  keywords = {ships; dues}, doi = {https://doi.org/10.1000/182},
  abstract = {Twelve ships \& a caf\'e.}, annote = {Read it.}}
@book{hay, title = {Walls}}
@misc{roe, title = {The same key}, note = {Second.}}
"""
RIS = """TY  - JOUR
AU  - Roe, Anna
TI  - The dues
T2  - Ports
DA  - 1887/05/03/
SP  - 1
EP  - 9
AB  - Twelve ships
KW  - ships
ER  -
TY  - BOOK
TI  - Walls
ER  -
"""
CSL = [
    {"id": "roe", "type": "article-journal", "title": "The dues", "container-title": "Ports",
     "author": [{"family": "Roe", "given": "Anna"}, {"literal": "Harbour Board"}],
     "issued": {"date-parts": [[1887, 5, 3]]},
     "abstract": "<p>Twelve <i>ships</i></p><p>came.</p>"},
    {"id": "hay", "type": "book", "title": "Walls", "issued": {"date-parts": [[1901], [1903]]},
     "note": "Old."},
]  # fmt: skip
ZOTERO = {"items": [
    {"itemType": "letter", "itemID": 4, "citationKey": "roe", "title": "To Karl",
     "creators": [{"creatorType": "author", "lastName": "Roe", "firstName": "Anna"},
                  {"creatorType": "editor", "name": "Harbour Board"}], "date": "4 May 1866",
     "archive": "Ostby Archives", "archiveLocation": "MC 7", "tags": [{"tag": "dues"}],
     "notes": [{"note": "<p>On dues.</p>"}], "attachments": [{"path": "a.pdf"}]},
    {"itemType": "attachment", "title": "a.pdf"},
]}  # fmt: skip
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:z="http://www.zotero.org/namespaces/export#" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#"
 xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/">
<bib:Article rdf:about="#roe"><z:itemType>journalArticle</z:itemType>
<dcterms:isPartOf rdf:resource="urn:issn:1"/><bib:authors><rdf:Seq><rdf:li><foaf:Person>
<foaf:surname>Roe</foaf:surname><foaf:givenName>Anna</foaf:givenName></foaf:Person></rdf:li></rdf:Seq>
</bib:authors><dcterms:isReferencedBy rdf:resource="#note"/><dc:title>The dues</dc:title>
<dc:date>1887</dc:date><dcterms:abstract>Twelve ships</dcterms:abstract></bib:Article>
<bib:Journal rdf:about="urn:issn:1"><prism:volume>3</prism:volume><dc:title>Ports</dc:title>
</bib:Journal><bib:Memo rdf:about="#note">
<rdf:value>&lt;p&gt;Read it.&lt;/p&gt;</rdf:value></bib:Memo>
</rdf:RDF>"""


def test_a_record_of_bibtex_is_a_document_of_its_abstract_and_notes(reads: Reads) -> None:
    first, second, third = reads(BIBTEX, "books.bib")
    assert isinstance(first, Draft)
    assert (first.key, first.title) == ("roe", "The Dues of Östby")
    assert paragraphs(first) == ["Twelve ships & a café.", "Read it."]
    assert first.metadata == {
        "title": "The Dues of Östby",
        "author": ["Roe, Anna", "Ports and Harbours Board"],
        "date": "1887",
        "container_title": "Ports",
        "volume": "3",
        "issue": "2",
        "pages": "1–9",
        "doi": "10.1000/182",
        "tags": ["ships", "dues"],
        "citation_key": "roe",
        "document_type": "article",
    }
    nothing = "line 6: it has neither an abstract nor a note, so there is nothing to read"
    assert second == Skipped(nothing, "hay")
    assert isinstance(third, Draft)
    assert (third.key, third.text) == ("roe", "Second.")  # the build keeps the first of two


def test_a_record_of_ris(reads: Reads) -> None:
    first, second = reads(RIS, "books.ris")
    assert isinstance(first, Draft)
    assert (first.text, first.key) == ("Twelve ships", "record-1")
    assert first.metadata == {
        "title": "The dues",
        "author": ["Roe, Anna"],
        "date": "1887-05-03",
        "container_title": "Ports",
        "pages": "1-9",
        "tags": ["ships"],
        "document_type": "JOUR",
    }
    assert isinstance(second, Skipped)


def test_records_of_csl_and_zotero_are_known_in_json(reads: Reads) -> None:
    first, second = reads(json.dumps(CSL), "books.json")
    assert isinstance(first, Draft)
    assert isinstance(second, Draft)
    assert (first.key, paragraphs(first)) == ("roe", ["Twelve ships", "came."])
    assert first.metadata["author"] == ["Roe, Anna", "Harbour Board"]
    assert (first.metadata["date"], second.metadata["date"]) == ("1887-05-03", "1901-1903")
    letter = only_draft(reads(json.dumps(ZOTERO), "library.json"))
    assert (letter.key, letter.text) == ("roe", "On dues.")
    assert letter.metadata == {
        "title": "To Karl",
        "author": ["Roe, Anna"],
        "editor": ["Harbour Board"],
        "date": "4 May 1866",
        "archive": "Ostby Archives",
        "shelf_mark": "MC 7",
        "tags": ["dues"],
        "citation_key": "roe",
        "document_type": "letter",
    }
    # a record with a text of its own is read as any other, and so is one whose text is named
    plain = [{"type": "letter", "abstract": "Short.", "text": "The whole."}]
    assert only_draft(reads(json.dumps(plain), "letters.json")).text == "The whole."
    reader = READERS.load("jsonl", "a test")(text_column="title")
    assert [read.text for read in reads(json.dumps(CSL), "a.json", reader)] == ["The dues", "Walls"]


@pytest.mark.parametrize(
    "odd",
    [
        {"issued": {"date-parts": [["--5", None], 7]}, "author": [[[[]]], 5, {"family": None}]},
        {"issued": {"date-parts": None}, "DOI": {"a": [1]}, "data": [1]},
        {"issued": 1887, "note": [{"note": {"note": "deep"}}], "keyword": True},
    ],
)
def test_odd_records_in_json_harm_nobody(reads: Reads, odd: dict[str, Any]) -> None:
    record = {"type": "book", "abstract": "Twelve ships.", **odd}
    assert only_draft(reads(json.dumps([record]), "books.json")).text == "Twelve ships."


def test_records_of_zotero_in_rdf(reads: Reads) -> None:
    draft = only_draft(reads(RDF, "library.rdf"))
    assert (draft.key, paragraphs(draft)) == ("#roe", ["Twelve ships", "Read it."])
    assert draft.metadata == {
        "title": "The dues",
        "author": ["Roe, Anna"],
        "date": "1887",
        "container_title": "Ports",
        "volume": "3",
        "document_type": "journalArticle",
    }
