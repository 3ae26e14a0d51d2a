"""How passages are spread over corpora and over time."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.evaluation import metrics
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.metrics import Case, Tools, entropy, spread
from atlas_search.search.trace import imbalance
from tests.hash_embedder import HashEmbedder
from tests.replies import reply

LABEL = Label("q1", "", "", "?")


def counted(**corpora: tuple[int, int]) -> dict[str, object]:
    """How many candidates and kept passages each corpus gave."""
    return {
        "per_corpus": {
            name: {"candidates": found, "dense": 0, "lexical": 0, "kept": kept, "cited": 0}
            for name, (found, kept) in corpora.items()
        }
    }


def balanced(label: Label, *corpora: str, **counts: tuple[int, int]) -> dict[str, float]:
    came = reply("ANSWER", retrieval=counted(**counts))
    return metrics.measure_balance(Case(label, came, Tools(HashEmbedder(), corpora=corpora)))


def test_shares_entropy_and_imbalance_by_hand() -> None:
    figures = balanced(LABEL, "us", "uk", us=(60, 3), uk=(20, 1))
    expected = -(3 / 4 * log(3 / 4) + 1 / 4 * log(1 / 4)) / log(2)
    assert figures == pytest.approx(
        {
            "candidates_share.us": 60 / 80,
            "candidates_share.uk": 20 / 80,
            "candidates_entropy": expected,
            "candidates_imbalance": round(1 - 20 / 60, 4),
            "kept_share.us": 3 / 4,
            "kept_share.uk": 1 / 4,
            "kept_entropy": expected,
            "kept_imbalance": round(1 - 1 / 3, 4),
        }
    )


def test_a_corpus_that_gave_nothing_counts() -> None:
    figures = balanced(LABEL, "us", "uk", "nz", us=(5, 5), uk=(5, 5))
    assert figures["kept_share.nz"] == 0
    assert figures["kept_entropy"] == pytest.approx(log(2) / log(3))
    assert figures["kept_imbalance"] == 1


def test_a_question_of_some_corpora_says_nothing_of_balance() -> None:
    chosen = Label("q1", "", "", "?", corpus_filter=("us",))
    assert balanced(chosen, "us", "uk", us=(5, 5)) == {}
    assert balanced(LABEL, "us", us=(5, 5)) == {}
    assert balanced(LABEL, "us", "uk", us=(0, 0), uk=(0, 0)) == {}


def test_corpora_that_are_not_named_are_those_that_came() -> None:
    assert balanced(LABEL, us=(1, 1), uk=(1, 1))["kept_entropy"] == pytest.approx(1)


COUNTS = st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any)


@given(COUNTS)
def test_entropy_is_a_share_whatever_the_order(counts: list[int]) -> None:
    named = {str(number): count for number, count in enumerate(counts)}
    turned = {str(number): count for number, count in enumerate(reversed(counts))}
    assert -1e-9 <= entropy(named) <= 1 + 1e-9
    assert entropy(named) == pytest.approx(entropy(turned))
    found = spread(named)
    assert found["imbalance"] == imbalance(named)
    assert sum(value for name, value in found.items() if "share" in name) == pytest.approx(1)
    assert (found["entropy"] == pytest.approx(1)) == (len(set(counts)) == 1)
