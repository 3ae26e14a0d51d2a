"""What things cost, as ratios within one process: none may become a third worse.

`python -m tests.benchmarks.performance.small` measures the known ratios anew, and
`python -m tests.benchmarks.performance --render` writes the page.
"""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.performance.growth import growth
from tests.benchmarks.performance.page import KEPT as FIGURES
from tests.benchmarks.performance.page import PAGE, page
from tests.benchmarks.performance.records import Beside, Record, Results, records_of
from tests.benchmarks.performance.site import Site
from tests.benchmarks.performance.small import KEPT, RATIOS, SIZE, WORSE, prepare
from tests.benchmarks.performance.versus import Failed, worker
from tests.places import ROOT

KNOWN = json.loads(KEPT.read_text())
TRIES = 3  # more, of a ratio that is too high


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(tmp_path_factory.mktemp("performance"), SIZE)
    prepare(made)
    return made


@pytest.mark.parametrize("name", RATIOS)
def test_no_ratio_is_a_third_worse(site: Site, name: str) -> None:
    most = WORSE * KNOWN[name]
    found = RATIOS[name](site)
    for _ in range(TRIES):
        if found > most:  # something else may have run beside it
            found = min(found, RATIOS[name](site))
    assert found <= most, f"{found:.3f}, and it was {KNOWN[name]}"


def test_every_known_ratio_is_measured() -> None:
    assert list(KNOWN) == list(RATIOS)


def test_the_page_is_written_from_the_figures() -> None:
    assert PAGE.read_text() == page(json.loads(FIGURES.read_text()))


def test_a_reach_is_reached_from_its_side() -> None:
    cost = Record("a search", "ms", 12.0, reach=12.0)
    share = Record("recall", "", 0.98, reach=0.99, better="higher")
    assert [cost.reached, share.reached] == [True, False]
    assert replace(cost, reach=None).reached is None
    assert replace(cost, value=None, error="it failed").reached is False


def test_growth_is_the_largest_size_against_the_smallest() -> None:
    searches = [Record("search, vector given", "ms", ms, size) for size, ms in ((10, 2), (40, 6))]
    (found,) = growth([*searches, Record("open a collection", "s", 1.0, 10)])
    assert (found.value, found.reached) == (3.0, False)


def test_results_are_kept_and_failures_measured_again(tmp_path: Path) -> None:
    results = Results(tmp_path)
    record, failed = Record("a", "ms", 1.5, 10), Beside("txtai", 10, {}, error="it failed")
    results.write("10-a", [record])
    results.write("10-system-txtai", [failed])
    assert [results.has(key) for key in ("10-a", "10-system-txtai", "10-b")] == [True, False, False]
    assert records_of(Results(tmp_path).gathered([])) == ([record], [failed])


def test_the_other_libraries_are_pinned_and_bring_no_nvidia_package() -> None:
    lines = (ROOT / "constraints-peers.txt").read_text().splitlines()
    pinned = {line.partition("==")[0].lower() for line in lines}
    assert not [name for name in pinned if name.startswith("nvidia")]
    named = re.search(r"^PEERS = (.*(?:\\\n.*)*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert named
    assert set(named[1].replace("\\", "").split()) <= pinned


def test_a_system_that_cannot_be_run_says_why(tmp_path: Path) -> None:
    with worker(sys.executable, "nobody", tmp_path / "data", tmp_path, 60) as nobody:
        for _ in range(2):
            with pytest.raises(Failed, match=r"build: ModuleNotFoundError: .*nobody"):
                nobody("build")
