"""Which candidates are kept. Corpora and documents are single letters, best candidate first."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.core.targets import Target
from atlas_search.search.query import parse_query
from atlas_search.search.select import Pool, choose, type_caps

BALANCES = st.sampled_from(["rank", "floor", "quota"])
# a document belongs to one corpus, so a candidate is (corpus, number of the document in it)
CANDIDATES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40)
LIMITS = st.integers(1, 20)
CAPS = st.integers(1, 4)


def kept(
    corpora: str,
    limit: int,
    balance: str = "rank",
    *,
    documents: str = "",
    cap: int | None = None,
    corpus_count: int = 0,
    scores: Sequence[float] = (),
) -> list[int]:
    """The kept positions; every candidate is a document of its own unless `documents` says."""
    return choose(
        pool(
            [ord(corpus) for corpus in corpora],
            [ord(document) for document in documents] or list(range(len(corpora))),
            scores=scores,
        ),
        corpus_count or len(set(corpora)),
        limit,
        {},
        Target.model_validate({"balance": balance}),
        cap,
    )


def pool(
    corpora: Sequence[int],
    documents: Sequence[int],
    *,
    groups: Sequence[int] = (),
    types: Sequence[str] = (),
    parts: Sequence[Sequence[int]] = (),
    scores: Sequence[float] = (),
    ahead: int = 0,
) -> Pool:
    """Equally good candidates that all differ, of one type and one question, unless given."""
    count = len(corpora)
    return Pool(
        np.array(scores or [0.5] * count),
        corpora,
        np.array(documents, dtype=int),
        groups or range(count),
        types or [""] * count,
        parts,
        ahead,
    )


def choose_from(
    candidates: Sequence[tuple[int, int]], limit: int, balance: str, cap: int
) -> list[int]:
    """Choose from generated candidates of five corpora."""
    documents = [corpus * 10 + number for corpus, number in candidates]
    corpora = [corpus for corpus, _ in candidates]
    by = Target.model_validate({"balance": balance})
    return choose(pool(corpora, documents), 5, limit, {}, by, cap)


def test_rank_keeps_the_best_whatever_their_corpus() -> None:
    assert kept("AAABC", 3, "rank") == [0, 1, 2]


def test_floor_keeps_the_best_of_every_corpus() -> None:
    assert kept("AAABC", 3, "floor") == [0, 3, 4]
    assert kept("AAABC", 4, "floor") == [0, 1, 3, 4]


def test_floor_with_fewer_places_than_corpora_goes_to_the_best_of_them() -> None:
    assert kept("AABBC", 2, "floor") == [0, 2]


def test_quota_gives_every_corpus_the_same_places() -> None:
    assert kept("AAAAABB", 4, "quota") == [0, 1, 5, 6]  # 4 // 2 each


def test_quota_gives_the_remainder_by_rank() -> None:
    assert kept("AAAABBB", 5, "quota") == [0, 1, 2, 4, 5]  # 5 // 2 each, then the best other


def test_quota_hands_on_the_places_a_corpus_cannot_fill() -> None:
    assert kept("AAAAAB", 4, "quota") == [0, 1, 2, 5]  # B fills 1 of its 4 // 2


def test_quota_counts_the_corpora_asked_for_not_those_found() -> None:
    assert kept("AABBB", 3, "quota", corpus_count=3) == [0, 1, 2]  # 3 // 3 each, then rank


def test_quota_with_fewer_places_than_corpora_is_rank() -> None:
    assert kept("AAABC", 2, "quota") == [0, 1]  # 2 // 3 = 0


def test_without_a_cap_a_document_may_have_every_place() -> None:
    assert kept("AAAA", 3, documents="xxxy") == [0, 1, 2]


def test_a_document_over_its_cap_gives_way_to_others_as_good() -> None:
    assert kept("AAAA", 3, documents="xxxy", cap=2) == [0, 1, 3]


@pytest.mark.parametrize(("other", "chosen"), [(0.48, [0, 1, 3]), (0.47, [0, 1, 2])])
def test_a_document_over_its_cap_gives_way_to_none_far_worse(
    other: float, chosen: list[int]
) -> None:
    scores = [0.9, 0.8, 0.6, other]  # 0.8 * 0.6 = 0.48
    assert kept("AAAA", 3, documents="xxxy", cap=2, scores=scores) == chosen


def test_a_promised_place_respects_the_cap() -> None:
    assert kept("AAABBB", 4, "quota", documents="xxyzzw", cap=1) == [0, 2, 3, 5]


def test_the_cap_is_relaxed_by_rank_where_places_would_stay_empty() -> None:
    assert kept("AAAA", 4, documents="xxxy", cap=1) == [0, 1, 2, 3]
    assert kept("AAAAA", 3, documents="xxxyy", cap=1) == [0, 1, 3]  # x and y, then the best


def test_of_passages_that_say_the_same_one_counts_for_the_cap() -> None:
    found = pool([1] * 4, [7, 7, 7, 8], groups=[0, 0, 2, 3])
    assert choose(found, 1, 2, {}, Target(), 2) == [0, 2]


def test_those_ahead_are_kept_before_all_others() -> None:
    found = pool([1, 1, 2, 2, 3], [7, 7, 8, 8, 9], parts=[[4], [3]], ahead=2)
    for balance in ("rank", "floor", "quota"):
        target = Target.model_validate({"balance": balance})
        assert choose(found, 3, 2, {}, target, 1) == [0, 1]


@pytest.mark.parametrize("balance", ["rank", "floor", "quota"])
def test_nothing_is_kept_of_nothing(balance: str) -> None:
    assert kept("", 10, balance) == []


@given(CANDIDATES, LIMITS, BALANCES, CAPS)
def test_all_places_are_filled_with_different_candidates_in_order(
    candidates: list[tuple[int, int]], limit: int, balance: str, cap: int
) -> None:
    chosen = choose_from(candidates, limit, balance, cap)
    assert chosen == sorted(set(chosen))
    assert set(chosen) <= set(range(len(candidates)))
    assert len(chosen) == min(limit, len(candidates))


@given(CANDIDATES, st.integers(5, 20), st.sampled_from(["floor", "quota"]), CAPS)
def test_every_corpus_found_is_kept_where_there_are_places_for_all(
    candidates: list[tuple[int, int]], limit: int, balance: str, cap: int
) -> None:
    chosen = choose_from(candidates, limit, balance, cap)
    assert {candidates[at][0] for at in chosen} == {corpus for corpus, _ in candidates}


@given(CANDIDATES, LIMITS, CAPS)
def test_quota_gives_every_corpus_what_it_can_fill_of_its_share(
    candidates: list[tuple[int, int]], limit: int, cap: int
) -> None:
    chosen = Counter(candidates[at][0] for at in choose_from(candidates, limit, "quota", cap))
    fillable: Counter[int] = Counter()
    for (corpus, _), passages in Counter(candidates).items():
        fillable[corpus] += min(passages, cap)
    for corpus, passages in fillable.items():
        assert chosen[corpus] >= min(limit // 5, passages)


@given(CANDIDATES, LIMITS, BALANCES, CAPS)
def test_the_cap_holds_among_equals_unless_places_would_stay_empty(
    candidates: list[tuple[int, int]], limit: int, balance: str, cap: int
) -> None:
    available = sum(min(count, cap) for count in Counter(candidates).values())
    chosen = Counter(candidates[at] for at in choose_from(candidates, limit, balance, cap))
    within = sum(min(count, cap) for count in chosen.values())
    assert within == min(limit, available)


def test_of_a_group_one_passage_is_kept_even_if_places_stay_empty() -> None:
    found = pool([1] * 5, range(5), groups=[0, 0, 2, 0, 2])
    assert choose(found, 1, 4, {}, Target(), None) == [0, 2]


def test_a_content_type_keeps_to_its_cap_unless_places_would_stay_empty() -> None:
    found = pool([1] * 5, range(5), types=["pdf", "pdf", "txt", "pdf", "txt"])
    assert choose(found, 1, 3, {"pdf": 1}, Target(), None) == [0, 2, 4]
    assert choose(found, 1, 4, {"pdf": 1}, Target(), None) == [0, 1, 2, 4]
    assert choose(found, 1, 3, {}, Target(), None) == [0, 1, 2]


def test_every_part_of_a_question_keeps_its_best_passage() -> None:
    found = pool([1] * 5, range(5), parts=[[3, 4], [0]])
    assert choose(found, 1, 4, {}, Target(), None) == [0, 1, 2, 3]
    assert choose(found, 1, 5, {}, Target(), None) == [0, 1, 2, 3, 4]


def test_parts_get_at_most_half_of_the_places() -> None:
    found = pool([1] * 5, range(5), parts=[[4], [3]])
    assert choose(found, 1, 1, {}, Target(), None) == [0]
    assert choose(found, 1, 2, {}, Target(), None) == [0, 4]
    assert choose(found, 1, 4, {}, Target(), None) == [0, 1, 3, 4]


def test_what_is_kept_for_one_part_counts_for_the_other() -> None:
    found = pool([1] * 5, range(5), parts=[[4], [4, 3]])
    assert choose(found, 1, 4, {}, Target(), None) == [0, 1, 2, 4]


def test_a_part_takes_its_best_though_its_document_has_its_cap() -> None:
    found = pool([1] * 5, [7, 7, 7, 8, 9], parts=[[0], [2, 4]])
    assert choose(found, 1, 4, {}, Target(), 1) == [0, 2, 3, 4]
    assert choose(found, 1, 3, {}, Target(), 1) == [0, 3, 4]


@pytest.mark.parametrize(
    ("question", "caps"),
    [
        ("What does the agreement say?", {"pdf": 1, "html": 3}),
        ("Which roles does it name?", {}),
        ("What does the PDF say?", {}),
    ],
)
def test_caps_on_types_are_lifted_for_questions_with_an_exception(
    question: str, caps: dict[str, int]
) -> None:
    target = Target(content_type_caps="pdf:1,html:3", content_type_cap_exceptions="policy, role")
    assert type_caps(parse_query(question), target) == caps
