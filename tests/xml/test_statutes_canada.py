"""Acts and regulations in the shape of the Justice Laws of Canada."""

import pytest

from tests.xml.xml_drafts import headed, locators, places

ABOUT = """<Identification><LongTitle>An Act respecting the keeping of bees</LongTitle>
<ShortTitle status="official">Bees Act</ShortTitle><RunningHead>Bees</RunningHead><BillHistory>
<Stages stage="consolidation"><Date><YYYY>2025</YYYY><MM>7</MM><DD>1</DD></Date></Stages>{assent}
</BillHistory><Chapter><ConsolidatedNumber official="{official}">B-1.5</ConsolidatedNumber>
<AnnualStatuteId><AnnualStatuteNumber>7</AnnualStatuteNumber><YYYY>2019</YYYY></AnnualStatuteId>
</Chapter></Identification>"""
ASSENT = (
    """<Stages stage="assented-to"><Date><YYYY>2019</YYYY><MM>6</MM><DD>3</DD></Date></Stages>"""
)
BODY = """<Introduction><Preamble><Provision><MarginalNote>Preamble</MarginalNote><Text>WHEREAS bees
are useful;</Text></Provision></Preamble><Enacts><Provision><Text>NOW, THEREFORE, it is enacted:
</Text></Provision></Enacts></Introduction><Body><Heading level="1"><Label>PART 1</Label><TitleText>
Hives</TitleText></Heading><Heading level="2"><TitleText>Interpretation</TitleText></Heading>
<Section><MarginalNote>Definitions</MarginalNote><Label>2</Label><Subsection><Label>(1)</Label>
<Text>In this Act,</Text><Definition><Text><DefinedTermEn>hive</DefinedTermEn> means</Text>
<Paragraph><Label>(a)</Label><Text>a skep, or</Text></Paragraph><Paragraph><Label>(b)</Label><Text>
a box. (<DefinedTermFr>ruche</DefinedTermFr>)</Text></Paragraph></Definition></Subsection>
<Subsection><MarginalNote>Wax</MarginalNote><Label>(2)</Label><Text>Wax is honey.</Text>
</Subsection><HistoricalNote><HistoricalNoteSubItem>2019, c. 7, s. 2</HistoricalNoteSubItem>
</HistoricalNote></Section><Section><Label><FootnoteRef idref="n">*</FootnoteRef>2.1</Label><Text>
Bees fly.</Text><Footnote id="n"><Label>*</Label><Text>[Note: In force.]</Text></Footnote></Section>
<Section><Label>3 to 5</Label><Text><Repealed>[Repealed, 2020, c. 1, s. 9]</Repealed></Text>
</Section></Body>"""


def act(rest: str = BODY, official: str = "no", assent: str = ASSENT, root: str = "") -> str:
    about = ABOUT.format(official=official, assent=assent)
    return (
        '<Statute xmlns:lims="http://justice.gc.ca/lims" lims:lastAmendedDate="2020-05-01" '
        f'xml:lang="en"{root}>{about}{rest}</Statute>'
    )


def test_sections_are_cited_and_stand_below_their_marginal_notes(law) -> None:
    draft = law(act())
    assert draft.text.startswith("An Act respecting the keeping of bees\n\nPreamble\nWHEREAS bees")
    assert places(draft)[3:] == [
        ("", "Interpretation", "Interpretation"),
        (
            "s 2(1)",
            "Definitions",
            "Definitions\n2 (1) In this Act,\nhive means\n(a) a skep, or\n(b) a box. (ruche)",
        ),
        ("s 2(2)", "Wax", "Wax\n(2) Wax is honey."),
        ("s 2", "Definitions", "2019, c. 7, s. 2"),
        ("s 2.1", "Interpretation", "*2.1 Bees fly.\n\n* [Note: In force.]"),
        ("s 3-5", "Interpretation", "3 to 5 [Repealed, 2020, c. 1, s. 9]"),
    ]
    assert draft.segments[5].section == "PART 1 Hives > Interpretation > Definitions > Wax"
    assert headed(draft) == [
        "Preamble",
        "PART 1 Hives",
        "Interpretation",
        "Definitions",
        "Wax",
    ]
    assert len(locators(draft)) == 5


def test_an_act_says_what_it_is(law) -> None:
    draft = law(act())
    assert draft.title == "Bees Act"
    assert draft.metadata == {
        "date": "2019-06-03",
        "last_amended": "2020-05-01",
        "long_title": "An Act respecting the keeping of bees",
        "citation": "S.C. 2019, c. 7",
        "chapter": "B-1.5",
        "jurisdiction": "Canada",
        "document_type": "act",
        "language": "en",
    }


@pytest.mark.parametrize(
    ("official", "assent", "date", "citation"),
    [
        ("yes", "", "1985", "R.S.C., 1985, c. B-1.5"),
        ("no", "", "2019", "S.C. 2019, c. 7"),
    ],
)
def test_without_a_day_of_assent_the_chapter_gives_the_year(
    law, official: str, assent: str, date: str, citation: str
) -> None:
    draft = law(act(official=official, assent=assent))
    assert (draft.metadata["date"], draft.metadata["citation"]) == (date, citation)


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (' lims:inforce-start-date="2019-09-01"', "2019-09-01"),
        (' lims:inforce-start-date="2019-09-01" hasPreviousVersion="true"', None),
        (' lims:inforce-start-date="2002-12-31"', None),
    ],
)
def test_the_day_of_coming_into_force_is_that_of_the_first_version(law, root, expected) -> None:
    assert law(act(root=root)).metadata.get("in_force_from") == expected


