"""Heads and feet of pages: what is printed again and again is read once."""

import pytest

from atlas_search.readers.print import running_lines

HEAD = "The Harbour Board of Northport"


def rest(*pages: list[str]) -> list[list[str]]:
    """What is left of pages."""
    return [
        [line for number, line in enumerate(page) if number not in running]
        for page, running in zip(pages, running_lines(pages), strict=True)
    ]


def test_a_head_is_kept_where_it_first_stands() -> None:
    assert rest([HEAD, "One."], [HEAD, "Two."], [HEAD, "Three."]) == [
        [HEAD, "One."],
        ["Two."],
        ["Three."],
    ]


@pytest.mark.parametrize("foot", ["{}", "- {} -", "{}/90"])
def test_the_number_of_a_page_is_kept_nowhere(foot: str) -> None:
    bodies = ("Ann spoke.", "Ben spoke.", "Cy spoke.", "Dora spoke.")
    pages = [[body, foot.format(number)] for number, body in enumerate(bodies, start=11)]
    assert rest(*pages) == [[body] for body in bodies]


def test_a_line_runs_if_only_the_number_of_its_page_differs() -> None:
    heads = [f"Minutes 7 of 2019, Page {number} of 12" for number in (1, 2, 3)]
    bodies = ("Ann spoke.", "Ben spoke.", "Cy spoke.")
    assert rest(*[[head, body] for head, body in zip(heads, bodies, strict=True)]) == [
        [heads[0], "Ann spoke."],
        ["Ben spoke."],
        ["Cy spoke."],
    ]


def test_numbers_that_do_not_count_pages_are_the_text() -> None:
    pages = [
        [f"{name} spoke.", f"Total {paid}"] for name, paid in zip("ABC", (9, 2, 55), strict=True)
    ]
    assert rest(*pages) == pages


def test_left_and_right_pages_have_heads_of_their_own() -> None:
    bodies = ("Ann.", "Ben.", "Cy.", "Dora.", "Eve.", "Fay.")
    pages = [[(HEAD, "Of pilots")[n % 2], body] for n, body in enumerate(bodies)]
    assert rest(*pages) == [*pages[:2], *[[body] for body in bodies[2:]]]


def test_what_is_said_again_on_pages_far_apart_is_kept() -> None:
    pages = [[f"{letter} spoke.", f"{letter} rose."] for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    for number in (0, 9, 10, 21):
        pages[number][-1] = "Yes."
    assert rest(*pages) == pages


def test_a_line_inside_the_page_is_kept_though_others_have_it() -> None:
    pages = [[f"{name} spoke first.", "Agreed.", f"{name} rose."] for name in ("Ann", "Ben", "Cy")]
    assert rest(*pages) == pages


def test_no_page_loses_all_it_has() -> None:
    pages = [[HEAD], [HEAD], [HEAD], []]
    assert rest(*pages) == pages


def test_two_pages_are_too_few_to_tell() -> None:
    pages = [[HEAD, "One."], [HEAD, "Two."]]
    assert rest(*pages) == pages
