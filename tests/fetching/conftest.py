"""Sites and folders to fetch into."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fetching.sites import Folder, Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@pytest.fixture
def other_site() -> Iterator[Site]:
    with serving(Site()) as found:
        yield found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)
