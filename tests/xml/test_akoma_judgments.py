"""Judgments, reports and debates in the shape of Akoma Ntoso."""

import pytest

from tests.xml.xml_drafts import locators, paragraphs, places, speeches

JUDGMENT = """<akomaNtoso xmlns="{ns}"><{tag} name="judgment"><meta><identification><FRBRWork>
<FRBRthis value="https://cases.example/uk/2031/5"/><FRBRdate date="{day}" name="{of}"/>
<FRBRauthor href="#court"/><FRBRcountry value="uk"/><FRBRname value="Well v Spring"/></FRBRWork>
<FRBRExpression><FRBRdate date="2040-01-01" name="expression"/><FRBRlanguage language="eng"/>
</FRBRExpression><FRBRManifestation><FRBRdate date="2041-01-01" name="transform"/>
</FRBRManifestation></identification><references><TLCOrganization eId="court"
showAs="The Court of Wells"/></references><proprietary><hash>c0ffee</hash></proprietary></meta>
<header><p>Case No: <docketNumber>W5</docketNumber></p>
<p>Citation: <neutralCitation>[2031] CW 5</neutralCitation></p>
<p>Date: <docDate date="2031-02-03">3 February</docDate></p>
<p>Before: <judge>MR JUSTICE POND</judge></p></header><{tag}Body><decision><p>The facts</p>
<paragraph eId="para_1"><num>1.</num><content><p>A well is deep.</p><p>It is.</p></content>
</paragraph><level><heading>The law</heading><paragraph eId="para_2"><num>2.</num><intro><p>They
said:</p></intro><subparagraph><num>(a)</num><content><p>one;</p></content></subparagraph>
</paragraph><paragraph><num>7.</num><content><p>quoted words.</p></content></paragraph></level>
</decision></{tag}Body></{tag}></akomaNtoso>"""
V2, V3 = "http://www.akomantoso.org/2.0", "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"


@pytest.mark.parametrize(("tag", "ns"), [("judgement", V2), ("judgment", V3)])
def test_a_judgment_is_cited_by_its_own_paragraphs(law, tag: str, ns: str) -> None:
    draft = law(JUDGMENT.format(tag=tag, ns=ns, day="2031-02-03", of="judgment"))
    assert paragraphs(draft)[:6] == [
        "Case No: W5",
        "Citation: [2031] CW 5",
        "Date: 3 February",
        "Before: MR JUSTICE POND",
        "The facts",
        "1. A well is deep.",
    ]
    assert places(draft) == [
        ("para 1", "", "1. A well is deep.\n\nIt is."),
        ("", "The law", "The law"),
        ("para 2", "The law", "2. They said:"),
        ("para 2(a)", "The law", "(a) one;"),
        ("", "The law", "7. quoted words."),
    ]
    assert locators(draft) == ["para 1", "para 2", "para 2(a)"]


def test_a_judgment_says_what_it_is(law) -> None:
    draft = law(JUDGMENT.format(tag="judgment", ns=V3, day="2031-02-03", of="judgment"))
    assert draft.title == "Well v Spring"
    assert draft.metadata == {
        "date": "2031-02-03",
        "citation": "[2031] CW 5",
        "court": "The Court of Wells",
        "judges": ["MR JUSTICE POND"],
        "case_number": ["W5"],
        "jurisdiction": "uk",
        "document_type": "judgment",
        "language": "eng",
        "url": "https://cases.example/uk/2031/5",
    }


@pytest.mark.parametrize(("day", "of"), [("2031-01-01", "Hearing"), ("1000-01-01", "dummy")])
def test_the_day_of_a_hearing_is_not_that_of_the_judgment(law, day: str, of: str) -> None:
    xml = JUDGMENT.format(tag="judgment", ns=V3, day=day, of=of)
    assert law(xml).metadata["date"] == "2031-02-03"
    with_two = xml.replace("</header>", '<p><docDate date="2031-01-01"/></p></header>')
    assert "date" not in law(with_two).metadata


def test_a_report_without_speeches_is_read_by_its_sections(law) -> None:
    draft = law(
        """<akomaNtoso><debateReport><meta><identification><FRBRWork><FRBRdate date="2031-02-03"/>
        </FRBRWork></identification></meta><preface><p><docTitle>On wells</docTitle></p></preface>
        <mainContent><section><num>1.</num><heading>Depth</heading><content><p>Wells are deep.</p>
        <p>Ponds are not.</p></content></section></mainContent></debateReport></akomaNtoso>"""
    )
    assert (draft.title, draft.metadata["document_type"]) == ("On wells", "report")
    assert draft.metadata["date"] == "2031-02-03"
    assert places(draft)[-1][:2] == ("s 1", "1. Depth")
    assert paragraphs(draft)[-1] == "Ponds are not."


def debate(head: str, body: str) -> str:
    return f"""<akomaNtoso><debate><meta><identification><FRBRWork>{head}</FRBRWork>
    </identification><references><TLCPerson eId="a" showAs="Ann Example"/></references></meta>
    <debateBody><debateSection><heading>Wells</heading>{body}</debateSection></debateBody></debate>
    </akomaNtoso>"""


SPEECH = (
    '<speech by="#a"><from>Ms Example:</from><p>Since <docDate date="1999-01-01"/>.</p></speech>'
)


@pytest.mark.parametrize(
    ("work", "printed", "expected"),
    [
        ("2013-10-16", ["2013-05-08"], "2013-05-08"),
        ("3000-01-01", ["2012-09-20"], "2012-09-20"),
        ("2012-09-20", ["2012-09-19", "2012-09-20"], "2012-09-20"),
        ("2012-09-20", [], "2012-09-20"),
        ("3000-01-01", [], None),
    ],
)
def test_a_sitting_has_the_day_that_is_printed(
    law, work: str, printed: list[str], expected: str | None
) -> None:
    days = "".join(f'<p><docDate date="{day}">day</docDate></p>' for day in printed)
    draft = law(debate(f'<FRBRdate date="{work}" name="generation"/>', f"{days}{SPEECH}"))
    assert draft.metadata.get("date") == expected


def test_who_is_not_listed_has_the_printed_name(law) -> None:
    draft = law(debate("", SPEECH.replace("#a", "#x17") + SPEECH))
    assert [speaker for _, speaker, _ in speeches(draft)] == ["", "Ms Example", "Ann Example"]


def test_a_debate_of_questions_alone_is_a_debate(law) -> None:
    draft = law(debate("", '<question by="#a"><p>Why?</p></question>'))
    assert speeches(draft)[-1] == ("Wells", "Ann Example", "Why?")
