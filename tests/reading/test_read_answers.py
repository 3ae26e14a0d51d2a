"""Answers of a collection whose target has a reader model."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atlas_search import Atlas
from atlas_search.providers.embedding_local import LocalEmbedder
from tests.truth.collection import closest, collection, is_verbatim, said, warnings

HELD = "The court held that wool cost twelve pence."
FILES = {
    "law/rule.txt": "What did wool cost by the rule of the court? The court held that by old rule.",
    "law/fish.txt": "The rule of the market held that on this day fish cost three pounds.",
    "law/wool.txt": HELD,
}
COST = "What did wool cost?"


@pytest.fixture(scope="module")
def atlas(
    tmp_path_factory: pytest.TempPathFactory, embedder: LocalEmbedder, tiny: Path
) -> Iterator[Atlas]:
    folder = tmp_path_factory.mktemp("read")
    with collection(folder, embedder, FILES, f"READER_MODEL={tiny}\n") as opened:
        yield opened


def test_the_sentence_that_holds_the_words_comes_first(atlas: Atlas) -> None:
    answer = atlas.ask(COST)
    assert answer.outcome.decision == "ANSWER"
    assert said(answer)[0] == HELD
    assert answer.confidence
    assert (answer.confidence.word, answer.confidence.likelihood > 0.9) == ("likely", True)
    assert all(is_verbatim(atlas, citation) for citation in answer.citations)
    assert warnings(answer) == ""


def test_where_the_model_finds_no_words_the_closest_are_shown(atlas: Atlas) -> None:
    answer = atlas.ask("What did salt cost?")
    assert (answer.outcome.decision, answer.text) == ("ABSTAIN", "")
    assert 0 < len(answer.closest) <= 3
    assert all(is_verbatim(atlas, citation) for citation in answer.closest)


@pytest.mark.parametrize("likelihood", ["0", "0.3", "0.99"])
def test_no_words_are_no_answer_however_little_is_needed(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path, likelihood: str
) -> None:
    target = f"READER_MODEL={tiny}\nANSWER_LIKELIHOOD={likelihood}\n"
    files = {"law/rule.txt": "The court held that by old rule a market is on this day."}
    with collection(tmp_path, embedder, files, target) as atlas:
        answer = atlas.ask("What did salt cost on this day at the market?")
    assert answer.outcome.decision == "ABSTAIN"
    assert closest(answer) == [files["law/rule.txt"]]


def test_where_it_could_not_read_the_rules_decide_and_it_is_said(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path
) -> None:
    rules = "ANSWER_LIKELIHOOD=0.05\n"
    late = f"{rules}READER_MODEL={tiny}\nREADER_SECONDS=0.000000001\n"
    with collection(tmp_path / "rules", embedder, FILES, rules) as atlas:
        plain = atlas.ask(COST)
    with collection(tmp_path / "late", embedder, FILES, late) as atlas:
        answer = atlas.ask(COST)
    assert answer.outcome.decision == "ANSWER"
    assert (said(answer), answer.confidence) == (said(plain), plain.confidence)
    assert "read 0 of 3 passages" in warnings(answer)
    assert "READER_SECONDS" in warnings(answer)


def test_what_was_not_read_can_be_declined(
    tmp_path: Path, embedder: LocalEmbedder, tiny: Path
) -> None:
    late = f"READER_MODEL={tiny}\nREADER_SECONDS=0.000000001\nANSWER_LIKELIHOOD=0.99\n"
    with collection(tmp_path, embedder, FILES, late) as atlas:
        answer = atlas.ask(COST)
    assert (answer.outcome.code, answer.confidence) == ("not_held", None)
    assert answer.closest
    assert "read 0 of 3 passages" in warnings(answer)
