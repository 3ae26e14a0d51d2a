"""Collocates and keywords equal a plain look through the documents; their measures, published."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.core.errors import RequestError
from atlas_search.language.text import term_of
from atlas_search.words.lists import keyness, log_dice, log_likelihood, log_ratio
from tests.words.scan import characters, scan, scope_of, typed, where_of, words_in

QUERIES = [
    ["strike*"],
    ["the", "*", "of"],
    ["none"],
    ("near", ["strike*"], ["wage*"], 5),
    ("or", ["pay"], ["general", "strike*"]),
]
# by stem, words without a wildcard would be looked for by their stem too
FORMS = [*((query, "surface") for query in QUERIES), (["strike*"], "stem"), (["*ship*"], "stem")]
COMPARED: dict[str, Callable[[str], str]] = {"surface": str.lower, "stem": term_of}
WHERE = st.builds(
    where_of,
    st.sampled_from(["mill", "port", "all"]),
    st.sampled_from([{}, {"date": {"from": "1902"}}, {"paper": "Echo"}]),
    st.sampled_from(["", "the", "wage of"]),
    st.sampled_from(["", "pay", "ship"]),
)


def counted(
    documents: Sequence[tuple[Document, Any]], compared: Callable[[str], str]
) -> Iterator[tuple[Document, int, str]]:
    """Every word that counts: its document, its number there, and how it is compared."""
    for document, counts in documents:
        for at, (start, end) in enumerate(words_in(document.text)):
            if counts((start, end)):
                yield document, at, compared(document.text[start:end])


@settings(max_examples=60)
@given(
    st.sampled_from(FORMS),
    st.sampled_from([(5, 5), (0, 2), (3, 1), (10, 0)]),
    WHERE,
)
def test_collocates_are_the_words_near_hits(
    atlas: Atlas,
    documents: list[Document],
    query_form: tuple[Any, Any],
    window: tuple[int, int],
    where: dict[str, Any],
) -> None:
    (query, form), (left, right) = query_form, window
    looked = scope_of(atlas, documents, where).documents
    hits = sum(sum(map(held, characters(query, d.text))) for d, held in looked)
    near: Counter[str] = Counter()
    every: Counter[str] = Counter()
    beside = {d.id: scan(query, d.text) for d, _ in looked}
    for document, at, word in counted(looked, COMPARED[form]):
        every[word] += 1
        hits_beside = beside[document.id]
        near[word] += any(b <= at < b + right or at < a <= at + left for a, b in hits_beside)
    result = atlas.collocates(
        typed(query), left=left, right=right, min_count=2, limit=1000, form=form, **where
    )
    assert (result.hits, result.words) == (hits, every.total())
    assert (result.words_near, result.left_out) == (near.total(), 0)
    drawn = {
        word
        for word, joint in near.items()
        if joint >= 2 and joint * every.total() > every[word] * near.total()
    }
    assert {c.word for c in result.collocates} == drawn
    for c in result.collocates:
        joint, frequency = np.array([near[c.word]]), np.array([every[c.word]])
        assert (c.near, c.frequency) == (joint[0], frequency[0])
        assert [c.log_likelihood] == log_likelihood(
            joint, near.total(), frequency, every.total()
        ).tolist()
        assert [c.log_dice] == log_dice(joint, hits, frequency).tolist()
    for c in result.collocates[:3]:
        assert c.query is not None
        assert atlas.concordance(c.query, limit=0, form=form, **where).hits == c.near
    scores = [(-c.log_likelihood, -c.near, c.word) for c in result.collocates]
    assert scores == sorted(scores)


@settings(max_examples=60)
@given(
    WHERE,
    st.sampled_from(["mill", "port", "all"]),
    st.sampled_from(["more", "less", "both"]),
    st.sampled_from(sorted(COMPARED)),
    st.integers(1, 4),
)
def test_keywords_are_what_sets_texts_apart(
    atlas: Atlas,
    documents: list[Document],
    where: dict[str, Any],
    against: str,
    direction: Any,
    form: Any,
    min_documents: int,
) -> None:
    looked = scope_of(atlas, documents, where).documents
    own = list(counted(looked, COMPARED[form]))
    places = {(d.id, at) for d, at, _ in own}
    compared = [(d, lambda _: True) for d in documents if against in ("all", d.corpus)]
    other = [
        (d, at, word)
        for d, at, word in counted(compared, COMPARED[form])
        if (d.id, at) not in places
    ]
    ask: dict[str, Any] = {"form": form, "against": against, "direction": direction} | where
    if not other:
        with pytest.raises(RequestError, match="nothing is left to compare with"):
            atlas.keywords(**ask)
        return
    result = atlas.keywords(min_count=3, min_documents=min_documents, limit=1000, **ask)
    assert (result.words, result.documents) == (len(own), len(looked))
    assert result.reference_words == len(other)
    assert result.reference_documents == len({d.id for d, *_ in other})
    mine, theirs = (Counter(word for *_, word in side) for side in (own, other))
    holding = [
        Counter(word for _, word in {(d.id, word) for d, _, word in side}) for side in (own, other)
    ]

    def is_key(word: str) -> bool:
        difference = mine[word] * len(other) - theirs[word] * len(own)
        if not difference or direction == ("less" if difference > 0 else "more"):
            return False
        side = 0 if difference > 0 else 1
        return (mine, theirs)[side][word] >= 3 and holding[side][word] >= min_documents

    assert {k.word for k in result.keywords} == set(filter(is_key, mine | theirs))
    for k in result.keywords:
        frequency, reference = mine[k.word], theirs[k.word]
        assert (k.frequency, k.reference_frequency) == (frequency, reference)
        assert k.per_million == frequency * 1e6 / len(own)
        assert k.reference_per_million == reference * 1e6 / len(other)
        assert (k.documents, k.reference_documents) == tuple(of[k.word] for of in holding)
        sides = np.array([frequency]), len(own), np.array([reference]), len(other)
        assert [k.log_likelihood] == keyness(*sides).tolist()
        assert [k.log_ratio] == log_ratio(*sides).tolist()
    for k in result.keywords[:3]:
        assert atlas.concordance(k.query, limit=0, form=form, **where).hits == k.frequency
    scores = [(-k.log_likelihood, k.word) for k in result.keywords]
    assert scores == sorted(scores)


@settings(max_examples=60)
@given(
    WHERE,
    st.sampled_from(sorted(COMPARED)),
    st.sampled_from(["", "st*", "*s", "wage", "w?ge*"]),
    st.integers(1, 4),
)
@pytest.mark.thorough
def test_frequencies_are_those_of_a_plain_look_through(
    atlas: Atlas,
    documents: list[Document],
    where: dict[str, Any],
    form: Any,
    pattern: str,
    min_count: int,
) -> None:
    looked = scope_of(atlas, documents, where).documents
    own = list(counted(looked, COMPARED[form]))
    every = Counter(word for *_, word in own)
    holding = Counter(word for _, word in {(d.id, word) for d, _, word in own})
    like = {
        COMPARED[form](word)
        for document, _, word in counted(looked, str.lower)
        if not pattern
        or (
            fnmatchcase(word, pattern)
            if "*" in pattern
            else COMPARED[form](word) == COMPARED[form](pattern)
        )
    }
    result = atlas.frequencies(form=form, pattern=pattern, min_count=min_count, limit=1000, **where)
    assert (result.words, result.types, result.documents) == (len(own), len(every), len(looked))
    assert [(f.word, f.frequency, f.documents) for f in result.frequencies] == [
        (word, count, holding[word])
        for word, count in sorted(every.items(), key=lambda item: (-item[1], item[0]))
        if count >= min_count and word in like
    ]
    for f in result.frequencies[:3]:
        assert f.per_million == f.frequency * 1e6 / len(own)
        assert atlas.concordance(f.query, limit=0, form=form, **where).hits == f.frequency


def test_the_passages_that_a_search_found_are_set_apart_from_the_rest(
    atlas: Atlas, documents: list[Document]
) -> None:
    passages = [item.passage for item in atlas.search("strike wages", k=6).passages]
    result = atlas.keywords(
        filters={"passage_id": [passage.id for passage in passages]},
        min_count=1,
        direction="both",
        limit=1000,
    )
    own, other = Counter[str](), Counter[str]()
    for document in documents:
        within = [(p.start, p.end) for p in passages if p.document_id == document.id]
        for start, end in words_in(document.text):
            is_own = any(first <= start and end <= last for first, last in within)
            (own if is_own else other)[document.text[start:end].lower()] += 1
    assert (result.words, result.reference_words) == (own.total(), other.total())
    assert result.documents == len({passage.document_id for passage in passages})
    assert {k.word: (k.frequency, k.reference_frequency) for k in result.keywords} == {
        word: (own[word], other[word])
        for word in own | other
        if own[word] * other.total() != other[word] * own.total()
    }


def test_lists_are_sorted_cut_and_without_function_words(atlas: Atlas) -> None:
    whole = atlas.collocates("strike*", min_count=1, limit=1000)
    assert {"the", "of", "a"} & {c.word for c in whole.collocates}
    some = atlas.collocates("strike*", min_count=1, limit=2, sort="log_dice")
    assert len(some.collocates) == 2
    assert some.left_out == len(whole.collocates) - 2
    best = sorted(whole.collocates, key=lambda c: (-c.log_dice, -c.near, c.word))[:2]
    assert list(some.collocates) == best
    bare = atlas.collocates("strike*", min_count=1, limit=1000, function_words=False)
    assert {c.word for c in bare.collocates} == {c.word for c in whole.collocates} - {
        "the", "of", "a",
    }  # fmt: skip
    keys = atlas.keywords(corpora="mill", direction="both", min_count=1, limit=1000)
    bare_keys = atlas.keywords(
        corpora="mill", direction="both", min_count=1, function_words=False, sort="log_ratio"
    )
    assert {k.word for k in bare_keys.keywords} == {k.word for k in keys.keywords} - {
        "the", "of", "a",
    }  # fmt: skip
    ratios = [-abs(k.log_ratio) for k in bare_keys.keywords]
    assert ratios == sorted(ratios)
    assert list(some.to_frame()["word"]) == [c.word for c in some.collocates]
    assert list(keys.to_frame()["log_ratio"]) == [k.log_ratio for k in keys.keywords]
    bare_words = atlas.frequencies(function_words=False, limit=3)
    assert not {"the", "of", "a"} & {f.word for f in bare_words.frequencies}
    every = atlas.frequencies(limit=1000, function_words=False).frequencies
    assert bare_words.left_out == len(every) - 3


def test_capitals_make_words_where_they_count(atlas: Atlas, documents: list[Document]) -> None:
    result = atlas.collocates("wage*", min_count=1, limit=1000, case_sensitive=True)
    every = Counter(text[a:b] for text in (d.text for d in documents) for a, b in words_in(text))
    assert {c.word: c.frequency for c in result.collocates}.items() <= every.items()
    for c in result.collocates:
        assert c.query is not None
        assert atlas.concordance(c.query, case_sensitive=True).hits == c.near


def test_a_query_too_long_to_be_opened_says_so(atlas: Atlas) -> None:
    (first,) = atlas.collocates(" OR ".join(["strike"] * 99), min_count=1, limit=1).collocates
    assert first.query is None


COLLOCATES, KEYWORDS, FREQUENCIES = "collocates", "keywords", "frequencies"


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (COLLOCATES, {"left": 11}, "left=11: give 10 or less"),
        (COLLOCATES, {"left": 0, "right": 0}, "left and right are both 0"),
        (COLLOCATES, {"sort": "mi"}, "sort='mi': give 'log_likelihood' or 'log_dice'"),
        (COLLOCATES, {"min_count": 0}, "min_count=0: give 1 or more"),
        (COLLOCATES, {"corpora": "moon"}, "Unknown corpus 'moon'"),
        (KEYWORDS, {"against": "moon"}, "Unknown corpus 'moon'"),
        (KEYWORDS, {"direction": "up"}, "direction='up': give 'more', 'less' or 'both'"),
        (FREQUENCIES, {"pattern": "general strike"}, "pattern='general strike': give one word"),
        (FREQUENCIES, {"pattern": "*"}, "give one word"),
        (FREQUENCIES, {"min_count": 0}, "min_count=0: give 1 or more"),
        (KEYWORDS, {}, "nothing is left to compare with"),
        (KEYWORDS, {"corpora": "mill", "against": "mill"}, "nothing is left to compare with"),
    ],
)
def test_a_list_that_cannot_be_made_is_refused(
    atlas: Atlas, kind: str, arguments: dict[str, Any], message: str
) -> None:
    query = ["strike"] if kind == COLLOCATES else []
    with pytest.raises(RequestError, match=message):
        getattr(atlas, kind)(*query, **arguments)


def test_a_part_of_the_corpora_is_listed_as_if_there_were_no_other(atlas: Atlas) -> None:
    own = atlas.permitted({"port"})
    assert own.collocates("strike*").rows() == atlas.collocates("strike*", corpora="port").rows()
    arguments: dict[str, Any] = {"filters": {"paper": "Echo"}, "min_count": 1}
    result = atlas.keywords(corpora="port", against="port", **arguments)
    assert own.keywords(**arguments).rows() == result.rows()
    assert own.frequencies().rows() == atlas.frequencies(corpora="port").rows()
    with pytest.raises(RequestError, match="nothing is left"):
        own.keywords(corpora="port")


def one(value: int) -> np.ndarray:
    return np.array([value])


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "published"),
    # Dunning 1993, table 1: bigrams of a text on Swiss banking
    [
        (110, 2442, 111, 29114, 270.72),  # the swiss
        (29, 13, 123, 31612, 263.90),  # can be
        (31, 23, 139, 31584, 256.84),  # previous year
        (3, 10, 5, 31759, 36.98),  # current transaction
        # a keyword of AntConc, shown at corpus4u.org
        (288, 92_965 - 288, 114_099, 104_570_472 - 114_099, 228.02),
    ],
)
def test_log_likelihood_is_that_of_dunning(
    both: int, first: int, second: int, neither: int, published: float
) -> None:
    words = both + first + second + neither
    result = log_likelihood(one(both), both + first, one(both + second), words)
    assert result.round(2).tolist() == [published]


@given(*[st.integers(0, 50)] * 4)
def test_log_likelihood_is_its_definition(a: int, b: int, c: int, d: int) -> None:
    words = a + b + c + d
    cells = [(a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d)]
    expected = 2 * sum(seen * log(seen * words / (r * k)) for seen, r, k in cells if seen)
    (result,) = log_likelihood(one(a), a + b, one(a + c), words)
    assert result == pytest.approx(max(expected, 0), abs=1e-9)


def test_log_dice_has_the_values_that_its_author_gives() -> None:
    # Rychlý 2008, section 3: at most 14; 0 is one place in 16,000; 1 more is twice as often, 7 more
    # a hundred times
    joint, frequency = np.array([100, 1, 2, 128]), np.array([100, 16384, 16384, 16384])
    assert log_dice(joint, 100, frequency)[0] == 14
    assert log_dice(joint, 16384, frequency)[1:].tolist() == [0, 1, 7]


def test_keyness_is_that_of_a_worked_example() -> None:
    # an exercise with the log-likelihood wizard of UCREL, Lancaster, which gives + 2.65
    assert keyness(one(52), 50_000, one(57), 75_000).round(2).tolist() == [2.65]
    assert keyness(one(57), 75_000, one(52), 50_000).round(2).tolist() == [2.65]


def test_log_ratio_is_how_often_a_frequency_doubles() -> None:
    # Hardie 2014, as the manual of WordSmith sums it up: 2 is 4 times as frequent, 3 is 8 times
    own, other = np.array([10, 40, 80, 10, 5, 0]), np.array([10, 10, 10, 40, 0, 8])
    result = log_ratio(own, 1000, other, 1000).tolist()
    assert result == pytest.approx([0, 2, 3, -2, np.log2(5 / 0.5), -4])
    assert log_ratio(one(10), 1000, one(10), 4000).tolist() == [2]