REGULATION = """<Regulation regulation-type="SOR" xml:lang="en"><Identification><InstrumentNumber>
{number}</InstrumentNumber>{registered}<EnablingAuthority><XRefExternal>BEES ACT</XRefExternal>
</EnablingAuthority><LongTitle>Hive Colours Regulations</LongTitle></Identification><Body><Section>
<Label>1</Label><Text>The fee is</Text><FormulaGroup><Formula><FormulaText>A/B</FormulaText>
</Formula><FormulaConnector>where</FormulaConnector><FormulaDefinition><FormulaTerm>A</FormulaTerm>
<Text>is the wax.</Text></FormulaDefinition></FormulaGroup></Section><Section><Label>2</Label><Text>
The Act reads:</Text><AmendedText><Section><MarginalNote>Wax</MarginalNote><Label>9</Label><Text>Wax
melts.</Text></Section></AmendedText></Section></Body><Schedule><ScheduleFormHeading><Label>
SCHEDULE I</Label><OriginatingRef>(Section 1)</OriginatingRef><TitleText>Colours</TitleText>
</ScheduleFormHeading><TableGroup><table><tgroup><tbody><row><entry>Red</entry><entry>5</entry>
</row>
<row><entry>Blue</entry><entry>6</entry></row></tbody></tgroup></table></TableGroup>
<DocumentInternal><Group><GroupHeading><Label>ARTICLE 3</Label><TitleText>Paint</TitleText>
</GroupHeading><Provision><Text>Paint dries.</Text></Provision></Group></DocumentInternal>
</Schedule><Schedule><ScheduleFormHeading type="amending"><TitleText>AMENDMENTS NOT IN FORCE
</TitleText></ScheduleFormHeading><RegulationPiece><RelatedOrNotInForce><Heading level="5">
<TitleText>2024, c. 2
</TitleText></Heading><Section><Label>77</Label><Text>Hives are round.</Text></Section>
</RelatedOrNotInForce></RegulationPiece></Schedule></Regulation>"""
REGISTERED = """<RegistrationDate><Date><YYYY>2001</YYYY><MM>4</MM><DD>9</DD></Date>
</RegistrationDate>"""


def test_schedules_tables_formulas_and_other_acts(law) -> None:
    draft = law(REGULATION.format(number="SOR/2001-5", registered=REGISTERED))
    assert places(draft) == [
        ("s 1", "", "1 The fee is\n\nA/B\nwhere\nA is the wax."),
        ("s 2", "", "2 The Act reads:\n\nWax\n9 Wax melts."),
        (
            "sch I",
            "SCHEDULE I (Section 1) Colours",
            "SCHEDULE I (Section 1) Colours\n\nRed | 5\nBlue | 6",
        ),
        ("sch I art 3", "ARTICLE 3 Paint", "ARTICLE 3 Paint\n\nPaint dries."),
        ("", "AMENDMENTS NOT IN FORCE", "AMENDMENTS NOT IN FORCE"),
        ("", "2024, c. 2", "2024, c. 2\n\n77 Hives are round."),
    ]
    assert len(locators(draft)) == 4
    assert draft.title == "Hive Colours Regulations"
    assert draft.text.startswith("BEES ACT\n\n1 The fee")
    assert draft.metadata["enabling_act"] == ["BEES ACT"]
    assert (draft.metadata["date"], draft.metadata["instrument_number"]) == (
        "2001-04-09",
        "SOR/2001-5",
    )


def test_a_consolidated_regulation_is_of_1978(law) -> None:
    assert law(REGULATION.format(number="C.R.C., c. 9", registered="")).metadata["date"] == "1978"


def test_the_history_in_a_marginal_note_and_in_a_heading_comes_after(law) -> None:
    body = """<Body><Heading level="1"><Label>PART 2</Label><MarginalNote><HistoricalNote>R.S., c. 3
    </HistoricalNote></MarginalNote><TitleText>Honey</TitleText></Heading><Section>
<MarginalNote>Jars
    <HistoricalNote>2001, c. 8</HistoricalNote></MarginalNote><Label>7</Label><Text>Jars
    shut.</Text></Section></Body>"""
    assert places(law(act(body))) == [
        ("", "PART 2 Honey", "PART 2 Honey\n\nR.S., c. 3"),
        ("s 7", "Jars", "Jars\n7 Jars shut.\n\n2001, c. 8"),
    ]


def test_a_form_is_no_schedule_of_its_number(law) -> None:
    rest = (
        BODY
        + """<Schedule><FormGroup><ScheduleFormHeading><Label>FORM 1</Label><TitleText>Mark
    </TitleText></ScheduleFormHeading><Provision><Text>I mark my bees.</Text></Provision>
    </FormGroup></Schedule>"""
    )
    assert places(law(act(rest)))[-1] == ("", "FORM 1 Mark", "FORM 1 Mark\n\nI mark my bees.")
