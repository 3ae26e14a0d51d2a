"""The pictures of Phoenix: there, small, and each shown and described."""

import re

import pytest
from PIL import Image

from tests.phoenix_pictures import PICTURES, UNEQUAL
from tests.places import ROOT
from tests.test_docs import text_of

PAGE = "docs/phoenix.md"
_PICTURE = re.compile(r"!\[([^\]]+)\]\(images/([^)]+)\)")
SHOWN = {
    described: name
    for page in sorted((ROOT / "docs").glob("*.md"))
    for described, name in _PICTURE.findall(page.read_text(encoding="utf-8"))
}
MOST_BYTES = 150_000


def test_every_picture_is_shown_once_and_described() -> None:
    assert sorted(SHOWN.values()) == sorted(file.name for file in PICTURES.iterdir())
    assert all(len(described) > 20 for described in SHOWN)


@pytest.mark.parametrize("name", SHOWN.values())
def test_a_picture_is_small(name: str) -> None:
    file = PICTURES / name
    assert file.stat().st_size < MOST_BYTES
    if file.suffix == ".svg":
        return
    with Image.open(file) as picture:
        assert picture.mode == "P"
        assert "text" not in picture.info


def test_the_filter_of_the_picture_is_one_of_the_page() -> None:
    assert f"`{UNEQUAL}`" in text_of(PAGE)
