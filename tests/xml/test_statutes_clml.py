"""Acts and instruments in the shape of legislation.gov.uk."""

import pytest

from atlas_search.readers import Draft
from tests.xml.xml_drafts import headed, locators, places, reason

NAMESPACES = """xmlns="http://www.legislation.gov.uk/namespaces/legislation"
xmlns:ukm="http://www.legislation.gov.uk/namespaces/metadata"
xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/"
DocumentURI="http://www.legislation.gov.uk/ukpga/2031/9" """
ABOUT = """<ukm:Metadata><dc:identifier>http://www.legislation.gov.uk/ukpga/2031/9</dc:identifier>
<dc:title>Lamps Act 2031</dc:title><dc:language>en</dc:language><dct:valid>2033-02-01</dct:valid>
<ukm:PrimaryMetadata><ukm:DocumentClassification><ukm:DocumentCategory Value="primary"/>
<ukm:DocumentMainType Value="UnitedKingdomPublicGeneralAct"/><ukm:DocumentStatus Value="revised"/>
</ukm:DocumentClassification><ukm:Year Value="2031"/><ukm:Number Value="9"/>
<ukm:EnactmentDate Date="2031-05-06"/></ukm:PrimaryMetadata></ukm:Metadata>"""
ACT = f"""<Legislation {NAMESPACES}>{ABOUT}<Contents><ContentsTitle>Lamps</ContentsTitle></Contents>
<Primary><PrimaryPrelims><Title>Lamps Act 2031</Title><Number>2031 Chapter 9</Number><LongTitle>An
Act about lamps.</LongTitle><DateOfEnactment><DateText>[6th May 2031]</DateText></DateOfEnactment>
</PrimaryPrelims><Body><Part id="part-1"><Number>Part 1</Number><Title>Oil</Title><P1group><Title>
<CommentaryRef Ref="c1"/>Duty to light</Title><P1 id="section-1"><Pnumber>1</Pnumber><P1para>
<P2><Pnumber>1</Pnumber><P2para><Text>Every lamp<FootnoteRef Ref="f1"/> burns—</Text><P3><Pnumber>a
</Pnumber><P3para><Text>at <Substitution CommentaryRef="c1" ChangeId="x">dusk</Substitution>,
</Text></P3para></P3></P2para></P2><P2><Pnumber><Addition CommentaryRef="c2">2</Addition></Pnumber>
<P2para><Text>It is lit by—</Text><OrderedList Type="roman" Decoration="parens" Start="3"><ListItem>
<Para><Text>hand;</Text></Para></ListItem><ListItem><Para><Text>wick.</Text></Para></ListItem>
</OrderedList></P2para></P2></P1para></P1></P1group><P1 id="section-2"><Pnumber>2</Pnumber><P1para>
<Text>In the Wax Act after section 4 insert—</Text><BlockAmendment><P1group><Title>Tallow</Title>
<P1><Pnumber PuncAfter=".">4A</Pnumber><P1para><Text>Tallow melts</Text></P1para></P1></P1group>
</BlockAmendment><AppendText>.</AppendText></P1para></P1></Part></Body><Schedules><Schedule><Number>
SCHEDULE 2</Number><TitleBlock><Title>Wicks</Title></TitleBlock><Reference>Section 1</Reference>
<ScheduleBody><P1group><Title>Length</Title><P1 id="schedule-2-paragraph-3"><Pnumber>3</Pnumber>
<P1para><Text>A wick is long.</Text></P1para></P1></P1group></ScheduleBody></Schedule></Schedules>
</Primary><Footnotes><Footnote id="f1"><FootnoteText><Para><Text>See the Wax Act.</Text></Para>
</FootnoteText></Footnote></Footnotes><Commentaries><Commentary id="c1" Type="F"><Para><Text>Words
substituted.</Text></Para></Commentary><Commentary id="c2" Type="F"><Para><Text>S. 1(2) inserted.
</Text></Para></Commentary><Commentary id="c9" Type="C"><Para><Text>Act applied.</Text></Para>
</Commentary></Commentaries></Legislation>"""


@pytest.fixture
def act(law) -> Draft:
    return law(ACT)


def test_sections_and_schedules_are_cited(act: Draft) -> None:
    assert places(act) == [
        ("", "Part 1 Oil", "Part 1 Oil"),
        (
            "s 1(1)",
            "Duty to light",
            "Duty to light\n1 (1) Every lamp burns—\n(a) at dusk,",
        ),
        ("s 1(2)", "Duty to light", "(2) It is lit by—\n(iii) hand;\n(iv) wick."),
        (
            "s 1",
            "Duty to light",
            "Words substituted.\n\nSee the Wax Act.\n\nS. 1(2) inserted.",
        ),
        (
            "s 2",
            "Part 1 Oil",
            "2 In the Wax Act after section 4 insert—\n\nTallow\n4A. Tallow melts.",
        ),
        ("sch 2", "SCHEDULE 2 Wicks", "SCHEDULE 2 Wicks\n\nSection 1"),
        ("sch 2 para 3", "Length", "Length\n3 A wick is long."),
        ("", "", "Act applied."),
    ]
    assert len(locators(act)) == 6
    assert headed(act) == ["Part 1 Oil", "Duty to light", "SCHEDULE 2 Wicks", "Length"]


