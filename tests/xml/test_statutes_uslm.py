"""Titles of a code, public laws and bills in the shape of USLM."""

from atlas_search.readers import Draft
from tests.xml.xml_drafts import headed, locators, places

CODE = """<uscDoc xmlns="http://xml.house.gov/schemas/uslm/1.0"
xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xml:lang="en">
<meta><dc:title>Title 77</dc:title><docNumber>77</docNumber><dcterms:created>2031-07-26T05:15:14
</dcterms:created></meta><main><title><num value="77">Title 77—</num><heading>KITES</heading><toc>
<layout><tocItem><column>1.</column><column>Strings</column></tocItem></layout></toc><chapter>
<num value="1">CHAPTER 1—</num><heading>STRINGS</heading><section><num value="78c–1">§ 78c–1.</num>
<heading> Length<ref class="footnoteRef" idref="fn1">1</ref><note type="footnote" id="fn1"><num>1
</num> So in original.</note> of strings</heading><subsection><num value="a">(a)</num><heading> In
general.—</heading><chapeau>A string is</chapeau><paragraph><num value="1">(1)</num><content> long;
or</content></paragraph></subsection><subsection><num value="b">(b)</num><content> Knots hold.
</content></subsection><sourceCredit>(July 30, 2031, ch. 3, 61 Stat. 9.)</sourceCredit><notes>
<note topic="amendments"><heading>Amendments</heading><p>2030—Subsec. (b) added.</p></note></notes>
</section><section status="repealed"><num value="2">[§ 2.</num><heading> Repealed.]</heading>
</section></chapter></title></main></uscDoc>"""
LAW = """<pLaw xmlns="http://schemas.gpo.gov/xml/uslm" xmlns:dc="http://purl.org/dc/elements/1.1/">
<meta><dc:title>Public Law 199–4: Kites</dc:title><docNumber>4</docNumber>
<citableAs>Public Law 199–4</citableAs><dc:language>EN</dc:language><congress>199</congress></meta>
<preface><page>300 STAT. 75</page><docNumber>199–4</docNumber></preface><main><longTitle>
<docTitle>An Act</docTitle><officialTitle>To fly kites.</officialTitle><sidenote>
<p>Mar. 27, 2185</p></sidenote>
</longTitle><section><num value="1">SECTION 1. </num><heading>SHORT TITLE.</heading><content>This
Act may be cited as the “<shortTitle role="act">Kites Act</shortTitle>”.</content></section>
<section>
<heading>string</heading><num value="2">Sec. 2. </num><content>Title 77 is amended—
<quotedContent><section><num value="9">§ 9.</num><heading>Tails</heading><subsection>
<num value="a">(a)</num><content>Tails wave.</content></subsection></section></quotedContent> and
the table<page>300 STAT. 76</page> is<sidenote><p>Wind.</p></sidenote> new.</content></section>
<section><num value="3">Sec. 3. </num><subsection><num value="a">(a) </num><content>Fly.</content>
</subsection></section></main></pLaw>"""


def test_the_code_is_cited_by_section_and_its_notes_as_notes(law) -> None:
    draft = law(CODE)
    assert places(draft) == [
        ("", "Title 77— KITES", "Title 77— KITES"),
        ("", "CHAPTER 1— STRINGS", "CHAPTER 1— STRINGS"),
        (
            "§ 78c-1(a)",
            "§ 78c–1. Length1 of strings",
            "§ 78c–1. Length1 of strings\n(a) In general.— A string is\n(1) long; or\n\n"
            "1 So in original.",
        ),
        ("§ 78c-1(b)", "§ 78c–1. Length1 of strings", "(b) Knots hold."),
        (
            "§ 78c-1",
            "§ 78c–1. Length1 of strings",
            "(July 30, 2031, ch. 3, 61 Stat. 9.)",
        ),
        ("§ 78c-1 note", "Amendments", "Amendments\n\n2030—Subsec. (b) added."),
        ("§ 2", "[§ 2. Repealed.]", "[§ 2. Repealed.]"),
    ]
    assert len(locators(draft)) == 5
    assert len(headed(draft)) == 5


def test_a_title_of_the_code_says_what_it_is(law) -> None:
    draft = law(CODE)
    assert draft.title == "U.S. Code Title 77 KITES"
    assert draft.metadata == {
        "date": "2031-07-26",
        "citation": "77 U.S.C.",
        "chapter": "77",
        "jurisdiction": "United States",
        "document_type": "code",
        "language": "en",
    }


def test_a_public_law_quotes_another_and_has_pages(law) -> None:
    draft = law(LAW)
    assert places(draft) == [
        (
            "§ 1",
            "SECTION 1. SHORT TITLE.",
            "SECTION 1. SHORT TITLE.\nThis Act may be cited as the “Kites Act”.",
        ),
        (
            "§ 2",
            "string",
            "string\nSec. 2. Title 77 is amended—\n\n§ 9. Tails\n(a) Tails wave.\n\n"
            "and the table is new.\n\nWind.",
        ),
        ("§ 3(a)", "", "Sec. 3. (a) Fly."),
    ]
    assert draft.text.startswith("199–4\n\nAn Act\n\nTo fly kites.\n\nMar. 27, 2185\n\nSECTION 1.")
    assert draft.text[draft.pages[75] :].startswith("is new")


def test_a_public_law_says_what_it_is(law) -> None:
    draft: Draft = law(LAW)
    assert draft.title == "Kites Act"
    facts = dict(draft.metadata)
    assert facts.pop("pages_are", "") in ("", "pages")
    assert facts == {
        "date": "Mar. 27, 2185",
        "long_title": "To fly kites.",
        "citation": "Public Law 199–4",
        "chapter": "4",
        "congress": "199",
        "jurisdiction": "United States",
        "document_type": "act",
        "language": "en",
    }


def test_a_bill_without_a_day_is_of_its_session(law) -> None:
    draft = law(
        '<bill xmlns="http://schemas.gpo.gov/xml/uslm"><meta><congress>116</congress>'
        "<session>2</session></meta><main><section><content>Fly.</content></section></main></bill>"
    )
    assert (draft.metadata["date"], draft.metadata["document_type"]) == ("2020", "bill")
