"""Lines broken by hand: which line's end ends a sentence."""

import textwrap

import pytest

from atlas_search.answer.check.support import ReadPassage, best_place
from atlas_search.building.chunking import chunking, passage_spans
from atlas_search.language.lines import fill, unwrap
from atlas_search.language.text import sentences
from tests.citing import passage
from tests.cuts import document

PROSE = [
    "The harbour board met on Tuesday to hear what the pilots had to say about the new buoys.",
    "Captain Ahlgren of the Sea Swallow, who had come from Northport for it, spoke first.",
    "He said that Mr. Brandt and the Ministry of Works had promised lamps by the end of June.",
    "Nobody answered.",
    "The minutes were read, and the board rose at four o'clock without having voted on anything.",
]


def split(text: str, language: str = "en") -> list[str]:
    return [unwrap(text[start:end]) for start, end in sentences(text, language)]


@pytest.mark.parametrize("margin", ["", "   ", "> ", "> > ", "        "])
@pytest.mark.parametrize("width", [50, 60, 72, 80, 100])
def test_prose_wrapped_at_any_width_is_its_sentences(width: int, margin: str) -> None:
    text = textwrap.fill(" ".join(PROSE), width, break_on_hyphens=False)
    found = split(textwrap.indent(text, margin))
    assert [found[0].removeprefix(margin), *found[1:]] == PROSE


def test_empty_lines_may_tear_a_sentence_where_a_page_ended() -> None:
    torn = (
        "Captain Ahlgren had come from Northport to hear what the pilots\n \n\nhad to say of "
        "the buoys.\n\nThe board of the harbour met on a Tuesday in October\n\nand heard them."
    )
    assert split(torn) == [
        "Captain Ahlgren had come from Northport to hear what the pilots had to say of the buoys.",
        "The board of the harbour met on a Tuesday in October and heard them.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "A short line of the text\n\nand small letters.",
        "The harbour board met on Tuesday to hear the pilots of Northport.\n\nthen it rose.",
        "The harbour board met on Tuesday to hear the following pilots:\n\nof Northport.",
        "The harbour board met on Tuesday to hear the pilots of Northport\n\nThen it rose.",
        "The harbour board met on Tuesday to hear the pilots of Northport\n\n- and others.",
    ],
)
def test_other_empty_lines_end_a_sentence(text: str) -> None:
    assert len(split(text)) == 2


