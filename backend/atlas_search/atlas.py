"""The front door: one collection, open for questions."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Self

from atlas_search.answer.answer import Answer, Emit, Event
from atlas_search.answer.flow import answer_question
from atlas_search.answer.request import AnswerPlan, AskRequest
from atlas_search.answer.run import AnswerRun
from atlas_search.core.domain import Corpus, Document, Passage
from atlas_search.core.errors import RequestError
from atlas_search.core.settings import Settings, load_settings
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.names import keep_silence
from atlas_search.planning import (
    check_by,
    check_corpora,
    check_point,
    facet_fields,
    plan_answer,
    plan_scope,
    plan_search,
    plan_words,
    plan_words_scope,
)
from atlas_search.providers.chat import Usage
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import open_embedder
from atlas_search.search.counts import ScopeCounts, scope_counts
from atlas_search.search.counts import facets as count_facets
from atlas_search.search.flow import search
from atlas_search.search.request import FacetsRequest, SearchPlan, SearchRequest, request_of
from atlas_search.search.result import SearchResult, WholeResult, explain_all
from atlas_search.search.run import SearchRun
from atlas_search.search.suggestions import Suggestion, suggestions
from atlas_search.search.trace import count_search, failed_searches
from atlas_search.services import Services, narrow_services, open_services
from atlas_search.stores.versions import collections_beside, make_folder
from atlas_search.words.concordance import concordance
from atlas_search.words.counts import tabulate
from atlas_search.words.flow import look_up
from atlas_search.words.lists import collocates, frequencies, keywords
from atlas_search.words.request import (
    CollocatesRequest,
    ConcordanceRequest,
    CountsRequest,
    FrequenciesRequest,
    KeywordsRequest,
    TrendsRequest,
    WordsRequest,
    WordsScopeRequest,
)
from atlas_search.words.results import Collocates, Concordance, Frequencies, Keywords, WordCounts
from atlas_search.words.run import ReachRun, WordsRun

if TYPE_CHECKING:
    from atlas_search.building.chunking import Chunking
    from atlas_search.building.flow import BuildReport
    from atlas_search.building.go_live import Progress
    from atlas_search.building.sources import Sources
    from atlas_search.readers import Reader

MOST_SUGGESTIONS = 20


class Atlas:
    """A built collection: search it, ask it, count its words, read its documents.

    Safe to use from several threads.

    A context manager: leaving the block closes the store. How it searches and answers is said by
    a target. What each question may say besides are the fields of its request (`SearchRequest`,
    `AskRequest`, `ConcordanceRequest` ...), by name or as a request: `atlas.search("wool", k=5)`
    is `atlas.search(SearchRequest(question="wool", k=5))`. All raise RequestError for what cannot
    be asked, and Cancelled soon after `stop` is set.
    """

    def __init__(self, services: Services):
        self.services = services
        self._permitted: dict[frozenset[str], Atlas] = {}
        self._lock = Lock()

    @classmethod
    def open(
        cls, collection: str | Path = "", *, embedder: Embedder | None = None, **settings: Any
    ) -> Self:
        """Open a collection by its name or folder (a Path); without either, the configured one.

        `settings` are those of the environment in small letters (`chroma_persist_directory`,
        `test_target`, `mistral_api_key`), and go before it. An `embedder` at hand saves loading
        the model again. Raises ConfigurationError that says what to mend: MissingStore names the
        command that builds the collection.
        """
        return cls(open_services(settings_for(collection, **settings), embedder))

    @staticmethod
    def build(
        source: str | Path | Sequence[str | Path],
        collection: str | Path,
        *,
        kind: str = "files",
        reader: "Reader | None" = None,
        locate: "Callable[[Sequence[Path], Reader, Path], Sources] | None" = None,
        corpora: Path | None = None,
        corpus: str = "",
        chunking: "Chunking | None" = None,
        force: bool = False,
        rename: Mapping[str, str] | None = None,
        share_vectors: bool = True,
        arguments: Mapping[str, Any] | None = None,
        progress: "Progress" = lambda *_: None,
        embedder: Embedder | None = None,
        **settings: Any,
    ) -> "BuildReport":
        """Build a collection from files or folders of sources, or bring it up to date.

        Each sub-folder is a corpus, unless a `corpora.toml` or the mapping `corpora` says
        otherwise, or all is one `corpus`; `locate` finds sources in another way. Without a `reader`
        a file is read by its ending. Only what changed is read and embedded, unless with `force`.
        `rename` gives metadata fields other names. Documents of another `kind` stay, `arguments`
        are kept for a repair. With `share_vectors` equal texts have vectors of collections beside
        this one. Raises SourceError if nothing can be built; the report has what cannot be read.
        """
        # here, for who only asks can do without these and the 27 modules they load
        from atlas_search.building.chunking import chunking as default_chunking
        from atlas_search.building.flow import BuildOptions, build, trace_build
        from atlas_search.building.go_live import Indexing
        from atlas_search.building.sources import find_sources
        from atlas_search.building.workers import limits_from
        from atlas_search.readers.files import files_reader

        own_settings = settings_for(collection, **settings)
        folder = own_settings.collection_folder
        paths = [Path(path) for path in ([source] if isinstance(source, str | Path) else source)]
        options = BuildOptions(
            own_settings.chroma_collection_name,
            kind,
            chunking or default_chunking(),
            force,
            arguments or _arguments(paths, corpora, corpus),
            rename or {},
            limits_from(own_settings),
            collections_beside(folder) if share_vectors else (),
            Indexing.of(own_settings),
        )

        def work(tell: "Progress") -> "BuildReport":
            reads = reader or files_reader()
            find = locate or (lambda *_: find_sources(paths, reads, corpora=corpora, corpus=corpus))
            sources = find(paths, reads, folder)
            model = embedder or open_embedder(own_settings)
            # in a program of others, whose files are its own affair, what is built stays private
            make_folder(folder, 0o777 & ~own_settings.umask)
            return build(folder, sources, reads, model, options, tell)

        return trace_build(own_settings, options, progress, work)

    @property
    def corpora(self) -> tuple[Corpus, ...]:
        """The corpora of the collection."""
        return self.services.store.corpora

    def permitted(self, corpora: Collection[str]) -> "Atlas":
        """The collection as if it held these of its corpora alone, whatever is asked of it.

        It is made once for each set of corpora, and needs no closing.
        """
        own = frozenset(corpus.id for corpus in self.corpora if corpus.id in corpora)
        if len(own) == len(self.corpora):
            return self
        with self._lock:
            if own not in self._permitted:
                self._permitted[own] = Atlas(narrow_services(self.services, own))
            return self._permitted[own]

    def search(
        self, question: str | SearchRequest, *, stop: Stop | None = None, **options: Any
    ) -> SearchResult:
        """The passages that speak to a question, best first, with every signal."""
        stop = stop or Stop()
        started = time.perf_counter()
        request = request_of(SearchRequest, question, options)
        fields = facet_fields(self.services, request.facets)
        plan = plan_search(self.services, request)
        name, _ = self.services.target(request.target)
        metrics = self.services.searcher.metrics
        with failed_searches(metrics, name):
            whole = self.find(plan, name, stop)
            store, ranking = self.services.store, whole.ranking
            stop.check()
            explained = (
                explain_all(store, whole.candidates, ranking, stop) if request.explain else None
            )
        result = replace(
            whole.kept_only(),
            target_name=name,
            facets=count_facets(store, ranking, fields) if request.facets else None,
            explained=explained,
            timings_ms={
                **whole.timings_ms,
                "total": round((time.perf_counter() - started) * 1000, 3),
            },
        )
        count_search(metrics, result, store.manifest.collection)
        return result

    def ask(self, question: str | AskRequest, **options: Any) -> Answer:
        """The answer to a question, each sentence with verified citations, or why there is none.

        Raises ModelRefused or ModelUnavailable too, if the target's language model cannot be used.
        """
        return self.answer(plan_answer(self.services, request_of(AskRequest, question, options)))

    def compare(self, question: str | AskRequest, **options: Any) -> Answer:
        """The answer of every corpus for itself, and what they agree and differ about."""
        return self.ask(question, **options, mode="compare")

    def stream(self, question: str | AskRequest, **options: Any) -> Iterator[Event | Answer]:
        """The events of an answer as it comes about, and last of all the answer.

        Closing the iterator stops the answer, and the language model with it. Raises as
        `ask` does.
        """
        request = request_of(AskRequest, question, options)
        return self._stream_from_thread(plan_answer(self.services, request, streamed=True))

    def facets(
        self,
        fields: bool | Sequence[str] | FacetsRequest = True,
        *,
        stop: Stop | None = None,
        **options: Any,
    ) -> ScopeCounts:
        """Count the documents of a scope, by year and by the values of some fields, or of all."""
        ready = fields if isinstance(fields, FacetsRequest) else None
        options = options if ready else {"fields": fields, **options}
        request = request_of(FacetsRequest, ready, options)
        names = facet_fields(self.services, request.fields)
        plan = plan_scope(self.services, request)
        return scope_counts(self.services.store, plan, names, stop or Stop())

    def concordance(
        self, query: str | ConcordanceRequest, *, stop: Stop | None = None, **options: Any
    ) -> Concordance:
        """Every hit of a query counted, and some of them in their context."""
        request = request_of(ConcordanceRequest, query, options)
        if request.point:
            check_point(self.services, request.point)
        return look_up(self._words_run(request, stop), concordance, request)

    def trends(
        self, query: str | TrendsRequest, *, stop: Stop | None = None, **options: Any
    ) -> WordCounts:
        """Count the hits of a query by year, decade, corpus or a metadata field."""
        return self._count(request_of(TrendsRequest, query, options), stop)

    def counts(
        self, query: str | CountsRequest, *, stop: Stop | None = None, **options: Any
    ) -> WordCounts:
        """Count the documents and passages with a hit, at once or by what `trends` takes."""
        return self._count(request_of(CountsRequest, query, options), stop)

    def collocates(
        self, query: str | CollocatesRequest, *, stop: Stop | None = None, **options: Any
    ) -> Collocates:
        """The words that stand near the hits of a query more often than elsewhere."""
        request = request_of(CollocatesRequest, query, options)
        return look_up(self._words_run(request, stop), collocates, request)

    def keywords(
        self, scope: KeywordsRequest | None = None, *, stop: Stop | None = None, **options: Any
    ) -> Keywords:
        """The words that are more frequent in a scope than in the reference.

        That is all of the corpora `against` that the scope leaves out. Raises RequestError too if
        nothing is left to compare with.
        """
        request = request_of(KeywordsRequest, scope, options)
        against, _ = check_corpora(self.services, request.against)
        run = self._reach_run(request, stop)
        return look_up(run, keywords, request.model_copy(update={"against": against}))

    def frequencies(
        self, scope: FrequenciesRequest | None = None, *, stop: Stop | None = None, **options: Any
    ) -> Frequencies:
        """The words of a scope, the most frequent first."""
        request = request_of(FrequenciesRequest, scope, options)
        return look_up(self._reach_run(request, stop), frequencies, request)

    def suggestions(
        self, corpora: str | Sequence[str] = "all", *, limit: int = 4
    ) -> list[Suggestion]:
        """Questions made from titles and headings of the corpora, which their sources answer.

        Always the same of a version, at most `limit`, which is 1 to 20.
        """
        if not 1 <= limit <= MOST_SUGGESTIONS:
            raise RequestError(f"limit={limit}: give a whole number from 1 to {MOST_SUGGESTIONS}.")
        ids, _ = check_corpora(self.services, corpora)
        return suggestions(self.services.store, ids, limit)

    def documents(self, corpora: str | Sequence[str] = "all") -> Iterator[Document]:
        """Every document of some corpora with its whole text, in the order of their ids."""
        store = self.services.store
        ids, _ = check_corpora(self.services, corpora)
        within = store.documents_of(ids)
        for listed in store.list_documents(within, "id", len(within), 0):
            yield store.document(listed.id)

    def document(self, document_id: str) -> Document:
        """A document with its whole text. Raises NotFound."""
        return self.services.store.document(document_id)

    def passages(self, document_id: str) -> list[Passage]:
        """The passages of a document, in order. Raises NotFound."""
        return self.services.store.document_passages(document_id)

    def passage(self, passage_id: str) -> Passage:
        """One passage. Raises NotFound."""
        return self.services.store.passage(passage_id)

    def find(
        self, request: SearchPlan, target: str | None = None, stop: Stop | None = None
    ) -> WholeResult:
        """The result of a checked request, with all candidates. Raises Cancelled if stopped."""
        name, how = self.services.target(target)
        run = SearchRun(self.services.searcher, request, how, name, stop=stop or Stop())
        return search(run)

    def answer(
        self,
        request: AnswerPlan,
        emit: Emit = lambda _: None,
        stop: Stop | None = None,
        spent: list[Usage] | None = None,
    ) -> Answer:
        """The answer to a checked request; `emit` gets the events. Raises Cancelled if stopped.

        `spent` gets what each call to a language model took, whatever becomes of the answer.
        """
        spent = [] if spent is None else spent
        run = AnswerRun(self.services.answerer, request, emit, stop or Stop(), spent=spent)
        return answer_question(run)

    def close(self) -> None:
        """Release the store and send waiting spans."""
        self.services.close()

    def __enter__(self) -> Self:  # noqa: D105
        return self

    def __exit__(self, *_: object) -> None:  # noqa: D105
        self.close()

    def _count(self, request: TrendsRequest, stop: Stop | None) -> WordCounts:
        check_by(self.services, request.by)
        return look_up(self._words_run(request, stop), tabulate, request)

    def _words_run(self, request: WordsRequest, stop: Stop | None) -> WordsRun:
        services = self.services
        plan = plan_words(services, request)
        return WordsRun(services.store, services.tracer, plan, stop or Stop())

    def _reach_run(self, request: WordsScopeRequest, stop: Stop | None) -> ReachRun:
        services = self.services
        where = plan_words_scope(services, request)
        return ReachRun(services.store, services.tracer, where, stop or Stop())

    def _stream_from_thread(self, request: AnswerPlan) -> Iterator[Event | Answer]:
        """Answers in a thread of its own, so that each event is given as soon as it is there."""
        stop = Stop()
        queue: SimpleQueue[Event | Answer | Exception] = SimpleQueue()

        def work() -> None:
            try:
                queue.put(self.answer(request, queue.put, stop))
            except Exception as error:
                queue.put(error)

        thread = Thread(target=keep_silence(work), name=f"ask-{request.qa_id}", daemon=True)
        thread.start()
        try:
            while not isinstance(item := queue.get(), Exception):
                yield item
                if isinstance(item, Answer):
                    return
            raise item
        finally:
            stop.set("Nobody reads the stream.")
            thread.join()


def _arguments(paths: Sequence[Path], corpora: Path | None, corpus: str) -> dict[str, Any]:
    """Return the arguments by which `atlas create` finds the sources from any folder."""
    arguments: dict[str, Any] = {"source": [str(path.resolve()) for path in paths]}
    if corpora:
        arguments["corpora"] = str(corpora.resolve())
    return arguments | ({"corpus": corpus} if corpus else {})


def settings_for(collection: str | Path = "", **settings: Any) -> Settings:
    """The settings for a collection given by name or by folder."""
    if isinstance(collection, Path):
        settings = {"chroma_persist_directory": collection.parent} | settings
        collection = collection.name
    named = {"chroma_collection_name": collection} if collection else {}
    return load_settings(**named, **settings)
