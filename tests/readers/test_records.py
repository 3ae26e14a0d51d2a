"""Records of libraries and archives, and lists of literature."""

from collections.abc import Sequence
from typing import Any

import pymarc
import pytest

from atlas_search.core.domain import Segment
from atlas_search.readers import Draft
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
