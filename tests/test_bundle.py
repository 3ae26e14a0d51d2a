"""Run bundles, written and read, and what a replay says about the collection of today."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from atlas_search.answer.answer import Answer, Comparison, Context, Writer
from atlas_search.answer.check.citations import Verification
from atlas_search.answer.decide import ANSWERED
from atlas_search.answer.request import AnswerPlan, Mode
from atlas_search.core.domain import CheckedSentence, Citation
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import __version__
from atlas_search.core.targets import Target
from atlas_search.core.telemetry.tracer import Tracer
from atlas_search.documents.bundle import (
    Replay,
    RunBundle,
    bundle_of,
    print_replay,
    read_bundle,
    replay,
)
from atlas_search.providers.chat import Message, Usage
from atlas_search.search.flow import search
from atlas_search.search.request import SearchPlan
from atlas_search.search.result import SearchResult
from atlas_search.search.run import Searcher, SearchRun
from atlas_search.services import Services
from atlas_search.stores.embedded import EmbeddedStore
from atlas_search.stores.filters import Range
from tests.conftest import TODAY, request_for
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, write_sources

QUESTION = "When may the police question a suspect without a lawyer?"
WEIGHTS = [name for name in Target.model_fields if name.startswith("weight_")]


def answer_to(
    searcher: Searcher,
    request: SearchPlan,
    target: Target,
    *,
    result: SearchResult | None = None,
    standalone: str = "",
    mode: Mode = "answer",
) -> Answer:
    """What a model would have written from a real search."""
    found = result or search(
        SearchRun(searcher, replace(request, question=standalone or request.question), target)
    )
    passage = found.passages[0].passage
    citation = Citation(passage.marker, passage, passage.start, passage.end, passage.text)
    sentence = CheckedSentence(passage.text, (citation,), grounded=True)
    return Answer(
        request=AnswerPlan(request, "default", target, "default_x", "q1", "s1", mode=mode),
        trace_id="0" * 32,
        created=datetime(2026, 1, 2, tzinfo=UTC),
        outcome=ANSWERED,
        text=f"{passage.text} {passage.marker}",
        verification=Verification((sentence,), (), ()),
        result=found,
        standalone=standalone,
        standalone_note="",
        context=Context(messages=(Message("user", "Passages, then the question."),)),
        conflicts=(),
        comparison=Comparison(),
        writer=Writer("openai", "some-model", usage=Usage(12, 34)),
        timings_ms={},
    )


def bundle_for(services: Services, **changes: object) -> RunBundle:
    """The bundle of a question to the bundled collection."""
    request = request_for(services, QUESTION, **changes)
    answer = answer_to(services.searcher, request, services.target(None)[1])
    return bundle_of(answer, services.store.manifest)


def with_settings(bundle: RunBundle, settings: Mapping[str, object]) -> RunBundle:
    target = bundle.target.model_copy(update={"settings": settings})
    return bundle.model_copy(update={"target": target})


def with_asked(bundle: RunBundle, **changes: object) -> RunBundle:
    return bundle.model_copy(update={"asked": bundle.asked.model_copy(update=changes)})


def printed(replayed: Replay) -> str:
    console = Console(file=StringIO(), width=200)
    print_replay(console, replayed)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_a_bundle_says_what_was_asked_found_and_answered(services: Services) -> None:
    bundle = bundle_for(services, fuzzy=True, freshness_days=7)
    manifest = services.store.manifest
    best = search(
        SearchRun(
            services.searcher,
            request_for(services, QUESTION, fuzzy=True, freshness_days=7),
            services.target(None)[1],
        )
    ).passages[0]
    content = json.loads(bundle.to_json())
    assert content["atlas_version"] == __version__
    assert content["asked"]["question"] == QUESTION
    assert content["asked"]["as_of"] == TODAY.isoformat()
    assert (content["asked"]["fuzzy"], content["asked"]["freshness_days"]) == (True, 7)
    assert content["target"]["settings"].keys() == Target.model_fields.keys()
    assert content["collection"]["content_digest"] == manifest.content_digest
    assert content["embedding"]["fingerprint"] == manifest.embedding.fingerprint
    assert len(content["ranked"]) == 10
    assert content["ranked"][0] == {
        "passage_id": best.passage.id,
        "score": best.ranked.score,
        "signals": dict(best.ranked.signals),
    }
    assert content["prompt"] == [{"role": "user", "content": "Passages, then the question."}]
    assert (content["writer"]["prompt_tokens"], content["writer"]["completion_tokens"]) == (12, 34)
    assert content["answered"]["decision"] == "ANSWER"
    assert content["answered"]["markers"] == [best.passage.marker]


def test_a_bundle_read_again_is_the_same_with_its_filters(services: Services) -> None:
    filters = {
        "court": ("House of Lords", "Supreme Court"),
        "date": Range("1950-01-01", None, 1950.0, None),
        "seats": Range(None, None, float("-inf"), float("inf")),
    }
    bundle = with_asked(bundle_for(services), filters=filters)
    again = RunBundle.from_json(bundle.to_json(), "x")
    assert again == bundle
    assert again.asked.filters == filters


def test_a_replay_right_after_the_run_is_identical(services: Services, tmp_path: Path) -> None:
    court = ("Supreme Court of the United States",)
    bundle = bundle_for(services, filters={"court": court}, limit=5)
    file = tmp_path / "run.json"
    file.write_text(bundle.to_json(), encoding="utf-8")
    replayed = replay(services.searcher, read_bundle(file))
    assert replayed == Replay((), 5, 5, (), (), ())
    assert printed(replayed) == "Nothing changed: the same 5 passages, ranks and scores.\n"


def test_a_comparison_is_replayed_corpus_by_corpus(services: Services) -> None:
    request, target = request_for(services, QUESTION, limit=2), services.target(None)[1]
    results = [
        search(
            SearchRun(services.searcher, replace(request, corpora=(c,), every_corpus=False), target)
        )
        for c in request.corpora
    ]
    every = [item for result in results for item in result.passages]
    every.sort(key=lambda item: -item.ranked.score)
    found = replace(results[0], passages=tuple(every))
    answer = answer_to(services.searcher, request, target, result=found, mode="compare")
    replayed = replay(services.searcher, bundle_of(answer, services.store.manifest))
    assert (replayed.identical, replayed.now) == (True, 2 * len(request.corpora))


def test_a_follow_up_is_searched_as_it_was_rewritten(services: Services) -> None:
    request = request_for(services, "And what about him?")
    target = services.target(None)[1]
    answer = answer_to(services.searcher, request, target, standalone=QUESTION)
    assert replay(services.searcher, bundle_of(answer, services.store.manifest)).identical


def test_other_weights_are_listed_with_every_passage_they_moved(services: Services) -> None:
    bundle = bundle_for(services)
    settings = bundle.target.settings | dict.fromkeys(WEIGHTS, 0.0) | {"weight_phrase": 1.0}
    replayed = replay(services.searcher, with_settings(bundle, settings))
    target = Target.model_validate(settings)
    now = search(SearchRun(services.searcher, request_for(services, QUESTION), target)).passages
    then = [item.passage_id for item in bundle.ranked]
    ids = [item.passage.id for item in now]
    assert [kept.passage_id for kept in replayed.entered] == [i for i in ids if i not in then]
    assert [kept.passage_id for kept in replayed.left] == [i for i in then if i not in ids]
    assert all(kept.exists for kept in replayed.left)
    assert [
        (change.passage_id, change.old_rank, change.new_rank) for change in replayed.changed
    ] == [(i, then.index(i) + 1, ids.index(i) + 1) for i in ids if i in then]
    assert replayed.entered
    assert f"10 passages then, 10 now: {len(replayed.entered)} entered" in printed(replayed)


def test_a_score_that_differs_by_more_than_rounding_is_listed(services: Services) -> None:
    bundle = bundle_for(services)
    first, second, *rest = bundle.ranked
    ranked = (
        first.model_copy(update={"score": first.score + 1e-7}),
        second.model_copy(update={"score": second.score + 1e-5}),
        *rest,
    )
    replayed = replay(services.searcher, bundle.model_copy(update={"ranked": ranked}))
    assert [(c.passage_id, c.moved, c.new_rank) for c in replayed.changed] == [
        (second.passage_id, False, 2)
    ]
    then, now = f"{second.score + 1e-5:.6f}", f"{second.score:.6f}"
    assert f"  score    2.  {second.passage_id}  {then} → {now}\n" in printed(replayed)


def test_what_was_required_and_capped_is_searched_for_again(services: Services) -> None:
    bundle = bundle_for(
        services, require=("police",), exclude=("jury",), max_per_document=1, limit=4
    )
    asked = bundle.asked
    assert (asked.require, asked.exclude, asked.max_per_document) == (("police",), ("jury",), 1)
    assert RunBundle.model_validate_json(bundle.model_dump_json()) == bundle
    assert replay(services.searcher, bundle).identical


def test_a_bundle_of_an_earlier_version_has_the_cap_of_its_target(services: Services) -> None:
    cap = services.target(None)[1].max_passages_per_document
    content = bundle_for(services, max_per_document=cap).model_dump(mode="json")
    for name in ("require", "exclude", "max_per_document"):
        del content["asked"][name]
    earlier = RunBundle.model_validate_json(json.dumps(content))
    assert replay(services.searcher, earlier).identical


def test_what_the_collection_no_longer_has_is_noted(services: Services) -> None:
    bundle = bundle_for(services, limit=3)
    gone = bundle.ranked[0].model_copy(update={"passage_id": "legal_eu.case:0-9"})
    asked = with_asked(
        bundle.model_copy(update={"ranked": (gone, *bundle.ranked[1:])}),
        corpora=("legal_eu", *bundle.asked.corpora[:-1]),
    )
    replayed = replay(services.searcher, asked)
    assert replayed.notes == (
        "Corpora that are no longer in the collection: legal_eu.",
        f"Corpora the run did not search, nor does this: {bundle.asked.corpora[-1]}.",
    )
    assert [kept.passage_id for kept in replayed.left if not kept.exists] == ["legal_eu.case:0-9"]
    assert "legal_eu.case:0-9" in printed(replayed)
    assert "no longer in the collection\n" in printed(replayed)


def test_without_any_of_its_corpora_every_passage_left(services: Services) -> None:
    bundle = with_asked(bundle_for(services, limit=3), corpora=("legal_eu",), every_corpus=False)
    replayed = replay(services.searcher, bundle)
    assert (replayed.then, replayed.now, len(replayed.left)) == (3, 0, 3)


def test_a_filter_on_an_unknown_field_is_noted(services: Services) -> None:
    bundle = with_asked(bundle_for(services, limit=3), filters={"planet": ("Mars",)})
    replayed = replay(services.searcher, bundle)
    assert replayed.notes == ("Filters on fields that no document has any more: planet.",)
    assert replayed.now == 0


def test_settings_that_came_or_went_are_noted(services: Services) -> None:
    bundle = bundle_for(services)
    settings = {name: v for name, v in bundle.target.settings.items() if name != "mmr_share"}
    replayed = replay(services.searcher, with_settings(bundle, settings | {"old": 1}))
    assert replayed.identical
    assert replayed.notes == (
        "Settings that Atlas no longer has are ignored: old.",
        "Settings the run did not have are at their defaults: mmr_share.",
    )


def test_a_reranking_model_that_is_not_open_is_noted(services: Services) -> None:
    bundle = bundle_for(services)
    cohere = bundle.target.settings | {"reranker": "cohere"}
    (note,) = replay(services.searcher, with_settings(bundle, cohere)).notes
    assert note.startswith("The model of the reranker cohere is not open")


def test_a_target_that_cannot_be_used_is_refused(services: Services) -> None:
    bundle = bundle_for(services)
    wrong = with_settings(bundle, bundle.target.settings | {"reranker": "magic"})
    with pytest.raises(SourceError, match="target default of the run cannot be used: reranker="):
        replay(services.searcher, wrong)


@contextmanager
def opened(folder: Path, embedder: HashEmbedder) -> Iterator[Searcher]:
    store = EmbeddedStore(folder)
    with ThreadPoolExecutor(2) as executor:
        yield Searcher(store, embedder, executor, Tracer("", "", content=False), {})
    store.close()


def farm_request(**changes: object) -> SearchPlan:
    fields = {"corpora": ("farm", "town"), "every_corpus": True, "limit": 5, "today": TODAY}
    return SearchPlan("Who gives wool or milk?", **(fields | changes))  # type: ignore[arg-type]


def test_a_later_version_of_the_collection_is_compared_with_the_one_searched(
    tmp_path: Path,
) -> None:
    embedder, folder = HashEmbedder(), tmp_path / "tiny"
    build_tiny(write_sources(tmp_path / "sources", FARM), folder, embedder)
    with opened(folder, embedder) as searcher:
        result = search(SearchRun(searcher, farm_request(), Target()))
        answer = answer_to(searcher, farm_request(), Target(), result=result)
        bundle = bundle_of(answer, searcher.store.manifest)
        assert replay(searcher, bundle).identical
    files = {"farm/goats.txt": "Goats give milk.\n"} | FARM
    del files["farm/cows.txt"]
    build_tiny(write_sources(tmp_path / "sources", files), folder, embedder)
    with opened(folder, embedder) as searcher:
        replayed = replay(searcher, bundle)
        version = searcher.store.manifest.version
    assert replayed.notes == (
        f"The collection has other content: version {version}, then {bundle.collection.version}.",
    )
    assert [kept.passage_id.split(":")[0] for kept in replayed.entered] == ["farm.goats"]
    assert [(kept.passage_id.split(":")[0], kept.exists) for kept in replayed.left] == [
        ("farm.cows", False)
    ]


def test_another_collection_embedder_or_atlas_is_noted(tmp_path: Path) -> None:
    embedder, folder = HashEmbedder(), tmp_path / "tiny"
    build_tiny(write_sources(tmp_path / "sources", FARM), folder, embedder)
    with opened(folder, embedder) as searcher:
        result = search(SearchRun(searcher, farm_request(), Target()))
        bundle = bundle_of(
            answer_to(searcher, farm_request(), Target(), result=result), searcher.store.manifest
        )
        collection = bundle.collection.model_copy(update={"name": "other", "version": "v0"})
        embedding = bundle.embedding.model_copy(update={"name": "old", "fingerprint": "f"})
        other = {"collection": collection, "embedding": embedding, "atlas_version": "0.0.1"}
        replayed = replay(searcher, bundle.model_copy(update=other))
        version = searcher.store.manifest.version
    assert replayed.identical
    assert replayed.notes == (
        f"The run was made by Atlas 0.0.1; this is {__version__}.",
        "The run searched the collection other; this is tiny.",
        f"The collection has the same content in version {version}, then v0.",
        f"The embedding model is another: {embedder.info.name}, then old.",
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "run.json is not a run bundle: it is not JSON"),
        ("\udcff", "run.json is not a run bundle: it is not JSON"),
        ("[]", "run.json is not a run bundle: it has no bundle_version"),
        ('{"answer": "x"}', "run.json is not a run bundle: it has no bundle_version"),
        (
            '{"bundle_version": 9, "atlas_version": "3.0"}',
            r"is a run bundle of version 9; this Atlas \(.*\) reads 1. Replay it with Atlas 3.0.",
        ),
        (
            '{"bundle_version": 1}',
            "run.json is a damaged run bundle: atlas_version: Field required",
        ),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(SourceError, match=message):
        read_bundle(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read: No such file"):
        read_bundle(tmp_path / "none.json")
