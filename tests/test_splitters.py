"""Each splitter: where it cuts, what it repeats, what it keeps whole."""

import pytest

from atlas_search.building.chunking import Splitter, chunking, passage_spans, positions
from atlas_search.core.domain import Segment
from atlas_search.language.text import TextSpan, sentences
from tests.cuts import document, pieces, token_spans


def test_a_text_that_fits_is_one_span() -> None:
    assert pieces("a" * 20 + "\n\n" + "b" * 28, 20 + 2 + 28) == ["a" * 20 + "\n\n" + "b" * 28]


def test_paragraphs_that_fit_are_kept_whole() -> None:
    first, second, third = "one " * 9 + "end", "two " * 9 + "end", "three"
    assert pieces(f"{first}\n\n{second}\n \n{third}", 50) == [first, f"{second}\n \n{third}"]


@pytest.mark.parametrize("heading", ["## Facts", "THE FACTS"])
def test_a_heading_stays_with_the_paragraph_below_it(heading: str) -> None:
    above, below = "above " * 5 + "end", "below " * 5 + "end"
    assert pieces(f"{above}\n\n{heading}\n\n{below}", 50) == [above, f"{heading}\n\n{below}"]


def test_lines_are_kept_whole_where_a_paragraph_is_too_long() -> None:
    lines = [f"{judge} agreed. Nobody dissented." for judge in ("Ash", "Birch", "Cole")]
    assert len("\n".join([lines[0], "Birch agreed."])) <= 50  # a sentence more would fit
    assert pieces("\n".join(lines), 50) == lines


def test_sentences_that_fit_are_not_cut() -> None:
    told = [f"Judge {name} said that No. 45 applies." for name in ("Ash", "Birch", "Cole")]
    assert pieces(" ".join(told), 50) == told


def test_a_sentence_too_long_is_cut_between_words() -> None:
    assert pieces("abcd " * 20, 50) == [("abcd " * 10).strip()] * 2


def test_a_word_too_long_is_cut_into_characters() -> None:
    lengths = [len(piece) for piece in pieces("x" * 5000, 400, 100)]
    assert lengths == [400] * 12 + [5000 - 12 * 400]


def test_whole_sentences_are_repeated_up_to_the_overlap() -> None:
    a, b, c, d = (f"{letter * 18}. " for letter in "ABCD")  # 20 characters with the blank
    assert pieces(a + b + c + d, 60, 20) == [(a + b + c).strip(), (c + d).strip()]
    assert pieces(a + b + c + d, 60, 18) == [(a + b + c).strip(), d.strip()]


def test_a_repeated_text_gives_spans_at_different_places() -> None:
    line = "The appeal is dismissed with costs."  # 35 characters, 37 with the blank line
    assert passage_spans(document(f"{line}\n\n" * 3), chunking(size=50, overlap=0), None) == [
        TextSpan(0, 35),
        TextSpan(37, 37 + 35),
        TextSpan(2 * 37, 2 * 37 + 35),
    ]


def test_a_size_in_tokens_counts_what_the_model_reads() -> None:
    text = "I am a cat. " * 6  # five tokens each
    spans = passage_spans(document(text), chunking(size=16, overlap=0, unit="tokens"), token_spans)
    assert [text[start:end] for start, end in spans] == [("I am a cat. " * 3).strip()] * 2


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_a_word_of_one_token_is_still_cut_when_it_is_endless(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 0, "tokens")
    spans = passage_spans(document("x" * 1000), chosen, lambda text: [(0, len(text))])
    assert spans == [
        TextSpan(0, 320),
        TextSpan(320, 640),
        TextSpan(640, 960),
        TextSpan(960, 1000),
    ]  # 20 a token


@pytest.mark.parametrize("splitter", ["recursive", "fixed"])
def test_one_character_of_many_tokens_is_a_passage(splitter: Splitter) -> None:
    chosen = chunking(splitter, 16, 8, "tokens")
    spans = passage_spans(document("﷽﷽"), chosen, lambda _: [(0, 1)] * 18 + [(1, 2)] * 18)
    assert spans == [TextSpan(0, 1), TextSpan(1, 2)]


def test_windows_overlap_by_what_was_chosen() -> None:
    text = "".join(chr(ord("a") + n % 26) for n in range(130))
    assert pieces(text, 50, 10, "fixed") == [text[0:50], text[40:90], text[80:130]]


def test_a_window_begins_and_ends_between_words() -> None:
    text = " ".join(f"no{n:02}" for n in range(25))  # 4 characters each, 5 with the blank
    assert pieces(text, 52, 12, "fixed") == [text[0:49], text[40:89], text[80:]]


def test_a_window_is_cut_hard_when_no_word_ends_in_its_last_fifth() -> None:
    text = "short " * 6 + "x" * 60  # the last blank is at 35, the last fifth begins at 40
    assert pieces(text, 50, 0, "fixed") == [text[0:50], text[50:]]


def test_each_paragraph_is_a_passage() -> None:
    assert pieces("One.\n\nTHE FACTS\n\nTwo.\nThree.\n\nFour.", 50, 0, "paragraph") == [
        "One.",
        "THE FACTS\n\nTwo.\nThree.",
        "Four.",
    ]


