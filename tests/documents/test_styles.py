"""Citations in seven styles, as the guides have them.

Checked by hand against: The Chicago Manual of Style, 17th ed. (14.23, 14.276, 14.298); APA
Publication Manual, 7th ed. (9.12, 11.4, 11.5); MLA Handbook, 9th ed. (5.17, 6.16, 6.20); OSCOLA,
4th ed. (2.1.1, 2.1.6, 2.4.2, 3.2.1, 3.4.1, 3.4.8); The Bluebook, 21st ed. (B10.1, B15.1, B18.1);
McGill Guide, 9th ed. (3.2, 4.1.1, 6.2, 6.19).
"""

from datetime import date

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings

from atlas_search.core.wire import CitationOut
from atlas_search.documents.references import one_line
from atlas_search.documents.styles import STYLES, Styled, StyleName, cite
from tests.exporting import NASTY, TEXTS, citation

TODAY = date(2026, 7, 3)
WORKS = {
    "us_case": citation(
        title="Miranda v. Arizona",
        date="1966-06-13",
        url="https://us.example/384/436/",
        page=9,
        printed_page="444",
        metadata={
            "court": "Supreme Court of the United States",
            "author": "Earl Warren",
            "source": "Miranda v. Arizona, 384 U.S. 436 (1966)",
        },
    ),
    "uk_case": citation(
        locator="para 12",
        url=None,
        metadata={"court": "House of Lords", "source": "R v R [1992] 1 AC 599, [1991] UKHL 12"},
    ),
    "unreported": citation(
        title="Stubbs v Sayer", date="1990-11-08", url=None, metadata={"court": "CA"}
    ),
    "act": citation(
        title="Privacy Act 2020",
        date="2020-06-30",
        locator="s 10(1)",
        url=None,
        metadata={
            "body": "New Zealand Parliament",
            "source": "Privacy Act 2020 (New Zealand), 2020 No 31",
        },
    ),
    "debate": citation(
        title="Abortion Bill",
        date="1977-02-03",
        url=None,
        speaker="Lord Boyle",
        page=3,
        printed_page="973",
        metadata={"house": "House of Lords", "pages_are": "columns"},
    ),
    "book": citation(
        title="A Room of One’s Own",
        date="1929",
        url=None,
        page=14,
        printed_page="12",
        metadata={"author": "Woolf, Virginia", "publisher": "Hogarth Press"},
    ),
    "web": citation(
        title="Virtual Friend",
        date="2009-05-01",
        url="https://law.example/friend",
        metadata={"author": "Sarah Cole", "body": "Naked Law"},
    ),
}

FOOTNOTES = {
    "plain": {
        "us_case": "_Miranda v. Arizona_, 384 U.S. 436 (1966), Supreme Court of the United States, "
        "13 June 1966, p. 444, https://us.example/384/436/",
        "act": "_Privacy Act 2020_, 2020 No 31, New Zealand Parliament, 30 June 2020, s 10(1).",
        "web": "Sarah Cole, _Virtual Friend_, Naked Law, 1 May 2009, “DECISION”, "
        "https://law.example/friend",
    },
    "chicago": {
        "us_case": "_Miranda v. Arizona_, 384 U.S. 436, 444 (1966).",
        "uk_case": "_R v R_ [1992] 1 AC 599, [1991] UKHL 12, para. 12.",
        "unreported": "_Stubbs v Sayer_ (CA, November 8, 1990).",
        "act": "Privacy Act 2020, 2020 No 31, s. 10(1).",
        "debate": "Lord Boyle, “Abortion Bill,” House of Lords, February 3, 1977, col. 973.",
        "book": "Virginia Woolf, _A Room of One’s Own_ (Hogarth Press, 1929), 12.",
        "web": "Sarah Cole, “Virtual Friend,” Naked Law, May 1, 2009, https://law.example/friend.",
    },
    "oscola": {
        "us_case": "_Miranda v Arizona_ 384 US 436, 444 (1966).",
        "uk_case": "_R v R_ [1991] UKHL 12, [1992] 1 AC 599 [12].",
        "unreported": "_Stubbs v Sayer_ (CA, 8 November 1990).",
        "act": "Privacy Act 2020, s 10(1).",
        "debate": "HL Deb 3 February 1977, col 973 (Lord Boyle).",
        "book": "Virginia Woolf, _A Room of One’s Own_ (Hogarth Press 1929) 12.",
        "web": "Sarah Cole, ‘Virtual Friend’ (Naked Law, 1 May 2009) <https://law.example/friend> "
        "accessed 3 July 2026.",
    },
    "bluebook": {
        "us_case": "_Miranda v. Arizona_, 384 U.S. 436, 444 (1966).",
        "uk_case": "_R v. R_ [1992] 1 AC 599, [1991] UKHL 12, ¶ 12.",
        "unreported": "_Stubbs v. Sayer_ (CA Nov. 8, 1990).",
        "act": "Privacy Act 2020, § 10(1) (N.Z.).",
        "book": "Virginia Woolf, _A Room of One’s Own_ 12 (Hogarth Press 1929).",
        "web": "Sarah Cole, _Virtual Friend_, Naked Law (May 1, 2009), https://law.example/friend.",
    },
    "mcgill": {
        "us_case": "_Miranda v Arizona_, 384 US 436 at 444 (1966).",
        "uk_case": "_R v R_, [1992] 1 AC 599, [1991] UKHL 12 at para 12.",
        "unreported": "_Stubbs v Sayer_ (8 November 1990), CA.",
        "act": "_Privacy Act 2020_ (NZ), s 10(1).",
        "debate": "_House of Lords Debates_ (3 February 1977) at col 973 (Lord Boyle).",
        "book": "Virginia Woolf, _A Room of One’s Own_ (Hogarth Press, 1929) at 12.",
        "web": "Sarah Cole, “Virtual Friend” (1 May 2009), Naked Law, "
        "online: <https://law.example/friend>.",
    },
}

