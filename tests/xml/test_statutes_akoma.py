"""Acts and bills in the shape of Akoma Ntoso."""

import pytest

from tests.xml.xml_drafts import headed, locators, places

META = """<meta><identification><FRBRWork><FRBRthis value="https://laws.example/tz/act/2031/5"/>
<FRBRalias value="Wells Act"/><FRBRdate date="2031-02-03" name="Generation"/>
<FRBRcountry value="tz"/><FRBRnumber value="5"/><FRBRsubtype value="by-law"/></FRBRWork>
<FRBRExpression><FRBRlanguage language="eng"/></FRBRExpression></identification><lifecycle>
<eventRef date="2032-01-01" type="amendment"/><eventRef date="2033-01-01" type="amendment"/>
</lifecycle><notes><note eId="n1"><p>As amended.</p></note><note eId="n2"><p>Not cited.</p></note>
</notes></meta>"""
ACT = f"""<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0">
<act name="act">{META}
<preface><longTitle><p>An Act on <docTitle>Wells</docTitle>.</p></longTitle></preface><body>
<part eId="part_A"><num>Part A</num><heading>Water</heading><section eId="sec_1"><num>1.</num>
<heading>Wells<authorialNote marker="1"><p>Deep ones.</p></authorialNote> and<br/>springs</heading>
<subsection><num>(1)</num><content><p>A well is deep.<noteRef href="#n1" marker="2"/></p></content>
</subsection><subsection><num>(2)</num><intro><p>It holds—</p></intro><paragraph><num>(a)</num>
<content><p>water; or</p></content></paragraph><wrapUp><p>or nothing.</p></wrapUp></subsection>
</section><section eId="sec_2"><num>2.</num><content><p>The Springs Act reads: <mod>
<quotedStructure>
<section><num>9.</num><heading>Ponds</heading><content><p>Ponds dry.</p></content></section>
</quotedStructure></mod></p></content></section></part></body><attachments><attachment>
<heading>Schedule 1</heading><doc name="schedule"><meta/><mainBody><paragraph><num>3.</num><content>
<p>Ropes.</p></content></paragraph><table><tr><td><p>Rope</p></td><td><p>5</p></td></tr></table>
</mainBody></doc></attachment></attachments></act></akomaNtoso>"""
BILL = """<akomaNtoso><bill><body><chapter><num>II</num><{tag}><num>{num}</num>
<heading>Aim</heading>
<{part}><num>2.</num><content><p>Dig.</p></content></{part}></{tag}></chapter></body></bill>
</akomaNtoso>"""


def test_provisions_are_cited(law) -> None:
    draft = law(ACT)
    assert places(draft) == [
        ("", "Part A Water", "Part A Water"),
        (
            "s 1(1)",
            "1. Wells and springs",
            "1. Wells and springs\n(1) A well is deep.\n\nDeep ones.\n\nAs amended.",
        ),
        (
            "s 1(2)",
            "1. Wells and springs",
            "(2) It holds—\n(a) water; or\nor nothing.",
        ),
        (
            "s 2",
            "Part A Water",
            "2. The Springs Act reads:\n\n9. Ponds\nPonds dry.",
        ),
        ("sch 1", "Schedule 1", "Schedule 1"),
        ("sch 1 para 3", "Schedule 1", "3. Ropes."),
        ("sch 1", "Schedule 1", "Rope | 5"),
        ("", "", "Not cited."),
    ]
    assert len(locators(draft)) == 6
    assert headed(draft) == ["Part A Water", "1. Wells and springs", "Schedule 1"]
    assert draft.segments[1].section == "Part A Water > 1. Wells and springs"


def test_an_act_says_what_it_is(law) -> None:
    draft = law(ACT)
    assert draft.title == "Wells Act"
    assert draft.text.startswith("An Act on Wells.\n\nPart A Water")
    assert draft.metadata == {
        "date": "2031-02-03",
        "last_amended": "2033-01-01",
        "long_title": "An Act on Wells.",
        "instrument_number": "5",
        "jurisdiction": "tz",
        "document_type": "by-law",
        "language": "eng",
        "url": "https://laws.example/tz/act/2031/5",
    }


@pytest.mark.parametrize(
    ("tag", "num", "part", "expected"),
    [
        ("article", "Article 5", "paragraph", "art 5(2)"),
        ("article", "Artículo 5 bis.-", "paragraph", "art 5 bis(2)"),
        ("rule", "7.", "subrule", "r 7(2)"),
        ("clause", "7A", "subclause", "cl 7A(2)"),
        ("paragraph", "12.", "subparagraph", "para 12(2)"),
    ],
)
def test_each_kind_of_provision_has_its_locator(
    law, tag: str, num: str, part: str, expected: str
) -> None:
    assert locators(law(BILL.format(tag=tag, num=num, part=part))) == [expected]


def test_the_number_of_a_chapter_without_heading_is_a_heading(law) -> None:
    draft = law(BILL.format(tag="article", num="1", part="paragraph"))
    assert draft.segments[0].section == "II"
    assert draft.text.startswith("II\n\n1 Aim\n2. Dig.")


def test_a_schedule_without_a_number_is_the_schedule(law) -> None:
    draft = law(
        """<akomaNtoso><act><body><hcontainer name="schedule"><heading>Schedule</heading><paragraph>
        <num>4</num><content><p>Buckets.</p></content></paragraph></hcontainer></body></act>
        </akomaNtoso>"""
    )
    assert locators(draft) == ["sch para 4"]


@pytest.mark.parametrize(
    ("name", "heading", "expected"),
    [
        ("schedule", "Schedule 2", ["sch 2 s 1"]),
        ("schedule3", "Fines", ["sch 3 s 1"]),
        ("schedule", "Schedule of the fines of 2009", ["sch s 1"]),
        ("annex", "Annex IV", ["sch IV s 1"]),
    ],
)
def test_schedules_are_cited_by_their_numbers(law, name: str, heading: str, expected) -> None:
    draft = law(
        f"""<akomaNtoso><act><body><p>Wells.</p></body></act><components><component><doc
        name="{name}"><mainBody><article><hcontainer name="{name}"><heading>{heading}</heading>
        <section><num>1</num><content><p>Buckets.</p></content></section></hcontainer></article>
        </mainBody></doc></component></components></akomaNtoso>"""
    )
    assert [each for each in locators(draft) if " s " in each] == expected


def test_a_debate_is_not_read_as_a_law(law) -> None:
    draft = law(
        """<akomaNtoso><debate><debateBody><debateSection><speech by="#a"><p>Aye.</p></speech>
        </debateSection></debateBody></debate></akomaNtoso>"""
    )
    assert "document_type" not in draft.metadata
