"""Numbers of lines beside law reports, bills and depositions are no text."""

from time import process_time

import pytest

from atlas_search.readers.print import without_line_numbers

PROSE = [
    "the owner of a boat shall",
    "keep it in the harbour and",
    "not upon the quay, and no",
    "pilot may board it there.",
]


def lines(count: int) -> list[str]:
    return [PROSE[number % 4] for number in range(count)]


def test_every_fifth_line_is_numbered_on_the_left() -> None:
    numbers = [str(number) if number % 5 == 0 else "" for number in range(1, 18)]
    text = "\n".join(f"{n:>3}   {line}" for n, line in zip(numbers, lines(17), strict=True))
    assert without_line_numbers(text) == "\n".join(f"      {line}" for line in lines(17))


def test_every_fifth_line_is_numbered_on_the_right() -> None:
    numbers = [str(number) if number % 5 == 0 else "" for number in range(1, 18)]
    rows = zip(numbers, lines(17), strict=True)
    text = "\n".join(f"{line:<40}{n}".rstrip() for n, line in rows)
    assert without_line_numbers(text) == "\n".join(lines(17))


def test_a_number_of_every_fifth_line_that_stands_alone_tears_no_sentence() -> None:
    apart = [line + (f"\n{at}" if at % 5 == 0 else "") for at, line in enumerate(lines(17), 1)]
    assert without_line_numbers("\n".join(apart)) == "\n".join(lines(17))


def test_a_page_too_short_for_three_numbers_loses_its_own_too() -> None:
    def page(count: int) -> str:
        rows = enumerate(lines(count), 1)
        return "\n".join(f"{at if at % 5 == 0 else '':<3} {line}" for at, line in rows)

    read = without_line_numbers("\n\f".join([page(16), page(17), page(8)]))
    assert not any(character.isdigit() for character in read)
    assert read.count("\f") == 2


def test_every_line_is_numbered_page_by_page() -> None:
    page = "\n".join(f"{at:>2}   {line}" for at, line in enumerate(lines(12), 1))
    bare = "\n".join(f"     {line}" for line in lines(12))
    assert without_line_numbers(f"{page}\n\f{page}") == f"{bare}\n\f{bare}"


def test_lines_that_are_printed_apart_come_together() -> None:
    page = "\n\n".join(f"{at:>2}   {line}" for at, line in enumerate(lines(12), 1))
    assert without_line_numbers(page) == "\n".join(f"     {line}" for line in lines(12))


def test_an_empty_line_that_is_numbered_is_empty() -> None:
    said = ["Q.  Was it there?", "", "A.  It was on the quay, and it", "lay there.", ""] * 5
    page = "\n".join(f"{at:>2}  {line}".rstrip() for at, line in enumerate(said, 1))
    bare = "\n".join(f"    {line}".rstrip() for line in said)
    assert without_line_numbers(f"{page}\n\f{page}") == f"{bare}\n\f{bare}"


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


@pytest.mark.parametrize("piece", ["1 a\n", "5\n", " ", " 1", "1", "5    x    5\n", "\f"])
def test_repetition_takes_no_quadratic_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = process_time()
    without_line_numbers(text)
    assert process_time() - started < 3