def test_what_stands_before_the_first_section_is_text(act: Draft) -> None:
    assert act.text.startswith("2031 Chapter 9\n\nAn Act about lamps.\n\n[6th May 2031]\n\nPart 1")


def test_an_act_says_what_it_is(act: Draft) -> None:
    assert act.title == "Lamps Act 2031"
    assert act.metadata == {
        "date": "2031-05-06",
        "last_amended": "2033-02-01",
        "long_title": "An Act about lamps.",
        "citation": "2031 Chapter 9",
        "chapter": "9",
        "jurisdiction": "United Kingdom",
        "document_type": "act",
        "language": "en",
        "url": "http://www.legislation.gov.uk/ukpga/2031/9",
    }


INSTRUMENT = """<Legislation xmlns="http://www.legislation.gov.uk/namespaces/legislation"
xmlns:ukm="http://www.legislation.gov.uk/namespaces/metadata" DocumentURI="javascript:x">
<ukm:Metadata><ukm:SecondaryMetadata><ukm:DocumentClassification>
<ukm:DocumentCategory Value="secondary"/><ukm:DocumentMainType Value="{main}"/>
<ukm:DocumentMinorType Value="{minor}"/></ukm:DocumentClassification><ukm:Year Value="2032"/>
<ukm:Number Value="41"/><ukm:Made Date="2032-01-02"/><ukm:ComingIntoForce>
<ukm:DateTime Date="2032-03-04"/></ukm:ComingIntoForce></ukm:SecondaryMetadata></ukm:Metadata>
<Secondary><SecondaryPrelims><Number>2032 No. 41</Number><Title>The Wick Order 2032</Title>
<MadeDate><Text>Made</Text><DateText>2nd January 2032</DateText></MadeDate></SecondaryPrelims>
<Body><P1>
<Pnumber>1</Pnumber><P1para><P2><Pnumber PuncBefore="" PuncAfter="">1.2</Pnumber><P2para><Text>Wicks
are <math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>1</mn><mn>2</mn></mfrac></math>
inch.</Text></P2para></P2></P1para></P1><P1><Pnumber>2</Pnumber><P1para><Text>So</Text></P1para>
</P1>
</Body><Schedules><Schedule><Number>THE SCHEDULE</Number><ScheduleBody><P1><Pnumber>6</Pnumber>
<P1para><Text>Cut.</Text></P1para></P1><Tabular><table><tbody><tr><td>Red</td><td>5</td></tr>
</tbody></table></Tabular></ScheduleBody></Schedule></Schedules><ExplanatoryNotes>
<Title>Note</Title>
<P><Text>Wicks again.</Text></P></ExplanatoryNotes></Secondary></Legislation>"""


@pytest.mark.parametrize(
    ("main", "minor", "expected"),
    [
        ("UnitedKingdomStatutoryInstrument", "order", ["art 1.2", "art 2"]),
        ("UnitedKingdomStatutoryInstrument", "regulation", ["reg 1.2", "reg 2"]),
        ("ScottishStatutoryInstrument", "rule", ["r 1.2", "r 2"]),
        ("EuropeanUnionRegulation", "", ["art 1.2", "art 2"]),
    ],
)
def test_instruments_are_cited_by_their_kind(
    law, main: str, minor: str, expected: list[str]
) -> None:
    draft = law(INSTRUMENT.format(main=main, minor=minor))
    assert locators(draft) == [*expected, "sch para 6"]


def test_an_instrument_says_what_it_is_and_gives_no_false_address(law) -> None:
    draft = law(INSTRUMENT.format(main="WelshStatutoryInstrument", minor="order"))
    assert draft.title == "The Wick Order 2032"
    assert draft.metadata == {
        "date": "2032-01-02",
        "in_force_from": "2032-03-04",
        "citation": "2032 No. 41",
        "instrument_number": "2032/41",
        "jurisdiction": "Wales",
        "document_type": "order",
    }


def test_tables_fractions_dates_and_notes_are_text(law) -> None:
    draft = law(INSTRUMENT.format(main="WelshStatutoryInstrument", minor="order"))
    assert "Made 2nd January 2032" in draft.text
    assert "1 1.2 Wicks are 1/2 inch." in draft.text
    assert "Red | 5" in draft.text
    assert places(draft)[-1] == ("", "Note", "Note\n\nWicks again.")


def test_a_table_of_contents_is_no_law(read_bytes) -> None:
    xml = f"<Legislation {NAMESPACES}>{ABOUT}<Contents/></Legislation>"
    assert "get the data.xml" in reason(read_bytes(xml.encode()))
