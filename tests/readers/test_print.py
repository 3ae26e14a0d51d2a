"""Printed pages: heads and feet that run on, numbers of lines, and numbers of pages."""

from collections.abc import Sequence

import pytest

from atlas_search.readers.print import (
    labels_of_pages,
    page_label,
    printed_numbers,
    running_lines,
    without_line_numbers,
)

PROSE = [
    "the owner of a boat shall",
    "keep it in the harbour and",
    "not upon the quay, and no",
    "pilot may board it there.",
]


def lines(count: int) -> list[str]:
    return [PROSE[number % 4] for number in range(count)]


def fifth(count: int) -> list[str]:
    """The number of every fifth line, and nothing for the others."""
    return [str(number) if number % 5 == 0 else "" for number in range(1, count + 1)]


BARE = "\n".join(lines(17))
INDENTED = "\n".join(f"     {line}" for line in lines(12))
NUMBERED = "\n".join(f"{at:>2}   {line}" for at, line in enumerate(lines(12), 1))
SPEECH = ["Q.  Was it there?", "", "A.  It was on the quay, and it", "lay there.", ""] * 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n".join(f"{n:>3}   {line}" for n, line in zip(fifth(17), lines(17), strict=True)),
         "\n".join(f"      {line}" for line in lines(17))),
        ("\n".join(f"{line:<40}{n}".rstrip() for n, line in zip(fifth(17), lines(17), strict=True)),
         BARE),
        # a number that stands alone tears no sentence
        ("\n".join(f"{line}\n{n}".rstrip() for n, line in zip(fifth(17), lines(17), strict=True)),
         BARE),
        # every line is numbered, page by page, or printed apart
        (f"{NUMBERED}\n\f{NUMBERED}", f"{INDENTED}\n\f{INDENTED}"),
        (NUMBERED.replace("\n", "\n\n"), INDENTED),
        # an empty line that is numbered is empty
        ("\n\f".join(["\n".join(f"{n:>2}  {x}".rstrip() for n, x in enumerate(SPEECH, 1))] * 2),
         "\n\f".join(["\n".join(f"    {line}".rstrip() for line in SPEECH)] * 2)),
    ],
    ids=["left", "right", "alone", "pages", "apart", "empty"],
)  # fmt: skip
def test_numbers_of_lines_are_no_text(text: str, expected: str) -> None:
    assert without_line_numbers(text) == expected


def test_a_page_too_short_for_three_numbers_loses_its_own_too() -> None:
    def page(count: int) -> str:
        rows = zip(fifth(count), lines(count), strict=True)
        return "\n".join(f"{number:<3} {line}" for number, line in rows)

    read = without_line_numbers("\n\f".join([page(16), page(17), page(8)]))
    assert not any(character.isdigit() for character in read)
    assert read.count("\f") == 2


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"{at} Boats and nets" for at in range(1, 40)),
        "\n".join(f"{at}. the boats and nets" for at in range(1, 40)),
        "\n".join(f"Boats and nets{' ' * 20}{at}" for at in range(1, 40)),
        "5 men came.\n10 men left.\n15 men stayed.",
        "\n".join(f"{word}    {5 * at}" for at, word in enumerate("pear plum fig nut".split(), 1)),
        "\n".join(f"{at} boats and nets" for at in range(1, 40)),
        "\n".join(f"{at} see {'no ' * (at % 5)}boats and nets" for at in range(1, 40)),
        "\n".join(f"{at} {'and so ' * (at % 7)}it was" for at in range(1, 40)),
        "\n".join(f"{at} Northport 12,000" for at in [*range(1, 26)] * 2),
        "\n\n".join(f"{at} I agree that the boat was lost." for at in [*range(1, 26)] * 2),
        "\n".join(f"{at} And it was so." for last in (25, 31, 22) for at in range(1, last)),
        "\n".join(f"{at} years\n  men ten\n  boys nine\n  all of them" for at in range(5, 60, 5)),
        "\n".join(f"Age  {at}\n  men ten\n  boys nine\n  all of them" for at in range(5, 60, 5)),
        "\n".join(["It was in", "1954 that the board", "met again."] * 9),
    ],
)
def test_numbers_of_a_list_or_a_table_stay(text: str) -> None:
    assert without_line_numbers(text) == text


HEAD = "The Harbour Board of Northport"
BODIES = ("Ann spoke.", "Ben spoke.", "Cy spoke.", "Dora spoke.", "Eve spoke.", "Fay spoke.")
MINUTES = [f"Minutes 7 of 2019, Page {number} of 12" for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("pages", "rest"),
    [
        # a head is kept where it first stands
        ([[HEAD, body] for body in BODIES[:3]], [[HEAD, BODIES[0]], *([b] for b in BODIES[1:3])]),
        # also if only the number of its page differs
        ([[head, body] for head, body in zip(MINUTES, BODIES[:3], strict=True)],
         [[MINUTES[0], BODIES[0]], *([body] for body in BODIES[1:3])]),
        # left and right pages have heads of their own
        ([[(HEAD, "Of pilots")[n % 2], body] for n, body in enumerate(BODIES)],
         [[HEAD, BODIES[0]], ["Of pilots", BODIES[1]], *([body] for body in BODIES[2:])]),
        # the number of a page is kept nowhere
        *(([[body, foot.format(n)] for n, body in enumerate(BODIES, start=11)],
           [[body] for body in BODIES]) for foot in ("{}", "- {} -", "{}/90")),
        # but for the first in letters
        ([[body, f"[{n}]"] for n, body in zip(("ii", "iii", "iv", "v"), BODIES, strict=False)],
         [[BODIES[0], "[ii]"], *([body] for body in BODIES[1:4])]),
    ],
)  # fmt: skip
def test_heads_and_feet_that_run_on_are_read_once(
    pages: list[list[str]], rest: list[list[str]]
) -> None:
    assert remaining(pages) == rest


