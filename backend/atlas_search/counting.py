"""Exact counts and concordances: what is asked of the words of whole corpora, checked and run."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, TypeVar, Unpack, get_args

from atlas_search.asking import check_corpora, check_phrases, within
from atlas_search.core.errors import RequestError, UnknownFilterField, shown
from atlas_search.core.stop import Stop
from atlas_search.search.request import Filter, conditions
from atlas_search.services import Services, known_corpora
from atlas_search.words.flow import count_hits, list_collocates, list_keywords, list_lines
from atlas_search.words.query import Form, parse
from atlas_search.words.request import (
    ALL,
    CORPUS,
    DECADE,
    YEAR,
    CollocatesRequest,
    CountsRequest,
    Direction,
    Keyness,
    KeywordsRequest,
    LinesRequest,
    Point,
    Sort,
    Strength,
    WordsRequest,
    WordsScope,
)
from atlas_search.words.results import Collocates, Concordance, Keywords, WordCounts
from atlas_search.words.run import ReachRun, WordsRun

_T = TypeVar("_T")

MOST_LINES = 1000
MOST_CONTEXT = 50
MOST_OFFSET = 100_000_000
MOST_WINDOW = 10
KEYWORDS_FROM = 5
COLLOCATES_FROM = 2
"""How often a word must stand there to be listed, unless told otherwise. Near a rare word only the
commonest stand more often."""
GROUPS = (ALL, YEAR, DECADE, CORPUS)


class WordsWhere(TypedDict, total=False):
    """The scope of a query of words, and their comparison. A key left out sets no limit.

    corpora         "all", the id of a corpus, or several ids
    filters         as in a search
    require         phrases that a passage must hold, all of them, for its words to count
    exclude         phrases that it may not hold
    form            "surface": words as they are written; "stem": in all forms of their stem
    case_sensitive  whether capitals and accents count
    """

    corpora: str | Sequence[str]
    filters: Mapping[str, Filter]
    require: Sequence[str]
    exclude: Sequence[str]
    form: Form
    case_sensitive: bool


class Counting:
    """The part of the front door that counts words."""

    services: Services

    def concordance(
        self,
        query: str,
        *,
        limit: int = 50,
        offset: int = 0,
        context: int = 10,
        sort: Sort = "document",
        sample: int | None = None,
        seed: int = 0,
        point: Point | None = None,
        stop: Stop | None = None,
        **where: Unpack[WordsWhere],
    ) -> Concordance:
        """Every hit of a query counted, and `limit` of them after `offset` in their context.

        `context` is in words of either side; with `sample` so many hits are drawn by lot, always
        the same for a `seed`; a `point` of a trend gives its hits alone. Raises RequestError
        and Cancelled.
        """
        request = LinesRequest(
            limit=within(limit, "limit", 0, MOST_LINES),
            offset=within(offset, "offset", 0, MOST_OFFSET),
            context=within(context, "context", 0, MOST_CONTEXT),
            sort=_one_of(sort, "sort", get_args(Sort)),
            sample=None if sample is None else within(sample, "sample", 1, MOST_OFFSET),
            seed=within(seed, "seed", 0, 2**32 - 1),
            point=_check_point(self.services, point) if point else None,
        )
        return list_lines(self._words_run(query, stop, where), request)

    def trends(
        self,
        query: str,
        *,
        by: str = YEAR,
        by_corpus: bool = False,
        stop: Stop | None = None,
        **where: Unpack[WordsWhere],
    ) -> WordCounts:
        """Count the hits of a query by "year", "decade", "corpus" or a metadata field.

        With `by_corpus` also by corpus. Raises as `concordance` does.
        """
        request = CountsRequest(_check_by(self.services, by), by_corpus)
        return count_hits(self._words_run(query, stop, where), request)

    def counts(
        self,
        query: str,
        *,
        by: str = ALL,
        by_corpus: bool = False,
        stop: Stop | None = None,
        **where: Unpack[WordsWhere],
    ) -> WordCounts:
        """Count the documents and passages with a hit, in "all" or by what `trends` takes."""
        return self.trends(query, by=by, by_corpus=by_corpus, stop=stop, **where)

    def collocates(
        self,
        query: str,
        *,
        left: int = 5,
        right: int = 5,
        sort: Strength = "log_likelihood",
        min_count: int = COLLOCATES_FROM,
        limit: int = 50,
        function_words: bool = True,
        stop: Stop | None = None,
        **where: Unpack[WordsWhere],
    ) -> Collocates:
        """The words that stand near the hits of a query more often than elsewhere.

        At most `left` words before a hit or `right` after it, at least `min_count` times; without
        `function_words` those of the corpora's languages are left out. Raises as `concordance`
        does.
        """
        request = CollocatesRequest(
            left=within(left, "left", 0, MOST_WINDOW),
            right=within(right, "right", 0 if left else 1, MOST_WINDOW),
            sort=_one_of(sort, "sort", get_args(Strength)),
            min_count=within(min_count, "min_count", 1, MOST_OFFSET),
            limit=within(limit, "limit", 0, MOST_LINES),
            function_words=function_words,
        )
        return list_collocates(self._words_run(query, stop, where), request)

    def keywords(
        self,
        *,
        against: str | Sequence[str] = "all",
        direction: Direction = "more",
        sort: Keyness = "log_likelihood",
        min_count: int = KEYWORDS_FROM,
        min_documents: int = 1,
        limit: int = 50,
        function_words: bool = True,
        stop: Stop | None = None,
        **where: Unpack[WordsWhere],
    ) -> Keywords:
        """The words that are more frequent where they are looked for than in the reference.

        That is all of the corpora `against` that is not looked through. A word stands at least
        `min_count` times, in `min_documents`, where it is more frequent: here, with the
        `direction` "less" in the reference. Raises as `concordance` does, and RequestError
        without anything to compare with.
        """
        request = KeywordsRequest(
            against=check_corpora(self.services, against)[0],
            direction=_one_of(direction, "direction", get_args(Direction)),
            sort=_one_of(sort, "sort", get_args(Keyness)),
            min_count=within(min_count, "min_count", 1, MOST_OFFSET),
            min_documents=within(min_documents, "min_documents", 1, MOST_OFFSET),
            limit=within(limit, "limit", 0, MOST_LINES),
            function_words=function_words,
        )
        services = self.services
        run = ReachRun(services.store, services.tracer, _where(services, where), stop or Stop())
        return list_keywords(run, request)

    def _words_run(self, query: str, stop: Stop | None, where: WordsWhere) -> WordsRun:
        request = words_request(self.services, query, **where)
        services = self.services
        return WordsRun(services.store, services.tracer, request, stop or Stop())


def words_request(services: Services, query: str, **where: Unpack[WordsWhere]) -> WordsRequest:
    """A query to the words of the collection. Raises RequestError."""
    return WordsRequest(text=query, query=parse(query), **vars(_where(services, where)))


def _where(services: Services, where: WordsWhere) -> WordsScope:
    corpora, every = check_corpora(services, where.get("corpora", "all"))
    form: Form = _one_of(where.get("form", "surface"), "form", get_args(Form))
    exactly = bool(where.get("case_sensitive"))
    if exactly and form == "stem":
        raise RequestError(
            "case_sensitive compares words as they are written, which form=stem does not. "
            "Leave one of them out."
        )
    return WordsScope(
        corpora=corpora,
        every_corpus=every,
        form=form,
        exactly=exactly,
        filters=conditions(where.get("filters") or {}, services.store.manifest.fields),
        require=check_phrases("require", where.get("require", ())),
        exclude=check_phrases("exclude", where.get("exclude", ())),
    )


def _check_by(services: Services, by: str) -> str:
    known = services.store.manifest.fields
    if by in GROUPS or by in known:
        return by
    raise UnknownFilterField(
        f"by={shown([by])}: give {', '.join(GROUPS)}, or one of the fields "
        f"{', '.join(sorted(known))}."
    )


def _check_point(services: Services, point: Point) -> Point:
    _check_by(services, point.by)
    if point.corpus:
        known_corpora(services.store, [point.corpus])
    return point


def _one_of(given: _T, name: str, known: Sequence[_T]) -> _T:
    if given not in known:
        raise RequestError(f"{name}={shown([given])}: give {', '.join(map(str, known))}.")
    return given
