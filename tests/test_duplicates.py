"""Passages that say nearly the same, and orders that avoid them."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.search.flow import search
from atlas_search.search.request import SearchPlan
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.search.select import groups, mmr_order
from atlas_search.stores.embedded import EmbeddedStore
from tests.hash_embedder import HashEmbedder
from tests.three_passages import table_of
from tests.tiny import build_tiny, write_sources

SPEECH = "one two three four five six seven eight nine ten"  # seven runs of four words
OTHER = "sheep give wool and cows give milk"


def groups_of(*texts: str, share: float = 0.8) -> list[int]:
    table = table_of(texts, [""] * len(texts), ())
    return groups(np.arange(len(texts)), table, share)


def test_reprints_belong_to_the_first_of_them() -> None:
    assert groups_of(SPEECH, OTHER, SPEECH.title() + "!", OTHER) == [0, 1, 0, 1]


def test_an_excerpt_is_the_same_as_the_whole() -> None:
    assert groups_of(SPEECH, "two three four five six") == [0, 0]
    assert groups_of("two three four five six", f"{SPEECH} {OTHER}") == [0, 0]


def test_the_share_of_common_runs_decides() -> None:
    # the changed word is in four of seven runs, so three are common
    changed = SPEECH.replace("five", "fünf")
    assert groups_of(SPEECH, changed, share=3 / 7) == [0, 0]
    assert groups_of(SPEECH, changed, share=0.5) == [0, 1]


def test_passages_of_less_than_a_run_are_like_no_other() -> None:
    assert groups_of("two words", "two words", "", "") == [0, 1, 2, 3]


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=12), min_size=1, max_size=6))
def test_groups_are_those_of_sets_of_runs(texts: list[list[str]]) -> None:
    runs = [{tuple(text[at : at + 4]) for at in range(len(text) - 3)} for text in texts]
    first: list[int] = []
    for position, own in enumerate(runs):
        alike = [
            at
            for at in range(position)
            if first[at] == at
            and min(len(own), len(runs[at])) > 0
            and len(own & runs[at]) >= 0.5 * min(len(own), len(runs[at]))
        ]
        first.append(alike[0] if alike else position)
    assert groups_of(*map(" ".join, texts), share=0.5) == first


def test_runs_do_not_reach_over_the_end_of_a_passage() -> None:
    assert groups_of("one two three", "four five six", "three four five six seven") == [0, 1, 2]


def test_likeness_is_to_the_first_not_to_others_like_it() -> None:
    # the second is like both others, which are not like each other
    first, last = "one two three four five", "three four five six seven"
    assert groups_of(first, "one two three four five six seven", last, share=1.0) == [0, 0, 2]


@pytest.mark.parametrize(("share", "order"), [(1.0, [0, 1, 2]), (0.5, [0, 2, 1]), (0.0, [0, 2, 1])])
def test_mmr_prefers_what_is_unlike_the_chosen(share: float, order: list[int]) -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    # share 0.5, second place: 0.5 * 0.8 - 0.5 * 1 = -0.1 against 0.5 * 0.6 - 0.5 * 0 = 0.3
    assert mmr_order(np.array([0.9, 0.8, 0.6]), vectors, share, 3).tolist() == order


def test_mmr_leaves_the_rest_in_their_order() -> None:
    vectors = np.ones((4, 1), dtype=np.float32)
    assert mmr_order(np.array([0.9, 0.8, 0.7, 0.6]), vectors, 0.5, 1).tolist() == [0, 1, 2, 3]
    assert mmr_order(np.empty(0), np.empty((0, 1), np.float32), 0.5, 3).tolist() == []


def test_a_reprint_takes_no_place_of_its_own_and_is_named(tmp_path: Path) -> None:
    speech = f"{SPEECH} {' '.join(f'clause{n}' for n in range(40))}"
    files = {f"farm/{n}.txt": f"{speech} and word{n} sheep.\n" for n in range(4)}
    files |= {f"farm/other{n}.txt": f"Sheep number{n} wool{n} barn{n} hill{n}.\n" for n in range(3)}
    embedder = HashEmbedder()
    build_tiny(write_sources(tmp_path / "source", files), tmp_path / "c", embedder)
    store = EmbeddedStore(tmp_path / "c")
    with ThreadPoolExecutor(2) as executor:
        searcher = Searcher(store, embedder, executor, Tracer("", "", content=False), {})
        request = SearchPlan("three four five sheep", ("farm",), False, 5, date(2026, 1, 1))
        found = search(SearchRun(searcher, request, Target()))
    store.close()
    assert len(found.passages) == 4
    (kept,) = [item for item in found.passages if "other" not in item.passage.document_id]
    reprints = {kept.passage.id, *kept.ranked.duplicates}
    assert {id_.partition(":")[0] for id_ in reprints} == {f"farm.{n}" for n in range(4)}
    assert all(item.ranked.duplicates == () for item in found.passages if item is not kept)
