"""The cap per document in a whole search: it makes room for what is as good, and for no less."""

from collections.abc import Iterator

import pytest

from atlas_search.core.targets import Target
from atlas_search.search.run import Searcher
from tests.finding import find, names, searching

SECTIONS = "\n\n".join(
    f"A mooring fee of the harbour is due on day {number} of the month." for number in range(1, 7)
)
HARBOUR = {
    "law/act.txt": SECTIONS,
    "law/bakers.txt": "A fee is paid by bakers.",
    "law/sheep.txt": "Sheep graze by the harbour.",
}
AS_GOOD = {
    "law/tariff.txt": "The tariff: a mooring fee of the harbour is due at noon.",
    "law/notice.txt": "Notice: a mooring fee of the harbour is due in coin.",
}

DIFFERENT = Target(weight_semantic=0, weight_neighbours=0, near_duplicate=1)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with searching(
        tmp_path_factory.mktemp("alone"), HARBOUR, splitter="sentence", size=80, overlap=0
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def among_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    files = HARBOUR | AS_GOOD
    with searching(
        tmp_path_factory.mktemp("others"), files, splitter="sentence", size=80, overlap=0
    ) as opened:
        yield opened


def test_a_search_shows_every_passage_of_the_one_document_that_speaks_of_it(
    alone: Searcher,
) -> None:
    assert names(find(alone, "mooring fee of the harbour", DIFFERENT, limit=6)) == ["act"] * 6


def test_a_cap_leaves_no_better_passage_out_for_one_that_is_far_worse(alone: Searcher) -> None:
    found = find(alone, "mooring fee of the harbour", DIFFERENT, limit=6, max_per_document=2)
    assert names(found) == ["act"] * 6


def test_a_cap_makes_room_for_what_is_nearly_as_good(among_others: Searcher) -> None:
    found = find(among_others, "mooring fee of the harbour", DIFFERENT, limit=4, max_per_document=2)
    assert sorted(names(found)) == ["act", "act", "notice", "tariff"]
