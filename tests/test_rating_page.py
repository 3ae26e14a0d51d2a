"""What the page says of ratings, held against the server that takes them."""

import re
from typing import get_args

import pytest

from atlas_search.server.feedback.store import (
    LONGEST_COMMENT,
    LONGEST_TAG,
    MOST_TAGS,
    SCALES,
    Backing,
    Relevance,
    Thumb,
)
from tests.places import ROOT


def script(name: str) -> str:
    return (ROOT / "frontend" / "feedback" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "constant", "limit"),
    [
        ("rating.js", "LONGEST_COMMENT", LONGEST_COMMENT),
        ("tags.js", "LONGEST", LONGEST_TAG),
        ("tags.js", "MOST", MOST_TAGS),
    ],
)
def test_the_limits_of_the_page_are_those_of_the_server(
    name: str, constant: str, limit: int
) -> None:
    assert f"const {constant} = {limit};" in script(name)


def test_the_page_has_every_scale_and_no_other() -> None:
    listed = re.search(r"const SCALES = \[(.*?)\]", script("rating.js"))
    assert listed is not None
    assert tuple(re.findall(r'"(\w+)"', listed.group(1))) == SCALES


def test_the_page_has_every_vote() -> None:
    assert all(f'thumb("{value}"' in script("rating.js") for value in get_args(Thumb))
    for value in get_args(Relevance) + get_args(Backing):
        assert f'"{value}",\n' in script("votes.js")