def test_a_paragraph_too_long_is_cut_along_its_lines() -> None:
    line = "This line has forty characters in all, a"
    assert pieces(f"One.\n\n{line}\n{line}\n\nFour.", 50, 0, "paragraph") == [
        "One.",
        line,
        line,
        "Four.",
    ]


@pytest.mark.parametrize("bar", ["", "| "])
def test_the_header_of_a_markdown_table_stays_with_its_first_row(bar: str) -> None:
    header = (
        f"{bar}Port | Depth of the outer basin\n{bar}:--- | ---:\n"
        f"{bar}Ostby | four metres at low water"
    )
    other = f"{bar}Northport | nine metres at low water"
    third = f"{bar}Vik | two metres at low water"
    text = f"The ports of the north:\n\n{header}\n{other}\n{third}"
    assert pieces(text, 90) == ["The ports of the north:", header, f"{other}\n{third}"]


@pytest.mark.parametrize(
    ("before", "lead", "after"),
    [
        ("He was asked at noon.", "Who paid for it?", "The council paid."),
        ("def open_port():\n    pass", "def close_port():", "    harbour.shut()"),
        ("Nothing is owed until May.", "In this Act—", "port means a harbour"),
        ("Nothing is owed until May.", "The fees are:", "- four shillings"),
        ("Nothing is owed here until May.", "## Fees", "Four shillings."),
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_what_leads_in_stays_with_what_it_leads_to(
    before: str, lead: str, after: str, gap: str
) -> None:
    text = gap.join([before, lead, after])
    assert pieces(text, 50) == [before, f"{lead}{gap}{after}".strip()]


def test_a_question_takes_the_first_sentence_of_a_long_answer() -> None:
    before, question = "He was asked at noon about money.", "Who paid for it?"
    answer = "The council did. " + "Nobody else had a shilling. " * 2
    assert pieces(f"{before}\n\n{question}\n\n{answer}", 60) == [
        before,
        f"{question}\n\nThe council did.",
        answer.removeprefix("The council did. ").strip(),
    ]


def test_only_the_last_sentence_of_a_long_paragraph_leads_in() -> None:
    paragraph = "The council met at noon. It was asked who paid. Who paid for it?"
    assert pieces(f"{paragraph}\n\nThe council paid for it.", 65) == [
        "The council met at noon. It was asked who paid.",
        "Who paid for it?\n\nThe council paid for it.",
    ]


def test_a_list_of_questions_is_cut_where_it_is_full() -> None:
    questions = [f"Who paid for quay {number} of the harbour?" for number in range(6)]
    assert pieces("\n\n".join(questions), 90) == [
        "\n\n".join(questions[at : at + 2]) for at in (0, 2, 4)
    ]


def test_each_sentence_is_a_passage() -> None:
    assert pieces("He cites No. 45. She agrees.\nSo ordered", 50, 0, "sentence") == [
        "He cites No. 45.",
        "She agrees.",
        "So ordered",
    ]


def test_a_sentence_too_long_for_a_passage_is_cut_between_words() -> None:
    assert pieces("Yes. " + "abcd " * 20, 50, 0, "sentence") == ["Yes.", *pieces("abcd " * 20, 50)]


def test_the_sentences_of_a_very_long_line_are_those_of_its_parts() -> None:
    line = "The court agrees. Nobody dissented. " * 500
    told = [line[start:end] for start, end in sentences("The court agrees. Nobody dissented.")]
    assert pieces(line, 50, 0, "sentence") == told * 500


def test_sections_stay_apart_and_a_long_one_is_cut() -> None:
    source = document(
        "Before.\nOne.\nTwo.\n" + "Long. " * 10,
        (0,),
        Segment(8, "Part 1"),
        Segment(13, "Part 2"),
        Segment(18, "Part 3"),
    )
    spans = passage_spans(source, chunking("structural", 50, 0), None)
    assert spans == [
        TextSpan(0, 7),
        TextSpan(8, 12),
        TextSpan(13, 17),
        TextSpan(18, 65),
        TextSpan(66, 77),
    ]
    assert [position.section for position in positions(source, spans)] == [
        "",
        "Part 1",
        "Part 2",
        "Part 3",
        "Part 3",
    ]


def test_whole_sections_are_joined_across_sections() -> None:
    source = document("x" * 30 + " " + "y" * 15 + " " + "z" * 30, (0,), Segment(31), Segment(47))
    chosen = chunking("structural", 50, 0, across_sections=True)
    assert passage_spans(source, chosen, None) == [TextSpan(0, 46), TextSpan(47, 77)]


def test_a_whole_document_is_one_passage() -> None:
    source = document(" One.\n\n" + "x" * 30_000 + "\n", (0, 4, 90), Segment(10))
    assert passage_spans(source, chunking("whole"), None) == [TextSpan(1, 30_007)]


def test_a_passage_ends_with_its_page_unless_it_may_cross() -> None:
    source = document("One sentence\ngoes on.", (0, 13))
    assert passage_spans(source, chunking(), None) == [TextSpan(0, 12), TextSpan(13, 21)]
    assert passage_spans(source, chunking(across_pages=True), None) == [TextSpan(0, 21)]