IN_TEXT = {
    "apa": {
        "us_case": (
            "Miranda v. Arizona, 384 U.S. 436 (1966). https://us.example/384/436/",
            "(_Miranda v. Arizona_, 1966, p. 444)",
        ),
        "unreported": ("Stubbs v Sayer (CA 1990).", "(_Stubbs v Sayer_, 1990)"),
        "act": ("Privacy Act 2020 (New Zealand).", "(Privacy Act 2020, s. 10(1))"),
        "debate": (
            "Lord Boyle. (1977, February 3). _Abortion Bill_. House of Lords.",
            "(Lord Boyle, 1977, col. 973)",
        ),
        "book": (
            "Woolf, V. (1929). _A Room of One’s Own_. Hogarth Press.",
            "(Woolf, 1929, p. 12)",
        ),
    },
    "mla": {
        "us_case": (
            "Supreme Court of the United States. _Miranda v. Arizona_. 13 June 1966, "
            "384 U.S. 436 (1966), us.example/384/436/.",
            "(_Miranda v. Arizona_ 444)",
        ),
        "act": (
            "New Zealand Parliament. _Privacy Act 2020_. 30 June 2020, 2020 No 31.",
            "(_Privacy Act 2020_, sec. 10(1))",
        ),
        "debate": (
            "Lord Boyle. “Abortion Bill.” House of Lords, 3 Feb. 1977.",
            "(Lord Boyle, col. 973)",
        ),
        "book": ("Woolf, Virginia. _A Room of One’s Own_. Hogarth Press, 1929.", "(Woolf 12)"),
    },
}


def styled(style: StyleName, **cited: object) -> Styled:
    return cite(CitationOut.model_validate(cited), style, TODAY)


def underlined(html: str) -> str:
    return html.replace("<i>", "_").replace("</i>", "_").replace("&lt;", "<").replace("&gt;", ">")


def cases() -> list[tuple[str, str, str, str | None]]:
    """Each style and work, with its reference and the place in the text, if the style has one."""
    notes = [(s, w, text, None) for s, works in FOOTNOTES.items() for w, text in works.items()]
    entries = [(s, w, *texts) for s, works in IN_TEXT.items() for w, texts in works.items()]
    return [*notes, *entries]


@pytest.mark.parametrize(("style", "work", "reference", "in_text"), cases())
def test_a_citation_is_as_the_guide_has_it(
    style: StyleName, work: str, reference: str, in_text: str | None
) -> None:
    written = styled(style, **WORKS[work])
    assert underlined(written.reference.html) == reference
    assert written.reference.text == reference.replace("_", "")
    assert (written.in_text and underlined(written.in_text.html)) == in_text


def test_a_page_of_the_file_is_no_page_of_the_report() -> None:
    unprinted = WORKS["us_case"] | {"printed_page": None}
    assert styled("bluebook", **unprinted).reference.text == (
        "Miranda v. Arizona, 384 U.S. 436 (1966)."
    )


@pytest.mark.parametrize("style", STYLES)
def test_a_title_alone_makes_a_whole_citation(style: StyleName) -> None:
    bare = citation(title="Notes", date=None, url=None, section=None, metadata={})
    reference = styled(style, **bare).reference.text
    assert reference.strip(".’”‘“_ ").startswith("Notes")
    assert not any(blank in reference for blank in (",.", "..", "()"))


@settings(max_examples=25)
@given(TEXTS, TEXTS)
def test_any_text_stays_text(title: str, name: str) -> None:
    for each in (title, NASTY):
        cited = citation(title=each, metadata={"author": name, "kind": "book"})
        for style in STYLES:
            reference = styled(style, **cited).reference
            assert one_line(each) in reference.text
            rest = reference.html.replace("<i>", "").replace("</i>", "")
            assert "<" not in rest


@pytest.mark.parametrize(
    "sent",
    [
        {"style": "harvard", "citations": [citation()]},
        {"style": "apa", "citations": []},
        {"style": "apa", "citations": [{"title": "x"}]},
        {"style": "apa", "citations": [citation(title="x" * 2001)]},
        {"style": "apa", "citations": [citation()] * 1001},
        {"style": "apa", "citations": [citation()], "more": 1},
    ],
)
def test_what_is_no_citation_or_too_much_is_refused(
    client: FlaskClient, sent: dict[str, object]
) -> None:
    assert client.post("/api/citations", json=sent).status_code == 400


def test_citations_alone_become_a_bibliography(client: FlaskClient) -> None:
    sent = {"format": "csl-json", "citations": [WORKS["book"], WORKS["book"]]}
    response = client.post("/api/export", json=sent)
    assert response.headers["Content-Disposition"].endswith('"atlas-reading-list.csl.json"')
    (item,) = response.get_json(force=True)
    assert item["title"] == "A Room of One’s Own"


@pytest.mark.parametrize(
    "sent",
    [
        {"format": "markdown", "citations": [citation()]},
        {"format": "ris", "citations": [citation()], "answers": [{}]},
        {"format": "ris"},
    ],
)
def test_an_export_is_of_answers_or_of_citations(
    client: FlaskClient, sent: dict[str, object]
) -> None:
    assert client.post("/api/export", json=sent).status_code == 400