def test_any_number_of_empty_lines_takes_little_time() -> None:
    assert (
        len(
            split(
                "The harbour board met on Tuesday to hear the pilots" + "\n" * 200_000 + "and rose."
            )
        )
        == 2
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n", "  \n"])
def test_any_kind_of_line_end_can_break_a_line(end: str) -> None:
    assert split(textwrap.fill(" ".join(PROSE), 64).replace("\n", end)) == PROSE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "The master pays the dues that are laid down by section 12 and section\n"
            "14. If he does not, the vessel may be held as it is said in section\n"
            "(3) of the schedule.",
            [
                "The master pays the dues that are laid down by section 12 and section 14.",
                "If he does not, the vessel may be held as it is said in section "
                "(3) of the schedule.",
            ],
            id="a number at the beginning of a line is no item",
        ),
        pytest.param(
            "Nobody on the quay had ever heard of a boat of that name before then\n"
            "- and yet it had been there all along.",
            [
                "Nobody on the quay had ever heard of a boat of that name before then "
                "- and yet it had been there all along.",
            ],
            id="a dash at the beginning of a line is no item",
        ),
        pytest.param(
            "On pilots\nThe board licenses whoever has served for seven years on a boat that\n"
            "Northport registered.",
            [
                "On pilots",
                "The board licenses whoever has served for seven years on a boat that "
                "Northport registered.",
            ],
            id="a short line is a heading",
        ),
        pytest.param(
            "THE BOARD GIVES NO WARRANTY OF ANY KIND, NOR DOES IT ANSWER FOR THE\n"
            "LOSS OF CARGO.",
            [
                "THE BOARD GIVES NO WARRANTY OF ANY KIND, NOR DOES IT ANSWER FOR THE "
                "LOSS OF CARGO.",
            ],
            id="prose in capitals",
        ),
        pytest.param(
            "Please send the list of the lamps that are out before the board meets\n"
            "again.\n\nYours sincerely,\nAnna Brandt\nClerk",
            [
                "Please send the list of the lamps that are out before the board meets again.",
                "Yours sincerely,",
                "Anna Brandt",
                "Clerk",
            ],
            id="a signature",
        ),
        pytest.param(
            "From: Anna Brandt <anna@example.org>\nTo: The pilots <pilots@example.org>\n"
            "Subject: Lamps",
            [
                "From: Anna Brandt <anna@example.org>",
                "To: The pilots <pilots@example.org>",
                "Subject: Lamps",
            ],
            id="the head of a message",
        ),
        pytest.param(
            "Anna wrote:\n"
            "> The lamp at the end of Pier Nine has been out since the storm of last\n"
            "> Thursday.\n"
            "It has been mended.",
            [
                "Anna wrote:",
                "> The lamp at the end of Pier Nine has been out since the storm of last Thursday.",
                "It has been mended.",
            ],
            id="a quotation in a message",
        ),
        pytest.param(
            "> > Who mends the lamp at the end of Pier Nine, and who pays for all of\n"
            "> The board does, as it has done in every year since the storm in which\n"
            "Nobody does.",
            [
                "> > Who mends the lamp at the end of Pier Nine, and who pays for all of",
                "> The board does, as it has done in every year since the storm in which",
                "Nobody does.",
            ],
            id="quotations of different persons",
        ),
        pytest.param(
            "Mr AHLGREN: When will the lamps be lit again that were put out by the\n"
            "storm?\n"
            "The CHAIR: Soon",
            [
                "Mr AHLGREN: When will the lamps be lit again that were put out by the storm?",
                "The CHAIR: Soon",
            ],
            id="speakers",
        ),
        pytest.param(
            "The board asked the well-known pilot whether the inter-\n"
            "national rules of the sea did apply.",
            [
                "The board asked the well-known pilot whether the inter-\n"
                "national rules of the sea did apply."
            ],
            id="a hyphen at a line's end",
        ),
        pytest.param(
            "The lamps are lit by the keeper,\nwho lives on the pier, and put out\nby his son.",
            ["The lamps are lit by the keeper, who lives on the pier, and put out by his son."],
            id="lines broken by sense",
        ),
        pytest.param(
            "At night however,\nthe lamp is lit by the keeper, who lives on the pier.",
            ["At night however, the lamp is lit by the keeper, who lives on the pier."],
            id="a short line that ends with a comma",
        ),
        pytest.param(
            "wicks\noil\nmatches",
            ["wicks", "oil", "matches"],
            id="a list of words",
        ),
        pytest.param(
            "The keeper came down from the tower at five. He had not slept. His son\n"
            "slept.",
            ["The keeper came down from the tower at five.", "He had not slept.", "His son slept."],
            id="several sentences on a line",
        ),
        pytest.param(
            "The keeper came down from the tower at five, as he did on each morning.\n"
            "His son went up.",
            [
                "The keeper came down from the tower at five, as he did on each morning.",
                "His son went up.",
            ],
            id="a sentence ends where its line does",
        ),
        pytest.param(
            "   He came down at five.\n   Nobody saw him go along the northern pier with a lamp\n"
            "   in his hand.",
            [
                "He came down at five.",
                "Nobody saw him go along the northern pier with a lamp in his hand.",
            ],
            id="a paragraph that only its indentation begins",
        ),
        pytest.param(
            "went to the pier with the keeper's son and with\n"
            "nobody else.\n",
            ["went to the pier with the keeper's son and with nobody else."],
            id="the rest of a line",
        ),
        pytest.param(
            "That was\nthe year in which the northern pier was lengthened by ninety metres.",
            ["That was the year in which the northern pier was lengthened by ninety metres."],
            id="the last words of a line",
        ),
        pytest.param(
            "港务局在星期二开会听取领航员关于新浮标的意见并且决定在\n"
            "五月底之前安装新的灯。没有人反对。会议在下午四点结束，\n"
            "没有表决。",
            [
                "港务局在星期二开会听取领航员关于新浮标的意见并且决定在"
                "五月底之前安装新的灯。",
                "没有人反对。",
                "会议在下午四点结束，没有表决。",
            ],
            id="Chinese",
        ),
        pytest.param("港务局\n领航员", ["港务局", "领航员"], id="Chinese headings"),
    ],
)  # fmt: skip
def test_a_line_s_end_ends_a_sentence_unless_it_only_breaks_the_line(
    text: str, expected: list[str]
) -> None:
    assert split(text) == expected


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
    text = cut.replace("{prose}", textwrap.fill(" ".join(PROSE), 64))
    found = split(text)
    assert [sentence for sentence in found if "`" not in sentence and "lamp" not in sentence] == [
        sentence for sentence in PROSE if "lamp" not in sentence
    ] * cut.count("{prose}")


def test_german_nouns_at_the_beginning_of_a_line_begin_no_sentence() -> None:
    told = [
        "Die Hafenbehörde hörte am Dienstag, was die Lotsen über die neuen Bojen zu sagen hatten.",
        "Kapitän Ahlgren, der dafür aus Nordhafen gekommen war, sprach vom Ministerium.",
        "Niemand widersprach.",
    ]
    for width in (60, 72, 80):
        assert split(textwrap.fill(" ".join(told), width), "de") == told


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


def test_what_is_filled_keeps_its_length_and_all_but_line_ends() -> None:
    text = textwrap.indent(textwrap.fill(" ".join(PROSE), 60), "> ")
    filled = fill(text)
    assert len(filled) == len(text)
    assert "\n" not in filled
    assert all(new in {old, " "} for old, new in zip(text, filled, strict=True))


def test_a_long_run_of_lines_is_filled_in_parts() -> None:
    """The sentence splitter takes quadratic time for text without blanks."""
    runs = fill("\n".join(["港" * 40] * 500)).split("\n")
    assert max(map(len, runs)) <= 4000
    assert len(runs) < 10


def test_a_paragraph_too_long_is_cut_at_its_sentences_not_at_its_lines() -> None:
    text = textwrap.fill(" ".join(PROSE), 60)
    spans = passage_spans(document(text), chunking("recursive", 100, 0), None)
    assert [unwrap(text[start:end]) for start, end in spans] == PROSE


def test_a_quotation_is_found_over_the_ends_of_lines() -> None:
    text = textwrap.fill(" ".join(PROSE), 60)
    read = ReadPassage(passage(text, 0, len(text)))
    for sentence in PROSE:
        _, span = best_place(sentence, [read])
        assert unwrap(text[span.start : span.end]) == sentence
