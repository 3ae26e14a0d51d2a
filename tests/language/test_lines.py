"""Lines broken by hand: which line's end ends a sentence, and how a sentence is shown on one."""

import textwrap
import tomllib
from pathlib import Path

import pytest

from atlas_search.answer.check.support import ReadPassage, ReadSentence, place_of
from atlas_search.building.chunking import chunking, passage_spans
from atlas_search.core.domain import Document, Passage
from atlas_search.language.lines import fill, unwrap
from atlas_search.language.text import sentences

PROSE = [
    "The harbour board met on Tuesday to hear what the pilots had to say about the new buoys.",
    "Captain Ahlgren of the Sea Swallow, who had come from Northport for it, spoke first.",
    "He said that Mr. Brandt and the Ministry of Works had promised lamps by the end of June.",
    "Nobody answered.",
    "The minutes were read, and the board rose at four o'clock without having voted on anything.",
]
TEXT = " ".join(PROSE)
CASES = tomllib.loads(Path(__file__).with_name("broken_lines.toml").read_text("utf-8"))


def split(text: str, language: str = "en") -> list[str]:
    return [unwrap(text[start:end]) for start, end in sentences(text, language)]


@pytest.mark.parametrize("name", CASES)
def test_a_line_s_end_ends_a_sentence_unless_it_only_breaks_the_line(name: str) -> None:
    case = CASES[name]
    kept = case.get("kept", "")
    assert split(case.get("text", kept)) == case.get("sentences", kept).split("\n")


@pytest.mark.parametrize("margin", ["", "   ", "> ", "> > ", "        "])
@pytest.mark.parametrize("width", [50, 60, 72, 80, 100])
def test_prose_wrapped_at_any_width_is_its_sentences(width: int, margin: str) -> None:
    text = textwrap.fill(TEXT, width, break_on_hyphens=False)
    first, *rest = split(textwrap.indent(text, margin))
    assert [first.removeprefix(margin), *rest] == PROSE


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "  \n"])
def test_any_kind_of_line_end_can_break_a_line(end: str) -> None:
    assert split(textwrap.fill(TEXT, 64).replace("\n", end)) == PROSE


def test_german_nouns_at_the_beginning_of_a_line_begin_no_sentence() -> None:
    prose = [
        "Die Hafenbehörde hörte am Dienstag, was die Lotsen über die neuen Bojen zu sagen hatten.",
        "Kapitän Ahlgren, der dafür aus Nordhafen gekommen war, sprach vom Ministerium.",
        "Niemand widersprach.",
    ]
    for width in (60, 72, 80):
        assert split(textwrap.fill(" ".join(prose), width), "de") == prose


def test_empty_lines_may_tear_a_sentence_where_a_page_ended() -> None:
    torn = (
        "Captain Ahlgren had come from Northport to hear what the pilots\n \n\nhad to say of "
        "the buoys.\n\nThe board of the harbour met on a Tuesday in October\n\nand heard them."
    )
    assert split(torn) == [
        "Captain Ahlgren had come from Northport to hear what the pilots had to say of the buoys.",
        "The board of the harbour met on a Tuesday in October and heard them.",
    ]


def test_rows_of_a_table_whose_heads_are_in_small_letters_are_apart() -> None:
    rows = ["name: Ada Miller | role: baker | weekly wage: 320", "name: Ben | role: cook | wage: 9"]
    assert split("\n\n".join(rows)) == rows


MET = "The harbour board met on Tuesday to hear the"


@pytest.mark.parametrize(
    "text",
    [
        "A short line of the text\n\nand small letters.",
        f"{MET} pilots of Northport.\n\nthen it rose.",
        f"{MET} following pilots:\n\nof Northport.",
        f"{MET} pilots of Northport\n\nThen it rose.",
        f"{MET} pilots of Northport\n\n- and others.",
        f"{MET} pilots" + "\n" * 200_000 + "and rose.",  # in little time
    ],
    ids=["short", "stop", "colon", "capital", "item", "many"],
)
def test_other_empty_lines_end_a_sentence(text: str) -> None:
    assert len(split(text)) == 2


@pytest.mark.parametrize(
    "cut",
    [
        "lamp.light(oil=3)\n```\n{prose}\n```python\nlamp = lamp_of(9)\n```",
        "lamp.light(oil=3)\n```\n{prose}\n```\nlamp = lamp_of(9)",
        "lamp.light(oil=3)\n```\n{prose}",
        "{prose}\n```\nlamp = lamp_of(9)",
        "{prose}\n```\nlamp = lamp_of(9)\n```\n{prose}",
    ],
)
def test_a_passage_that_begins_or_ends_in_code_has_whole_sentences(cut: str) -> None:
    text = cut.replace("{prose}", textwrap.fill(TEXT, 64))
    whole = [sentence for sentence in PROSE if "lamp" not in sentence]
    prose = [each for each in split(text) if "`" not in each and "lamp" not in each]
    assert prose == whole * cut.count("{prose}")


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("the Anglo-\nSaxon chronicle", "the Anglo-Saxon chronicle"),
        ("from 1954-\n1958", "from 1954-1958"),
        ("the lamp -\nand its oil", "the lamp - and its oil"),
        ("the lamp --\n   and its oil", "the lamp -- and its oil"),
        ("the inter-\nnational rules", "the inter-\nnational rules"),
        ("the lamp \r\n> > and its oil", "the lamp and its oil"),
        ("港务\n  局", "港务局"),
        ("\nthe lamp", " the lamp"),
        ("the lamp", "the lamp"),
    ],
)
def test_a_sentence_is_shown_on_one_line(sentence: str, shown: str) -> None:
    assert unwrap(sentence) == shown


def test_a_word_broken_at_a_line_s_end_does_not_end_its_sentence() -> None:
    broken = "The board asked the pilots whether the inter-\nnational rules of the sea did apply."
    assert split(broken) == [broken]


def test_what_is_filled_keeps_its_length_and_all_but_line_ends() -> None:
    text = textwrap.indent(textwrap.fill(TEXT, 60), "> ")
    line = fill(text)
    assert len(line) == len(text)
    assert "\n" not in line
    assert all(new in {old, " "} for old, new in zip(text, line, strict=True))


def test_a_long_run_of_lines_is_filled_in_parts() -> None:
    """The sentence splitter takes quadratic time for text without blanks."""
    runs = fill("\n".join(["港" * 40] * 500)).split("\n")
    assert max(map(len, runs)) <= 4000
    assert len(runs) < 10


def test_a_paragraph_too_long_is_cut_at_its_sentences_not_at_its_lines() -> None:
    text = textwrap.fill(TEXT, 60)
    document = Document("d", "c", "Title", text, {}, "c/d.txt")
    spans = passage_spans(document, chunking("recursive", 100, 0), None)
    assert [unwrap(text[start:end]) for start, end in spans] == PROSE


def test_a_quotation_is_found_over_the_ends_of_lines() -> None:
    text = textwrap.fill(TEXT, 60)
    place = (0, f"c.d:0-{len(text)}", "c.d", "c", "", text, 0, len(text), 1, 1)
    read = ReadPassage(Passage(*place, "", "", "", "", {}))
    for sentence in PROSE:
        _, span = place_of(ReadSentence(sentence), [read])
        assert unwrap(text[span.start : span.end]) == sentence
