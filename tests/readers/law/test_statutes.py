"""Acts, bills, instruments and judgments: labels of provisions, and how they are cited.

A whole one of each kind is among the cases of `tests/readers/cases/xml`.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from atlas_search.core.domain import Segment
from atlas_search.core.locator import is_locator, root
from atlas_search.readers import Draft
from atlas_search.readers.law.statutes import Outline, item_label, level, number, schedule_number
from atlas_search.readers.xml.tree import TextWriter
from tests.readers.drafts import locators

Xml = Callable[[str], Draft]
CASES = Path(__file__).parents[1] / "cases" / "xml"


def case(name: str, *changes: tuple[str, str]) -> str:
    """The source of a case with some of it replaced."""
    source = (CASES / f"{name}.xml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    return source


@pytest.mark.parametrize(
    ("read", "labels"),
    [
        (number, "10 → 10 | 10A → 10A | 2.1 → 2.1 | SEC. 2. → 2 | § 78c–1. → 78c-1"),
        (number, "Article 5 → 5 | Article 9 (ex Article 8) → 9 | Art. 5 bis → 5 bis | *4 → 4"),
        (number, "9 to 11 → 9-11 | 9 à 11 → 9-11 | 9 and 10 → 9,10 | 1.— → 1 | SCHEDULE I → I"),
        (number, "SCHEDULE A1 → A1 | SCHEDULE I / ANNEXE I → I | THE SCHEDULE →  |  → "),
        (level, "(1) → (1) | 1. → (1) | 1) → (1) | (1.1) → (1.1) | (A) → (A) | *(2) → (2) |  → "),
        (level, "(1) to (3) → (1-3) | (1) et (2) → (1,2)"),
        (schedule_number, "SCHEDULE 2.1 → 2.1 | SCHEDULE I / ANNEXE I → I | Annex IV → IV | 3 → 3"),
        (schedule_number, "SCHEDULE →  | SECOND SCHEDULE →  | SCHEDULE TO PART IV →  |  → "),
        (schedule_number, "FORM 1 OF 2 → "),
    ],
)  # fmt: skip
def test_the_number_or_level_in_a_label(read: Callable[[str], str], labels: str) -> None:
    for label, expected in (each.split(" → ") for each in labels.split(" | ")):
        assert read(label) == expected.strip(), label


@pytest.mark.parametrize(
    ("place", "kind", "decoration", "expected"),
    [
        (3, "alpha", "parens", "(c)"),
        (28, "alpha", "parens", "(bb)"),
        (4, "roman", "parenRight", "iv)"),
        (49, "romanUpper", "period", "XLIX."),
        (7, "arabic", "none", "7"),
    ],
)
def test_the_label_of_an_item(place: int, kind: str, decoration: str, expected: str) -> None:
    assert item_label(place, kind, decoration) == expected


def test_a_segment_begins_where_the_place_changes() -> None:
    writer = TextWriter()
    writer.section("Part 1")
    for locator, words in (("s 1", "One."), ("s 1", "More."), ("s 2", "Two."), ("", "Three.")):
        writer.locate(locator)
        writer.add(words)
        writer.block()
    assert writer.finish().segments == (
        Segment(0, "Part 1", "", "s 1"),
        Segment(13, "Part 1", "", "s 2"),
        Segment(19, "Part 1"),
    )


def test_what_no_citation_can_hold_is_no_locator() -> None:
    for place in ("sch para 3", "sch 1 para 3", "§ 78c-1(a)", "art 5 bis(2)"):
        assert is_locator(place)
        assert root(place) == place.partition("(")[0]
    assert not any(map(is_locator, ("sch", "sch parade 3", "schedule 1", "the 3")))
    writer = TextWriter()
    outline = Outline(writer)
    for place in ("s a1", "s 3"):
        outline.enter(place, first="(1)")
        writer.add("Text.")
        writer.block()
        outline.leave()
    assert [segment.locator for segment in writer.finish().segments] == ["s 3(1)"]


BILL = """<akomaNtoso><bill><body><chapter><num>II</num><{tag}><num>{num}</num>
<heading>Aim</heading><{part}><num>2.</num><content><p>Dig.</p></content></{part}></{tag}></chapter></body></bill>
</akomaNtoso>"""


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
    xml: Xml, tag: str, num: str, part: str, expected: str
) -> None:
    draft = xml(BILL.format(tag=tag, num=num, part=part))
    assert locators(draft) == [expected]
    # a chapter without a heading is called by its number
    assert draft.segments[0].section == "II"
    assert draft.text == f"II\n\n{num} Aim\n2. Dig."


@pytest.mark.parametrize(
    ("name", "heading", "expected"),
    [
        ("schedule", "Schedule 2", "sch 2 s 1"),
        ("schedule3", "Fines", "sch 3 s 1"),
        ("schedule", "Schedule of the fines of 2009", "sch s 1"),
        ("annex", "Annex IV", "sch IV s 1"),
    ],
)
def test_schedules_are_cited_by_their_numbers(
    xml: Xml, name: str, heading: str, expected: str
) -> None:
    draft = xml(
        f"""<akomaNtoso><act><body><p>Wells.</p></body></act><components><component><doc
        name="{name}"><mainBody><article><hcontainer name="{name}"><heading>{heading}</heading>
        <section><num>1</num><content><p>Buckets.</p></content></section></hcontainer></article>
        </mainBody></doc></component></components></akomaNtoso>"""
    )
    assert [each for each in locators(draft) if " s " in each] == [expected]


DAY = '<FRBRdate date="2031-02-03" name="judgment"/>'


@pytest.mark.parametrize(("day", "of"), [("2031-01-01", "Hearing"), ("1000-01-01", "dummy")])
def test_the_day_of_a_hearing_is_not_that_of_the_judgment(xml: Xml, day: str, of: str) -> None:
    source = case("akoma-judgment", (DAY, f'<FRBRdate date="{day}" name="{of}"/>'))
    assert xml(source).metadata["date"] == "2031-02-03"
    with_two = source.replace("</header>", '<p><docDate date="2031-01-01"/></p></header>')
    assert "date" not in xml(with_two).metadata


def test_older_judgments_are_spelt_otherwise(xml: Xml) -> None:
    v3 = "http://docs.oasis-open.org/legaldocml/ns/akn/3.0"
    older = case("akoma-judgment", (v3, "http://www.akomantoso.org/2.0"))
    for tag in ("judgment>", "judgment ", "judgmentBody"):
        older = older.replace(f"<{tag}", f"<{tag}".replace("judgment", "judgement")).replace(
            f"</{tag}", f"</{tag}".replace("judgment", "judgement")
        )
    assert locators(xml(older)) == ["para 1", "para 2", "para 2(a)"]


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
    xml: Xml, work: str, printed: list[str], expected: str | None
) -> None:
    days = "".join(f'<p><docDate date="{day}">day</docDate></p>' for day in printed)
    changes = ('date="2012-09-20"', f'date="{work}"'), ("<heading>", f"{days}<heading>")
    draft = xml(case("akoma-debate", *changes))
    assert draft.metadata.get("date") == expected
    assert "document_type" not in draft.metadata


ASSENT = (
    '<Stages stage="assented-to"><Date><YYYY>2019</YYYY><MM>6</MM><DD>3</DD></Date></Stages>',
    "",
)


@pytest.mark.parametrize(
    ("changes", "date", "citation"),
    [
        ([ASSENT, ('official="no"', 'official="yes"')], "1985", "R.S.C., 1985, c. B-1.5"),
        ([ASSENT], "2019", "S.C. 2019, c. 7"),
    ],
)
def test_without_a_day_of_assent_the_chapter_gives_the_year(
    xml: Xml, changes: list[tuple[str, str]], date: str, citation: str
) -> None:
    metadata = xml(case("canada-act", *changes)).metadata
    assert (metadata["date"], metadata["citation"]) == (date, citation)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ('"2019-09-01"', "2019-09-01"),
        ('"2019-09-01" hasPreviousVersion="true"', None),
        ('"2002-12-31"', None),
    ],
)
def test_the_day_of_coming_into_force_is_that_of_the_first_version(
    xml: Xml, start: str, expected: str | None
) -> None:
    lang = 'xml:lang="en"'
    source = case("canada-act", (lang, f"{lang} lims:inforce-start-date={start}"))
    assert xml(source).metadata.get("in_force_from") == expected


def test_a_consolidated_regulation_is_of_1978(xml: Xml) -> None:
    registered = "<RegistrationDate><Date><YYYY>2001</YYYY><MM>4</MM><DD>9</DD></Date>\n"
    source = case(
        "canada-regulation",
        ("SOR/2001-5", "C.R.C., c. 9"),
        (f"{registered}</RegistrationDate>", ""),
    )
    assert xml(source).metadata["date"] == "1978"


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
    xml: Xml, main: str, minor: str, expected: list[str]
) -> None:
    kind = ("WelshStatutoryInstrument", main), ('Value="order"', f'Value="{minor}"')
    assert locators(xml(case("clml-instrument", *kind))) == [*expected, "sch para 6"]
