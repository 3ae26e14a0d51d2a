"""The words of the page: the same in every language, and there for every place that says them."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from atlas_search.building.sources import NOT_HERE
from atlas_search.providers.zotero import ABSENT
from atlas_search.readers.zotero import CLOSED
from atlas_search.server.ingest.arrival import OTHER_KIND, PICTURE
from tests.cli.test_create import WRONG
from tests.places import ROOT
from tests.readers.test_iiif import WITHOUT_TEXT
from tests.readers.test_oai import GONE
from tests.readers.test_zotero import NO_TEXT, SECOND, UNNAMED

pytestmark = pytest.mark.browser

STRINGS = "name => part(`strings/${name}.js`).then(module => module.default)"
TOLD = """sentences => part("strings/fr.js").then(({ told }) =>
  sentences.map(sentence => told.some(([pattern]) => pattern.test(sentence))))"""
REFUSAL = re.compile(r'"(?:skipped|reason)": ("(?:[^"\\]|\\.)*")')
MARKUP = ("elements", "entities", "entity", "data.xml", "first line declares")
OF_PART = re.compile(r"^(Sentence \d+|legal_uk:|legal_us:|legislation_nz:) ")
SAID = re.compile(r"""\b(?:say|sayNodes)\(\s*["'](\w+\.\w+)["']""")
NAMED = re.compile(r'data-say(?:-[a-z-]+)?="(\w+\.\w+)"')
FORMS = {"one", "other", "many", "two", "few", "zero"}
PLACE = re.compile(r"\{(\w+)\}")
WORD = re.compile(r"[^\W\d_]{2,}")
REMARK = re.compile(r"/\*.*?\*/|(?<![:\w\"'`])//[^\n]*", re.DOTALL)
LITERAL = re.compile(r"""(new Error\()?("[^"\n]*"|'[^'\n]*'|`[^`]*`)""")
SENTENCE = re.compile(r"\s*[A-ZÀ-Ý]\S*\s.*[.!?…]\s*", re.DOTALL)
ALIKE = {
    *(
        "citation",
        "collection",
        "concordance",
        "conversation",
        "corpus",
        "date",
        "document",
        "format",
        "note",
    ),
    *("passage", "question", "score", "signal", "site", "source", "style", "version"),
    *("g²", "logdice"),
    *("apa", "api", "bibtex", "bluebook", "chicago", "csl", "json", "mcgill", "mla", "oscola"),
    "ris",
}
"""Words that are the same in English and French, also with an s."""


def spoken(strings: dict[str, dict[str, object]]) -> dict[str, set[str]]:
    """The places to be filled in of every string, by its key; a plural form may leave some out."""
    return {
        f"{section}.{name}": set(PLACE.findall(" ".join(forms_of(value))))
        for section, of in strings.items()
        for name, value in of.items()
    }


def forms_of(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    assert isinstance(value, dict)
    assert value.keys() <= FORMS, value
    assert "other" in value, value
    return list(value.values())


def keys_in_use() -> Iterator[tuple[str, str]]:
    for path in (ROOT / "frontend").rglob("*.js"):
        for key in SAID.findall(path.read_text(encoding="utf-8")):
            yield path.name, key
    for key in NAMED.findall((ROOT / "frontend" / "index.html").read_text(encoding="utf-8")):
        yield "index.html", key


def test_french_says_all_that_english_says_and_nothing_else_is_said(page: Page) -> None:
    english, french = (page.evaluate(STRINGS, name) for name in ("en", "fr"))
    assert spoken(english) == spoken(french)
    used = list(keys_in_use())
    assert len(used) > 300
    assert [(where, key) for where, key in used if key not in spoken(english)] == []
    # French is not left in English
    forms, translated = flat(english), flat(french)
    known = {word.removesuffix("s") for word in ALIKE}
    left = {
        key: {word.removesuffix("s") for word in words_of(own)} - known
        for key, own in forms.items()
        if own == translated[key]
    }
    assert {key: words for key, words in left.items() if words} == {}


def test_what_the_server_says_of_an_answer_is_said_in_french(page: Page) -> None:
    sentences = sorted(set(remarks()))
    assert len(sentences) > 40
    told = page.evaluate(TOLD, sentences)
    assert [
        sentence for sentence, is_told in zip(sentences, told, strict=True) if not is_told
    ] == []
    assert page.evaluate(TOLD, ["A sentence that nobody makes."]) == [False]


def test_why_files_are_left_out_is_said_in_french(page: Page) -> None:
    own = {PICTURE, OTHER_KIND, NOT_HERE, ABSENT, CLOSED}
    reasons = sorted({*refusals(), *own, *WRONG, NO_TEXT, SECOND, *UNNAMED, *GONE, *WITHOUT_TEXT})
    assert len(reasons) > 60
    told = page.evaluate(TOLD, reasons)
    left = [reason for reason, is_told in zip(reasons, told, strict=True) if not is_told]
    # but for faults of markup, which those who write it meet
    assert [each for each in left if not any(words in each for words in MARKUP)] == []


def refusals() -> Iterator[str]:
    """The reasons for which readers refuse the files of the samples."""
    folders = [ROOT / "tests" / part for part in ("readers/cases", "faces/golden/drafts")]
    for path in [path for folder in folders for path in folder.rglob("*.json")]:
        for written in REFUSAL.findall(path.read_text(encoding="utf-8")):
            yield json.loads(written)


def remarks() -> Iterator[str]:
    """What the answers that are kept as samples warn of and lack, as the page takes it apart."""
    for path in (ROOT / "tests" / "faces" / "golden" / "answers").rglob("*.json"):
        answer = json.loads(path.read_text(encoding="utf-8"))["body"]
        if "validation" not in answer:
            continue  # of an error
        for message in (*answer["validation"]["warnings"], *answer["reason"]["missing"]):
            if not message.endswith("(VERIFY)."):
                yield OF_PART.sub("", message)


def flat(strings: dict[str, dict[str, object]]) -> dict[str, list[str]]:
    return {
        f"{section}.{name}": forms_of(value)
        for section, of in strings.items()
        for name, value in of.items()
    }


def words_of(forms: list[str]) -> set[str]:
    return {word.lower() for form in forms for word in WORD.findall(PLACE.sub("", form))}


def sentences_of(source: str) -> list[str]:
    """Sentences for a reader among the literals; an error of the program is for its writers."""
    found = LITERAL.findall(REMARK.sub("", source))
    return [said[1:-1] for error, said in found if not error and SENTENCE.fullmatch(said[1:-1])]


def test_every_sentence_stands_among_the_strings() -> None:
    folder = ROOT / "frontend"
    # the pages of labels and ratings are in English alone
    apart = (folder / "strings", folder / "labelling")
    paths = [path for path in folder.rglob("*.js") if path.parent not in apart]
    assert len(paths) > 40
    found = {str(path): sentences_of(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: said for path, said in found.items() if said} == {}


def test_a_sentence_that_is_left_in_a_module_is_found() -> None:
    source = """/** Says. "It is a comment." */ // "So is this."
    const SILENT = "The server is silent.";
    say(`Wait ${seconds} seconds …`, 'Not now.', "a.b", "Title", "https://a.example/ B c.");
    throw new Error("There is no such string.");"""
    assert sentences_of(source) == [
        "The server is silent.",
        "Wait ${seconds} seconds …",
        "Not now.",
    ]


def test_the_first_page_is_named_where_texts_have_pages(page: Page) -> None:
    places = """kinds => part("text.js").then(({ shortPlace }) => kinds.map(
      content_type => shortPlace({ page: 1, passage_id: "p", metadata: { content_type } })))"""
    assert page.evaluate(places, ["iiif", "html"]) == ["p. 1", ""]
