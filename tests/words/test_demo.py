"""Hits in the bundled demo equal a plain look through its documents."""

import re
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.domain import Document
from atlas_search.language.dates import bounds
from atlas_search.language.text import words
from atlas_search.services import Services
from tests.conftest import sample_documents


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return sample_documents()


@pytest.mark.parametrize("word", ["libel", "the", "constitution", "court's", "nobody-says-this"])
def test_a_word_is_hit_wherever_a_regular_expression_finds_it(
    services: Services, documents: list[Document], word: str
) -> None:
    letters = re.escape(word).replace("'", "['’]")
    pattern = re.compile(rf"(?<!\w)(?<!\w['’]){letters}(?!\w)(?!['’]\w)", re.IGNORECASE)
    atlas = Atlas(services)
    found = atlas.concordance(word, limit=1000)
    expected = [(d.id, *m.span()) for d in documents for m in pattern.finditer(d.text)]
    assert found.hits == len(expected)
    lines = [(line.document_id, line.start, line.end) for line in found.lines]
    assert lines == expected[:1000]
    assert sum(found.per_corpus.values()) == found.hits


def stems(document: Document) -> list[str]:
    return [word.term for word in words(document.text)]


def test_stems_near_words_and_alternatives_of_the_demo_equal_a_scan(
    services: Services, documents: list[Document]
) -> None:
    atlas = Atlas(services)
    by_stem = atlas.counts("judges", form="stem", by="corpus")
    (stem,) = {word.term for word in words("judges")}
    expected = Counter(d.corpus for d in documents for term in stems(d) if term == stem)
    assert {cell.value: cell.hits for cell in by_stem.cells} == dict(expected)
    hits, decades = 0, Counter[str | None]()
    for document in documents:
        folded = [word.folded for word in words(document.text)]
        of = sum(
            word == "libel"
            or (
                word.startswith("court")
                and any(near.startswith("decid") for near in folded[max(at - 4, 0) : at + 5])
            )
            for at, word in enumerate(folded)
        )
        days = bounds(str(document.metadata.get("date", "")))
        same = days is not None and days[0][:3] == days[1][:3]
        decades[f"{days[0][:3]}0s" if days and same else None] += of
        hits += of
    query = "(court* NEAR/4 decid*) OR libel"
    assert atlas.concordance(query).hits == hits > 0
    counted = {c.value: c.hits for c in atlas.trends(query, by="decade").cells if c.hits}
    assert counted == {decade: count for decade, count in decades.items() if count}


PHRASES = ["right to silence", "supreme court", "consti*", "*ness", "the * of the", "wom?n"]


@pytest.mark.parametrize("phrase", PHRASES)
def test_trends_of_the_demo_equal_a_scan(
    services: Services, documents: list[Document], phrase: str
) -> None:
    asked = phrase.split()
    total = sum(len(words(d.text)) for d in documents)

    def hits(document: Document) -> int:
        folded = [word.folded for word in words(document.text)]
        return sum(
            all(map(fnmatchcase, folded[at:], asked)) for at in range(len(folded) - len(asked) + 1)
        )

    def year(document: Document) -> str | None:
        days = bounds(str(document.metadata.get("date", "")))
        return days[0][:4] if days and days[0][:4] == days[1][:4] else None

    expected: dict[str | None, int] = {}
    for document in documents:
        expected[year(document)] = expected.get(year(document), 0) + hits(document)
    found = Atlas(services).trends(f'"{phrase}"')
    with_text = [cell for cell in found.cells if cell.hits is not None]
    assert {cell.value: cell.hits for cell in with_text} == expected
    assert (found.total.hits, found.total.words) == (sum(expected.values()), total)
    assert sum(cell.words for cell in with_text) == total
    known = [int(cell.value) for cell in found.cells if cell.value]
    assert known == list(range(known[0], known[-1] + 1))
