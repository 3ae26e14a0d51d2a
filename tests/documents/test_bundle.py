"""Run bundles, written and read, and what a replay says about the collection of today."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from atlas_search import Atlas
from atlas_search.core.domain import ChatTurn
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import __version__
from atlas_search.core.targets import Target
from atlas_search.documents.bundle import (
    Replay,
    RunBundle,
    bundle_of,
    print_replay,
    read_bundle,
    replay,
)
from atlas_search.stores.filters import Range
from tests.conftest import TODAY
from tests.hash_embedder import HashEmbedder
from tests.tiny import FARM, build_tiny, write_sources

QUESTION = "When may the police question a suspect without a lawyer?"


def bundle_for(atlas: Atlas, question: str = QUESTION, **options: Any) -> RunBundle:
    options = {"as_of": TODAY, "k": 10} | options
    return bundle_of(atlas.ask(question, **options), atlas.services.store.manifest)


def edited(bundle: RunBundle, edit: Callable[[dict[str, Any]], object]) -> RunBundle:
    """The bundle after an edit of its file."""
    content = json.loads(bundle.to_json())
    edit(content)
    return RunBundle.from_json(json.dumps(content), "an edited run")


def replayed(atlas: Atlas, bundle: RunBundle) -> Replay:
    return replay(atlas.services.searcher, bundle)


def printed(comparison: Replay) -> str:
    output = StringIO()
    print_replay(Console(file=output, width=200), comparison)
    return output.getvalue()


# what a bundle holds


def test_a_bundle_says_what_was_asked_and_found(atlas: Atlas) -> None:
    options: dict[str, Any] = {
        "fuzzy": True,
        "freshness_days": 36_000,
        "require": ["police"],
        "exclude": ["jury"],
        "max_per_document": 1,
    }
    content = json.loads(bundle_for(atlas, k=4, **options).to_json())
    best = atlas.search(QUESTION, k=4, as_of=TODAY, **options).passages[0]
    manifest = atlas.services.store.manifest
    assert content["atlas_version"] == __version__
    assert content["asked"].items() >= options.items()
    assert (content["asked"]["question"], content["asked"]["as_of"]) == (
        QUESTION,
        TODAY.isoformat(),
    )
    assert content["target"]["settings"].keys() == Target.model_fields.keys()
    assert content["collection"]["content_digest"] == manifest.content_digest
    assert content["embedding"]["fingerprint"] == manifest.embedding.fingerprint
    assert len(content["ranked"]) == 4
    assert content["ranked"][0]["passage_id"] == best.passage.id


def test_a_bundle_says_how_strict_the_cap_per_document_was(atlas: Atlas) -> None:
    usual, strict = bundle_for(atlas).asked, bundle_for(atlas, max_per_document=7).asked
    assert (usual.max_per_document, usual.soft_cap) == (5, True)
    assert (strict.max_per_document, strict.soft_cap) == (7, False)


def test_a_bundle_read_again_is_the_same_with_its_filters(atlas: Atlas) -> None:
    filters = {
        "court": ("House of Lords", "Supreme Court"),
        "date": Range("1950-01-01", None, 1950.0, None),
        "seats": Range(None, None, float("-inf"), float("inf")),
    }
    bundle = bundle_for(atlas)
    filtered = bundle.asked.model_copy(update={"filters": filters})
    bundle = bundle.model_copy(update={"asked": filtered})
    again = RunBundle.from_json(bundle.to_json(), "x")
    assert again == bundle
    assert again.asked.filters == filters


# replays of what did not change


def test_a_replay_right_after_the_run_is_identical(atlas: Atlas, tmp_path: Path) -> None:
    court = {"court": "Supreme Court of the United States"}
    file = tmp_path / "run.json"
    file.write_text(bundle_for(atlas, filters=court, k=5).to_json(), encoding="utf-8")
    comparison = replayed(atlas, read_bundle(file))
    assert comparison == Replay((), 5, 5, (), (), ())
    assert printed(comparison) == "Nothing changed: the same 5 passages, ranks and scores.\n"


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (QUESTION, {"mode": "compare", "k": 2}),  # corpus by corpus
        (QUESTION, {"require": ["police"], "exclude": ["jury"], "max_per_document": 1}),
        ("How is sourdough bread baked?", {}),  # declined
        (  # searched for as it was rewritten
            "Who dissented in it?",
            {
                "history": [ChatTurn("user", "What did Plessy v. Ferguson decide?")],
                "read_follow_ups": True,
            },
        ),
    ],
    ids=["compared", "narrowed", "declined", "follow-up"],
)
def test_every_kind_of_question_is_replayed(
    atlas: Atlas, question: str, options: dict[str, Any]
) -> None:
    bundle = bundle_for(atlas, question, **options)
    comparison = replayed(atlas, RunBundle.from_json(bundle.to_json(), "x"))
    assert comparison.identical
    assert comparison.now == comparison.then == len(bundle.ranked) > 0


def test_a_bundle_of_an_earlier_version_is_replayed_with_what_its_target_says(
    atlas: Atlas,
) -> None:
    def age(content: dict[str, Any]) -> None:
        del content["scope"]
        for name in ("require", "exclude", "max_per_document", "soft_cap"):
            del content["asked"][name]
        content["target"]["settings"]["max_passages_per_document"] = 5

    earlier = edited(bundle_for(atlas), age)
    assert earlier.scope is None
    assert replayed(atlas, earlier).identical


# what changed


def test_other_weights_are_listed_with_every_passage_they_moved(atlas: Atlas) -> None:
    bundle = bundle_for(atlas)

    def weigh(content: dict[str, Any]) -> None:
        settings = content["target"]["settings"]
        settings |= {name: 0.0 for name in settings if name.startswith("weight_")}
        settings["weight_phrase"] = 1.0

    comparison = replayed(atlas, edited(bundle, weigh))
    then = [item.passage_id for item in bundle.ranked]
    entered = [kept.passage_id for kept in comparison.entered]
    left = [kept.passage_id for kept in comparison.left]
    assert entered
    assert not set(entered) & set(then)
    assert all(kept.exists for kept in comparison.left)
    assert {*left, *(change.passage_id for change in comparison.changed)} <= {*then}
    for change in comparison.changed:
        assert change.old_rank == then.index(change.passage_id) + 1
    assert len(entered) == len(left)
    assert f"10 passages then, 10 now: {len(entered)} entered" in printed(comparison)


def test_a_score_that_differs_by_more_than_rounding_is_listed(atlas: Atlas) -> None:
    bundle = bundle_for(atlas)
    second = bundle.ranked[1]

    def rescore(content: dict[str, Any]) -> None:
        content["ranked"][0]["score"] += 1e-7
        content["ranked"][1]["score"] += 1e-5

    comparison = replayed(atlas, edited(bundle, rescore))
    assert [(c.passage_id, c.moved, c.new_rank) for c in comparison.changed] == [
        (second.passage_id, False, 2)
    ]
    then, now = f"{second.score + 1e-5:.6f}", f"{second.score:.6f}"
    assert f"  score    2.  {second.passage_id}  {then} → {now}\n" in printed(comparison)


def test_a_passage_and_a_corpus_that_are_gone_are_noted(atlas: Atlas) -> None:
    bundle = bundle_for(atlas, k=3)
    last = bundle.asked.corpora[-1]

    def rename(content: dict[str, Any]) -> None:
        content["ranked"][0]["passage_id"] = "legal_eu.case:0-9"
        content["asked"]["corpora"] = ["legal_eu", *bundle.asked.corpora[:-1]]

    comparison = replayed(atlas, edited(bundle, rename))
    assert comparison.notes == (
        "Corpora that are no longer in the collection: legal_eu.",
        f"Corpora the run did not search, nor does this: {last}.",
    )
    assert [kept.passage_id for kept in comparison.left if not kept.exists] == ["legal_eu.case:0-9"]
    assert "legal_eu.case:0-9" in printed(comparison)
    assert "no longer in the collection\n" in printed(comparison)


@pytest.mark.parametrize(
    ("part", "changes", "now", "note"),
    [
        (
            "asked",
            {"filters": {"planet": ["Mars"]}},
            0,
            "Filters on fields that no document has any more: planet.",
        ),
        ("asked", {"corpora": ["legal_eu"], "every_corpus": False}, 0, "no longer in the"),
        (
            "target",
            {"old": 1},
            3,
            "Settings that Atlas no longer has are ignored: old.",
        ),
        ("target", {"reranker": "cohere"}, 3, "The model of the reranker cohere is not open"),
    ],
)
def test_what_a_replay_cannot_do_as_the_run_did_is_noted(
    atlas: Atlas, part: str, changes: dict[str, object], now: int, note: str
) -> None:
    def change(content: dict[str, Any]) -> None:
        chosen = content["asked"] if part == "asked" else content["target"]["settings"]
        chosen |= changes

    comparison = replayed(atlas, edited(bundle_for(atlas, k=3), change))
    assert note in " ".join(comparison.notes)
    assert (comparison.then, comparison.now) == (3, now)


def test_settings_that_the_run_did_not_have_are_at_their_defaults(atlas: Atlas) -> None:
    def drop(content: dict[str, Any]) -> None:
        del content["target"]["settings"]["mmr_share"]

    comparison = replayed(atlas, edited(bundle_for(atlas), drop))
    assert comparison.identical
    assert comparison.notes == ("Settings the run did not have are at their defaults: mmr_share.",)


def test_a_target_that_cannot_be_used_is_refused(atlas: Atlas) -> None:
    def spoil(content: dict[str, Any]) -> None:
        content["target"]["settings"]["reranker"] = "magic"

    with pytest.raises(SourceError, match=r"target .* of the run cannot be used: reranker="):
        replayed(atlas, edited(bundle_for(atlas), spoil))


# another collection


@contextmanager
def farm(folder: Path, files: dict[str, str]) -> Iterator[Atlas]:
    """The collection of these files, built or brought up to date below `folder`, and open."""
    embedder = HashEmbedder()
    build_tiny(write_sources(folder / "sources", files), folder / "tiny", embedder)
    with Atlas.open(folder / "tiny", embedder=embedder) as opened:
        yield opened


WOOL = "Who gives wool or milk?"


def test_a_later_version_of_the_collection_is_compared_with_the_one_searched(
    tmp_path: Path,
) -> None:
    with farm(tmp_path, FARM) as atlas:
        bundle = bundle_for(atlas, WOOL)
    files = {"farm/goats.txt": "Goats give milk.\n"} | FARM
    del files["farm/cows.txt"]
    with farm(tmp_path, files) as atlas:
        comparison = replayed(atlas, bundle)
        version = atlas.services.store.manifest.version
    assert comparison.notes == (
        f"The collection has other content: version {version}, then {bundle.collection.version}.",
    )
    assert [kept.passage_id.split(":")[0] for kept in comparison.entered] == ["farm.goats"]
    assert [(kept.passage_id.split(":")[0], kept.exists) for kept in comparison.left] == [
        ("farm.cows", False)
    ]


def test_another_collection_embedder_or_atlas_is_noted(tmp_path: Path) -> None:
    def move(content: dict[str, Any]) -> None:
        content["collection"] |= {"name": "other", "version": "v0"}
        content["embedding"] |= {"name": "old", "fingerprint": "f"}
        content["atlas_version"] = "0.0.1"

    with farm(tmp_path, FARM) as atlas:
        comparison = replayed(atlas, edited(bundle_for(atlas, WOOL), move))
        version = atlas.services.store.manifest.version
    assert comparison.identical
    assert comparison.notes == (
        f"The run was made by Atlas 0.0.1; this is {__version__}.",
        "The run searched the collection other; this is tiny.",
        f"The collection has the same content in version {version}, then v0.",
        "The embedding model is another: hash, then old.",
    )


# files that are none


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
        (None, "cannot be read: No such file"),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "run.json"
    if content is not None:
        file.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(SourceError, match=message):
        read_bundle(file)
