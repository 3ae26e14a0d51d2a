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

SCRIPT = (ROOT / "frontend" / "feedback" / "feedback.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("constant", "limit"),
    [
        ("LONGEST_COMMENT", LONGEST_COMMENT),
        ("LONGEST_TAG", LONGEST_TAG),
        ("MOST_TAGS", MOST_TAGS),
    ],
)
def test_the_limits_of_the_page_are_those_of_the_server(constant: str, limit: int) -> None:
    assert f"const {constant} = {limit};" in SCRIPT


def test_the_page_has_every_scale_and_no_other() -> None:
    listed = re.search(r"const SCALES = \[(.*?)\]", SCRIPT)
    assert listed is not None
    assert tuple(re.findall(r'"(\w+)"', listed.group(1))) == SCALES


def test_the_page_has_every_vote() -> None:
    assert all(f'thumb("{value}"' in SCRIPT for value in get_args(Thumb))
    for value in get_args(Relevance) + get_args(Backing):
        assert f'"{value}",\n' in SCRIPT
