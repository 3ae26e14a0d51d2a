"""Whether the gold documents were found, and where."""

from atlas_search.evaluation.metrics.retrieval import recall, reciprocal_rank


def test_recall_is_the_share_of_gold_documents_found() -> None:
    assert recall(["a", "x", "a"], ["a", "b", "c"]) == 1 / 3
    assert recall(["b", "a"], ["a", "b"]) == 2 / 2
    assert recall([], ["a"]) == 0 / 1


def test_reciprocal_rank_is_that_of_the_first_gold_document() -> None:
    assert reciprocal_rank(["x", "y", "b", "a"], ["a", "b"]) == 1 / 3
    assert reciprocal_rank(["a"], ["a"]) == 1 / 1
    assert reciprocal_rank(["x"], ["a"]) == 0
    assert reciprocal_rank([], ["a"]) == 0