def remaining(pages: list[list[str]]) -> list[list[str]]:
    """All lines of pages but those that run on."""
    return [
        [line for number, line in enumerate(page) if number not in running]
        for page, running in zip(pages, running_lines(pages), strict=True)
    ]


NONE = [""] * len(BODIES)


@pytest.mark.parametrize(
    ("pages", "numbers"),
    [
        ([[str(n), HEAD, body] for n, body in enumerate(BODIES, start=215)], range(215, 221)),
        # left and right, and on a page that opens a chapter none
        ([[(f"{n} {HEAD}", f"Of pilots {n}")[n % 2], body] for n, body in enumerate(BODIES, 14)],
         range(14, 20)),
        ([["Pilots", BODIES[0]], *([body, f"- {n} -"] for n, body in enumerate(BODIES[1:], 52))],
         range(51, 57)),
        # the words go up, too
        ([[f"{n + 7}", f"Part {n} of the year {1700 + n}."] for n in range(6)], range(7, 13)),
        # a front matter of its own numbers has none here
        ([["ii", "Preface."], *([body, str(n)] for n, body in enumerate(BODIES, 1))],
         ["", *range(1, 7)]),
        # of several pages it is kept, and each part may count anew
        ([*([body, n] for n, body in zip(("ii", "iii", "iv"), BODIES, strict=False)),
          *([f"Of pilots {n}", body] for n, body in enumerate(BODIES, 1)),
          *([f"A-{n}", body] for n, body in enumerate(BODIES, 1))],
         ["ii", "iii", "iv", *range(1, 7), *(f"A-{n}" for n in range(1, 7))]),
        # that of a court on all pages of a file has more words beside it
        ([[f"Case 12, Page {n} of 9", body, str(n - 2)] for n, body in enumerate(BODIES, 3)],
         range(1, 7)),
        # a plate between two pages counts; a title page in front has too few lines to be due
        ([["Pilots"], *([body] * 2 + [str(n)] * (n != 4) for n, body in enumerate(BODIES, 2))],
         ["", *range(2, 8)]),
        # no count of pages
        ([[f"Report of {1900 + n % 2}", body] for n, body in enumerate(BODIES)], NONE),
        ([[body, "2"] for body in BODIES], NONE),
        ([["1", BODIES[0]], ["2", BODIES[1]]], NONE[:2]),
        # nor are numbers of text and tables that go up by chance, headings, examples, and days
        *(([[body] * n + [text.format(n)] + [body] * (7 - n) for n, body in enumerate(BODIES, 1)],
           NONE) for text in ("{}", "{} ships", "for {}")),
        *(([[f"{text.format(n)} {body}", body] for n, body in enumerate(BODIES, 1)], NONE)
          for text in ("{}.", "Example #{}", "{}%", "3/{}/2019", "0{}")),
        # nor do a few in a row with words beside them count the pages of a long document
        ([[f"Step {n}" if n < 4 else body, body] for n in range(1, 41) for body in BODIES[:1]],
         [""] * 40),
    ],
)  # fmt: skip
def test_the_number_of_a_page_is_what_goes_up_with_the_pages(
    pages: list[list[str]], numbers: Sequence[int | str]
) -> None:
    assert printed_numbers(pages) == [str(number) for number in numbers]


SPOKEN = [[f"{letter} spoke.", f"{letter} rose."] for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]


@pytest.mark.parametrize(
    "pages",
    [
        # numbers that do not count pages are the text
        [[f"{name} spoke.", f"Total {paid}"] for name, paid in zip("ABC", (9, 2, 55), strict=True)],
        # so is what is said again on pages far apart, or inside the page
        [[first, "Yes."] if n in (0, 9, 10, 21) else [first, last]
         for n, (first, last) in enumerate(SPOKEN)],
        [[f"{name} spoke first.", "Agreed.", f"{name} rose."] for name in ("Ann", "Ben", "Cy")],
        # no page loses all it has, and two pages are too few to tell
        [[HEAD], [HEAD], [HEAD], []],
        [[HEAD, "One."], [HEAD, "Two."]],
    ],
)  # fmt: skip
def test_other_lines_that_come_again_stay(pages: list[list[str]]) -> None:
    assert remaining(pages) == pages


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *(("12", "12"), (" Page 12. ", "12"), ("[p. 12]", "12"), ("pg. xii", "xii")),
        *((each, each) for each in ("23r", "Plate 3", "p", "", "page", "A-7")),
    ],
)
def test_a_label_is_the_number_itself(written: str, label: str) -> None:
    assert page_label(written) == label


@pytest.mark.parametrize("labels", [[], [""], ["1", "2", "3"], ["", "2", ""]])
def test_labels_that_only_count_say_nothing(labels: list[str]) -> None:
    assert labels_of_pages(labels) == ()
    assert labels_of_pages(["1", "2", "2a"]) == ("1", "2", "2a")
