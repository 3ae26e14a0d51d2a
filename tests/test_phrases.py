"""Phrases that are preferred, required and excluded, in a whole search."""

from collections.abc import Iterator

import pytest

from atlas_search.answer.compare import search_each, together
from atlas_search.core.targets import Target
from atlas_search.search.result import RequiredUnmet
from atlas_search.search.run import Searcher
from tests.finding import find, names, search_of, searching


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with searching(tmp_path_factory.mktemp("phrases")) as opened:
        yield opened


def scores(searcher: Searcher, question: str, **changes: object) -> dict[str, float]:
    found = find(searcher, question, limit=6, **changes)
    return {item.passage.document_id: item.ranked.score for item in found.passages}


def test_a_passage_that_holds_a_quoted_phrase_gains_and_no_other_changes(
    searcher: Searcher,
) -> None:
    plain = scores(searcher, "What tax is there on gains of capital?")
    quoted = scores(searcher, 'What tax is there on "gains of capital"?')
    assert quoted.keys() == plain.keys()
    gained = {name for name in plain if quoted[name] > plain[name]}
    assert gained == {"tax.wool"}
    assert all(quoted[name] == plain[name] for name in plain.keys() - gained)
    assert all(0 <= score <= 1 for score in quoted.values())


def test_a_quoted_phrase_that_no_passage_holds_leaves_everything_as_it_is(
    searcher: Searcher,
) -> None:
    plain = scores(searcher, "a tax on the bridge")
    assert scores(searcher, '"a tax on the bridge"') == plain
    assert len(plain) == 6


@pytest.mark.parametrize("reranker", ["fused", "relative", "lexical"])
def test_the_rerankers_that_read_words_raise_the_phrase(searcher: Searcher, reranker: str) -> None:
    by = Target(reranker=reranker)
    plain = find(searcher, "the mayor of the bridge of the capital", by, limit=6)
    quoted = find(searcher, 'the mayor of the "bridge of the capital"', by, limit=6)
    bridge = [
        next(i.ranked.score for i in found.passages if i.passage.document_id == "town.bridge")
        for found in (plain, quoted)
    ]
    assert bridge[0] < bridge[1]


def test_a_passage_with_the_phrase_is_a_candidate_however_few_are_drawn(
    searcher: Searcher,
) -> None:
    by = Target(large_retrieval_size_all_corpus=1, weight_semantic=0)
    question = "Capital gains of income by the year against a loss, wool {} and income"
    for asked, among in (("exempt", False), ('"is exempt"', True)):
        found = find(searcher, question.format(asked), by)
        lexical = {row for hits in found.candidates.hits for row in hits.lexical.rows.tolist()}
        ids = searcher.store.passage_ids(sorted(lexical))
        assert len(ids) == 2
        assert any(id_.startswith("tax.wool") for id_ in ids) is among


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ('tax +"the same year"', {}),
        ("tax", {"require": ("the same year",)}),
        ('tax +"set off"', {"require": ("the same year",)}),
    ],
)
def test_what_is_required_and_held_often_enough_is_all_that_is_found(
    searcher: Searcher, question: str, asked: dict[str, object]
) -> None:
    found = find(searcher, question, limit=1, **asked)
    assert names(found) == ["losses"]
    assert found.required_unmet is None
    assert found.retrieval()["required"][-1] == "the same year"
    assert sum(counts.candidates for counts in found.per_corpus.values()) == 1


def test_what_too_few_passages_hold_comes_first_and_is_told(searcher: Searcher) -> None:
    found = find(searcher, "wool income", require=("the same year",))
    assert names(found)[0] == "losses"
    assert set(names(found)[1:]) == {"wool", "income"}
    losses = found.passages[0].passage.id
    assert found.required_unmet == RequiredUnmet(("the same year",), 1, (losses,))
    assert found.retrieval()["required_unmet"] == {
        "phrases": ["the same year"],
        "passages": 1,
        "kept": [losses],
    }
    assert found.warnings[0] == (
        '1 passage holds "the same year", of 3 asked for; others follow, found without it.'
    )


def test_what_no_passage_holds_is_told(searcher: Searcher) -> None:
    found = find(searcher, "wool +income", require=("the same week",), corpora=("tax",),
                 every_corpus=False)  # fmt: skip
    assert len(found.passages) == 3
    assert found.required_unmet == RequiredUnmet(("income", "the same week"), 0, ())
    assert found.warnings[0] == (
        'No passage of tax holds "income" and "the same week", of 3 asked for; '
        "passages found without it."
    )


def test_a_passage_with_no_word_of_the_question_is_found_for_what_is_required(
    searcher: Searcher,
) -> None:
    by = Target(large_retrieval_size_all_corpus=1, balance="quota")
    found = find(searcher, "wool", by, require=("Keep to the right",), limit=2)
    assert names(found)[0] == "bridge"


def test_corpora_that_are_compared_are_told_of_together(searcher: Searcher) -> None:
    request = search_of(searcher, "tax +income")
    results = search_each(request)
    result = together(results, request.request)
    assert results["tax"].required_unmet
    assert results["town"].required_unmet
    assert result.required_unmet == RequiredUnmet(
        ("income",), 2, results["tax"].required_unmet.kept
    )


def test_filters_hold_though_what_is_required_does_not(searcher: Searcher) -> None:
    found = find(
        searcher, "tax", require=("the same year",), exclude=("wool",),
        filters={"document_id": ("tax.losses", "tax.wool", "tax.gains")},
    )  # fmt: skip
    assert names(found) == ["losses", "gains"]


def test_what_is_excluded_is_never_found(searcher: Searcher) -> None:
    for question, asked in (('tax -"no income"', ()), ("tax", ("no income",))):
        found = find(searcher, question, limit=6, exclude=asked)
        assert "income" not in names(found)
        assert found.retrieval()["excluded"] == ["no income"]


@pytest.mark.parametrize("question", ["capital gains -tax", "a state - of - the art tax"])
def test_a_hyphen_in_a_question_leaves_nothing_out(searcher: Searcher, question: str) -> None:
    found = find(searcher, question, limit=6)
    assert {"gains", "wool"} <= set(names(found))
    assert found.query.excluded == ()
