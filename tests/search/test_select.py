"""From a ranking to what is kept: balance, caps, parts, and one of passages that say the same.

Corpora and documents are single letters, the best candidate first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search import Atlas, SearchResult
from atlas_search.core.targets import Target
from atlas_search.planning import plan_search
from atlas_search.search.query import parse_query
from atlas_search.search.request import SearchPlan, SearchRequest
from atlas_search.search.select import Pool, choose, groups, mmr_order, type_caps
from tests.finding import aimed, find, names, searching
from tests.search.three_passages import table_of

Balance = Literal["rank", "floor", "quota"]
# a document belongs to one corpus, so a candidate is (corpus, number of the document in it)
CANDIDATES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40)
LIMITS = st.integers(1, 20)
BALANCES = st.sampled_from(["rank", "floor", "quota"])
CAPS = st.integers(1, 4)


def kept(
    corpora: str,
    limit: int,
    balance: Balance = "rank",
    *,
    documents: str = "",
    cap: int | None = None,
    soft_cap: bool = True,
    corpus_count: int = 0,
    scores: Sequence[float] = (),
    groups: Sequence[int] = (),
    types: Sequence[str] = (),
    parts: Sequence[Sequence[int]] = (),
    ahead: int = 0,
    type_caps: dict[str, int] | None = None,
) -> list[int]:
    """The kept positions of equal candidates, each of a document of its own, unless told so."""
    count = len(corpora)
    pool = Pool(
        np.array(scores or [0.5] * count),
        [ord(corpus) for corpus in corpora],
        np.array([ord(document) for document in documents] or range(count), dtype=int),
        groups or range(count),
        types or [""] * count,
        parts,
        ahead,
    )
    count = corpus_count or len(set(corpora))
    request = SearchPlan(
        question="",
        corpora=tuple(map(str, range(count))),
        limit=limit,
        today=date.min,
        max_per_document=cap,
        soft_cap=soft_cap,
    )
    return choose(pool, request, type_caps or {}, Target(balance=balance))


@pytest.mark.parametrize(
    ("balance", "corpora", "limit", "positions"),
    [
        ("rank", "AAABC", 3, [0, 1, 2]),
        ("floor", "AAABC", 3, [0, 3, 4]),
        ("floor", "AAABC", 4, [0, 1, 3, 4]),
        ("floor", "AABBC", 2, [0, 2]),  # fewer places than corpora go to the best of them
        ("quota", "AAAAABB", 4, [0, 1, 5, 6]),  # 4 // 2 each
        ("quota", "AAAABBB", 5, [0, 1, 2, 4, 5]),  # 5 // 2 each, then the best other
        ("quota", "AAAAAB", 4, [0, 1, 2, 5]),  # B fills 1 of its 4 // 2
        ("quota", "AAABC", 2, [0, 1]),  # 2 // 3 = 0
        ("rank", "", 10, []),
        ("floor", "", 10, []),
        ("quota", "", 10, []),
    ],
)
def test_corpora_share_the_places(
    balance: Balance, corpora: str, limit: int, positions: list[int]
) -> None:
    assert kept(corpora, limit, balance) == positions


def test_quota_counts_the_corpora_of_the_request_and_not_of_the_candidates() -> None:
    assert kept("AABBB", 3, "quota", corpus_count=3) == [0, 1, 2]  # 3 // 3 each, then rank


@pytest.mark.parametrize(
    ("documents", "limit", "cap", "scores", "positions"),
    [
        ("xxxy", 3, None, (), [0, 1, 2]),
        ("xxxy", 3, 2, (), [0, 1, 3]),
        ("xxxy", 3, 2, (0.9, 0.8, 0.6, 0.48), [0, 1, 3]),  # 0.8 * 0.6 = 0.48
        ("xxxy", 3, 2, (0.9, 0.8, 0.6, 0.47), [0, 1, 2]),
        ("xxxy", 4, 1, (), [0, 1, 2, 3]),  # no place stays empty
        ("xxxyy", 3, 1, (), [0, 1, 3]),  # x and y, then the best
    ],
)
def test_a_document_over_its_cap_gives_way_to_others_that_are_as_good(
    documents: str, limit: int, cap: int, scores: Sequence[float], positions: list[int]
) -> None:
    corpora = "A" * len(documents)
    assert kept(corpora, limit, documents=documents, cap=cap, scores=scores) == positions


@pytest.mark.parametrize(
    ("documents", "limit", "cap", "positions"),
    [
        ("xxxy", 4, 1, [0, 3]),  # places stay empty
        ("xxxyy", 3, 2, [0, 1, 3]),
        ("xxx", 3, 3, [0, 1, 2]),
    ],
)
def test_a_strict_cap_leaves_places_empty(
    documents: str, limit: int, cap: int, positions: list[int]
) -> None:
    corpora = "A" * len(documents)
    assert kept(corpora, limit, documents=documents, cap=cap, soft_cap=False) == positions


def test_of_a_strict_cap_there_is_no_exception() -> None:
    """Parts, required phrases and quotas keep to it; a repeated text takes no place of it."""
    corpora, strict = "AAAAB", {"documents": "xxxxy", "cap": 1, "soft_cap": False}
    assert kept(corpora, 4, parts=[[1], [2]], **strict) == [1, 4]
    assert kept(corpora, 4, ahead=2, **strict) == [0, 4]
    assert kept(corpora, 4, "quota", **strict) == [0, 4]
    assert kept("AAA", 3, documents="xyy", groups=[0, 0, 2], cap=1, soft_cap=False) == [0, 2]


def test_a_promised_place_respects_the_cap() -> None:
    assert kept("AAABBB", 4, "quota", documents="xxyzzw", cap=1) == [0, 2, 3, 5]


def test_of_a_group_one_passage_is_kept_and_one_counts_for_the_cap() -> None:
    assert kept("AAAAA", 4, groups=[0, 0, 2, 0, 2]) == [0, 2]  # places stay empty
    assert kept("AAAA", 2, documents="xxxy", groups=[0, 0, 2, 3], cap=2) == [0, 2]


@pytest.mark.parametrize("balance", ["rank", "floor", "quota"])
def test_candidates_ahead_are_kept_before_all_others(balance: Balance) -> None:
    parts = [[4], [3]]
    assert kept("AABBC", 2, balance, documents="xxyyz", parts=parts, ahead=2, cap=1) == [0, 1]


def test_a_content_type_keeps_to_its_cap_unless_places_would_stay_empty() -> None:
    types = ["pdf", "pdf", "txt", "pdf", "txt"]
    assert kept("AAAAA", 3, types=types, type_caps={"pdf": 1}) == [0, 2, 4]
    assert kept("AAAAA", 4, types=types, type_caps={"pdf": 1}) == [0, 1, 2, 4]
    assert kept("AAAAA", 3, types=types) == [0, 1, 2]


@pytest.mark.parametrize(
    ("parts", "limit", "positions"),
    [
        ([[3, 4], [0]], 4, [0, 1, 2, 3]),
        ([[3, 4], [0]], 5, [0, 1, 2, 3, 4]),
        ([[4], [3]], 1, [0]),  # parts get half of the places, 1 // 2 = 0
        ([[4], [3]], 2, [0, 4]),
        ([[4], [3]], 4, [0, 1, 3, 4]),
        ([[4], [4, 3]], 4, [0, 1, 2, 4]),  # one passage serves both parts
    ],
)
def test_every_part_of_a_question_keeps_its_best_passage(
    parts: list[list[int]], limit: int, positions: list[int]
) -> None:
    assert kept("AAAAA", limit, parts=parts) == positions


def test_a_part_takes_its_best_though_its_document_has_its_cap() -> None:
    assert kept("AAAAA", 4, documents="xxxyz", parts=[[0], [2, 4]], cap=1) == [0, 2, 3, 4]
    assert kept("AAAAA", 3, documents="xxxyz", parts=[[0], [2, 4]], cap=1) == [0, 3, 4]


def kept_of(
    candidates: Sequence[tuple[int, int]], limit: int, balance: Balance, cap: int
) -> list[tuple[int, int]]:
    """The candidates kept of generated ones of five corpora; their positions ascend."""
    corpora = "".join("ABCDE"[corpus] for corpus, _ in candidates)
    documents = "".join(chr(97 + 4 * corpus + number) for corpus, number in candidates)
    positions = kept(corpora, limit, balance, documents=documents, cap=cap, corpus_count=5)
    assert positions == sorted(set(positions))
    return [candidates[at] for at in positions]


@given(CANDIDATES, LIMITS, BALANCES, CAPS)
def test_all_places_are_filled_within_the_cap_where_that_is_possible(
    candidates: list[tuple[int, int]], limit: int, balance: Balance, cap: int
) -> None:
    chosen = kept_of(candidates, limit, balance, cap)
    assert len(chosen) == min(limit, len(candidates))
    available, within = (
        sum(min(n, cap) for n in Counter(of).values()) for of in (candidates, chosen)
    )
    assert within == min(limit, available)


@given(CANDIDATES, st.integers(5, 20), st.sampled_from(["floor", "quota"]), CAPS)
def test_every_corpus_is_kept_where_there_are_places_for_all(
    candidates: list[tuple[int, int]], limit: int, balance: Balance, cap: int
) -> None:
    chosen = kept_of(candidates, limit, balance, cap)
    assert {corpus for corpus, _ in chosen} == {corpus for corpus, _ in candidates}


@given(CANDIDATES, LIMITS, CAPS)
def test_quota_gives_every_corpus_what_it_can_fill_of_its_share(
    candidates: list[tuple[int, int]], limit: int, cap: int
) -> None:
    chosen = Counter(corpus for corpus, _ in kept_of(candidates, limit, "quota", cap))
    fillable: Counter[int] = Counter()
    for (corpus, _), passages in Counter(candidates).items():
        fillable[corpus] += min(passages, cap)
    for corpus, passages in fillable.items():
        assert chosen[corpus] >= min(limit // 5, passages)


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


SPEECH = "one two three four five six seven eight nine ten"  # seven runs of four words
SHEEP = "sheep give wool and cows give milk"
RUNS = st.lists(st.lists(st.sampled_from("abc"), max_size=12), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("texts", "share", "heads"),
    [
        ([SPEECH, SHEEP, SPEECH.title() + "!", SHEEP], 0.8, [0, 1, 0, 1]),
        # an excerpt is the same as the whole
        ([SPEECH, "two three four five six"], 0.8, [0, 0]),
        (["two three four five six", f"{SPEECH} {SHEEP}"], 0.8, [0, 0]),
        # the changed word is in four of seven runs, so three are common
        ([SPEECH, SPEECH.replace("five", "fünf")], 3 / 7, [0, 0]),
        ([SPEECH, SPEECH.replace("five", "fünf")], 0.5, [0, 1]),
        (["two words", "two words", "", ""], 0.8, [0, 1, 2, 3]),
        # runs do not reach over the end of a passage
        (["one two three", "four five six", "three four five six seven"], 0.8, [0, 1, 2]),
        # the second is like both others, which are not like each other
        ([SPEECH[:23], SPEECH[:33], SPEECH[8:33]], 1.0, [0, 0, 2]),
    ],
)
def test_passages_that_say_nearly_the_same_belong_to_the_first(
    texts: list[str], share: float, heads: list[int]
) -> None:
    assert heads_of(texts, share) == heads


def heads_of(texts: Sequence[str], share: float) -> list[int]:
    table = table_of(texts, [""] * len(texts), ())
    return groups(np.arange(len(texts)), table, share)


@given(RUNS)
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
    assert heads_of([" ".join(text) for text in texts], 0.5) == first


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
    with searching(tmp_path, files) as atlas:
        result = find(atlas, "three four five sheep", k=5)
    assert len(result.passages) == 4
    (speech_kept,) = [item for item in result.passages if "other" not in item.passage.document_id]
    reprints = {speech_kept.passage.id, *speech_kept.ranked.duplicates}
    assert {id_.partition(":")[0] for id_ in reprints} == {f"farm.{n}" for n in range(4)}
    assert all(i.ranked.duplicates == () for i in result.passages if i is not speech_kept)


def test_a_cap_makes_room_for_nearly_as_good_documents_and_for_no_worse(tmp_path: Path) -> None:
    fee = "mooring fee of the harbour"
    days = (f"A {fee} is due on day {number} of the month." for number in range(1, 7))
    files = {
        "law/act.txt": "\n\n".join(days),
        "law/bakers.txt": "A fee is paid by bakers.",
        "law/sheep.txt": "Sheep graze by the harbour.",
    }
    others = {
        "law/tariff.txt": f"The tariff: a {fee} is due at noon.",
        "law/notice.txt": f"Notice: a {fee} is due in coin.",
    }
    target = Target(weight_semantic=0, weight_neighbours=0, near_duplicate=1)
    cut = {"splitter": "sentence", "size": 80, "overlap": 0}
    with searching(tmp_path / "alone", files, **cut) as alone:
        assert names(find(alone, fee, target, k=6)) == ["act"] * 6
        assert names(softly_capped(alone, fee, target, 6)) == ["act"] * 6
        strictly = find(alone, fee, target, k=6, max_per_document=2)
        assert sorted(names(strictly)) == ["act", "act", "bakers", "sheep"]
    with searching(tmp_path / "others", files | others, **cut) as among:
        kept_names = names(softly_capped(among, fee, target, 4))
        assert sorted(kept_names) == ["act", "act", "notice", "tariff"]


def softly_capped(atlas: Atlas, question: str, target: Target, limit: int) -> SearchResult:
    """The result with two passages of a document, and more where no other is nearly as good."""
    services = aimed(atlas, target).services
    plan = plan_search(services, SearchRequest(question=question, k=limit, target="test"))
    soft = replace(plan, max_per_document=2, soft_cap=True)
    return Atlas(services).find(soft, "test").kept_only()


def test_asked_for_one_of_a_document_two_documents_give_two(tmp_path: Path) -> None:
    files = {
        f"law/{name}.txt": "\n\n".join(f"A mooring fee is {due} {day} days." for day in range(6))
        for name, due in (("act", "due in"), ("tariff", "paid within"))
    }
    cut = {"splitter": "sentence", "size": 80, "overlap": 0}
    one = Target(weight_semantic=0, near_duplicate=1, max_passages_per_document=1)
    free = one.model_copy(update={"max_passages_per_document": None})
    with searching(tmp_path, files, **cut) as atlas:
        for target, asked in ((free, {"max_per_document": 1}), (one, {})):
            result = find(atlas, "mooring fee", target, k=10, **asked)
            assert sorted(names(result)) == ["act", "tariff"]
            answer = aimed(atlas, target).ask("mooring fee", target="test", k=10, **asked)
            assert len(answer.result.passages) == 2
        assert len(find(atlas, "mooring fee", free, k=10).passages) == 10
        assert len(find(atlas, "mooring fee", one, k=10, max_per_document=3).passages) == 6
