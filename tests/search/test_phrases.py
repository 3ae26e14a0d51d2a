"""Phrases that are preferred, required and excluded, in a whole search."""

from collections.abc import Iterator
from typing import Any

import pytest

from atlas_search import Atlas
from atlas_search.core.targets import Target
from atlas_search.search.result import RequiredUnmet
from tests.finding import aimed, find, names, searching


@pytest.fixture(scope="module")
def atlas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Atlas]:
    with searching(tmp_path_factory.mktemp("phrases")) as opened:
        yield opened


def scores(atlas: Atlas, question: str, *target: Target) -> dict[str, float]:
    result = find(atlas, question, *target, k=6)
    return {item.passage.document_id: item.ranked.score for item in result.passages}


def test_a_passage_that_holds_a_quoted_phrase_gains_and_no_other_changes(atlas: Atlas) -> None:
    plain = scores(atlas, "What tax is there on gains of capital?")
    quoted = scores(atlas, 'What tax is there on "gains of capital"?')
    assert quoted.keys() == plain.keys()
    assert {name for name in plain if quoted[name] > plain[name]} == {"tax.wool"}
    assert all(quoted[name] == plain[name] for name in plain if name != "tax.wool")
    assert all(0 <= score <= 1 for score in quoted.values())


def test_a_quoted_phrase_that_no_passage_holds_changes_nothing(atlas: Atlas) -> None:
    plain = scores(atlas, "a tax on the bridge")
    assert len(plain) == 6
    assert scores(atlas, '"a tax on the bridge"') == plain


@pytest.mark.parametrize("reranker", ["fused", "relative", "lexical"])
def test_the_rerankers_that_read_words_raise_the_phrase(atlas: Atlas, reranker: str) -> None:
    by = Target(reranker=reranker)
    plain = scores(atlas, "the mayor of the bridge of the capital", by)["town.bridge"]
    assert plain < scores(atlas, 'the mayor of the "bridge of the capital"', by)["town.bridge"]


@pytest.mark.parametrize(("word", "among"), [("exempt", False), ('"is exempt"', True)])
def test_a_passage_with_the_phrase_is_a_candidate_however_few_are_drawn(
    atlas: Atlas, word: str, *, among: bool
) -> None:
    by = Target(large_retrieval_size_all_corpus=1, weight_semantic=0)
    question = f"Capital gains of income by the year against a loss, wool {word} and income"
    candidates = find(atlas, question, by).explained or ()
    lexical = [c.passage_id for c in candidates if "lexical" in c.legs]
    assert len(lexical) == 2
    assert any(id_.startswith("tax.wool") for id_ in lexical) is among


@pytest.mark.parametrize(
    ("question", "where"),
    [
        ('tax +"the same year"', {}),
        ("tax", {"require": ["the same year"]}),
        ('tax +"set off"', {"require": ["the same year"]}),
    ],
)
def test_a_search_finds_nothing_but_what_it_requires_where_enough_holds_it(
    atlas: Atlas, question: str, where: dict[str, Any]
) -> None:
    result = find(atlas, question, k=1, **where)
    assert names(result) == ["losses"]
    assert result.required_unmet is None
    assert result.retrieval().required[-1] == "the same year"
    assert sum(counts.candidates for counts in result.per_corpus.values()) == 1


def test_a_required_phrase_that_too_few_hold_comes_first_with_a_warning(atlas: Atlas) -> None:
    result = find(atlas, "wool income", require=["the same year"])
    assert names(result)[0] == "losses"
    assert set(names(result)[1:]) == {"wool", "income"}
    losses = result.passages[0].passage.id
    assert result.required_unmet == RequiredUnmet(("the same year",), 1, (losses,))
    assert result.to_dict()["retrieval"]["required_unmet"] == {
        "phrases": ["the same year"],
        "passages": 1,
        "kept": [losses],
    }
    assert result.warnings[0] == (
        '1 passage holds "the same year", of 3 asked for; others follow, found without it.'
    )
    # though no word of the question is in it
    by = Target(large_retrieval_size_all_corpus=1, balance="quota")
    assert names(find(atlas, "wool", by, require=["Keep to the right"], k=2))[0] == "bridge"


def test_a_required_phrase_that_no_passage_holds_leaves_a_warning(atlas: Atlas) -> None:
    result = find(atlas, "wool +income", require=["the same week"], corpora="tax")
    assert len(result.passages) == 3
    assert result.required_unmet == RequiredUnmet(("income", "the same week"), 0, ())
    assert result.warnings[0] == (
        'No passage of tax holds "income" and "the same week", of 3 asked for; '
        "passages found without it."
    )


def test_compared_corpora_count_together_what_they_require(atlas: Atlas) -> None:
    comparison = aimed(atlas).compare("tax +income", target="test", k=3).to_dict()
    unmet = comparison["retrieval"]["required_unmet"]
    # income and losses, both of the tax
    assert (unmet["phrases"], unmet["passages"]) == (["income"], 2)
    assert {id_.partition(":")[0] for id_ in unmet["kept"]} == {"tax.income", "tax.losses"}


def test_filters_hold_though_too_few_hold_what_is_required(atlas: Atlas) -> None:
    documents = ["tax.losses", "tax.wool", "tax.gains"]
    result = find(
        atlas,
        "tax",
        require=["the same year"],
        exclude=["wool"],
        filters={"document_id": documents},
    )
    assert names(result) == ["losses", "gains"]


@pytest.mark.parametrize(
    ("question", "exclude"), [('tax -"no income"', []), ("tax", ["no income"])]
)
def test_an_excluded_phrase_is_in_no_passage(
    atlas: Atlas, question: str, exclude: list[str]
) -> None:
    result = find(atlas, question, k=6, exclude=exclude)
    assert "income" not in names(result)
    assert result.retrieval().excluded == ["no income"]


@pytest.mark.parametrize("question", ["capital gains -tax", "a state - of - the art tax"])
def test_a_hyphen_in_a_question_leaves_nothing_out(atlas: Atlas, question: str) -> None:
    result = find(atlas, question, k=6)
    assert {"gains", "wool"} <= set(names(result))
    assert result.query.excluded == ()
