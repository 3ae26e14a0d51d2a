"""Target files: read over defaults, and errors that name file and line."""

from pathlib import Path

import pytest

from atlas_search.core.errors import InvalidTarget, UnknownTarget
from atlas_search.core.targets import Target, load_target, target_names
from tests.places import ROOT

BUNDLED = ROOT / "targets"


def load(folder: Path, text: str, **defaults: object) -> Target:
    """The target written as `text` into `folder/mine.txt`."""
    (folder / "mine.txt").write_text(text, encoding="utf-8")
    return load_target(folder, "mine", defaults)


@pytest.mark.parametrize(
    ("text", "defaults", "expected"),
    [
        (
            "# fifteen, balanced\nSEARCH_K=15\nBALANCE=quota # per corpus\n\nWEIGHT_PHRASE=0.5\n",
            {},
            Target(search_k=15, balance="quota", weight_phrase=0.5),
        ),
        ("", {}, Target()),
        ("search_k=15", {}, Target(search_k=15)),
        ("SEARCH_SCORE_THRESHOLD=0.3", {}, Target(score_threshold=0.3)),
        ("SEARCH_TYPE=mmr", {}, Target(search_type="similarity", diversity="mmr")),
        (
            "SEARCH_TYPE=similarity_score_threshold\nSCORE_THRESHOLD=0.5",
            {},
            Target(search_type="similarity", score_threshold=0.5),
        ),
        (
            "SEARCH_K=15",
            {"search_k": 20, "citation_limit": 7},
            Target(search_k=15, citation_limit=7),
        ),
    ],
)
def test_a_file_sets_the_keys_it_names_over_the_defaults(
    tmp_path: Path, text: str, defaults: dict[str, object], expected: Target
) -> None:
    assert load(tmp_path, text, **defaults) == expected


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("SEARCH_K=10\nSERACH_K=15", 2, "unknown key SERACH_K. Known: LLM_PROVIDER, LLM_MODEL"),
        ("SEARCH_K=10\nBALANCE=rank\nSEARCH_K=15", 3, "SEARCH_K is set again; line 1 set it first"),
        ("SEARCH_K=10\nsearch_k=15", 2, "search_k is set again; line 1 set it first"),
        ("# ten\nten passages", 2, "'ten passages' is not KEY=VALUE"),
        ("SEARCH_K", 1, "SEARCH_K has no value"),
        ("BALANCE=rank\nSEARCH_K=", 2, "SEARCH_K=: Input should be a valid integer"),
        ("SEARCH_K=ten", 1, "SEARCH_K=ten: Input should be a valid integer"),
        ("SEARCH_K=0", 1, "SEARCH_K=0: Input should be greater than or equal to 1"),
        ("BALANCE=rank\nSEARCH_K=101", 2, "SEARCH_K=101: Input should be less than or equal to"),
        ("ANSWER_THRESHOLD=1.1", 1, "ANSWER_THRESHOLD=1.1: Input should be less than or equal"),
        ("WEIGHT_PHRASE=-1", 1, "WEIGHT_PHRASE=-1: Input should be greater than or equal to 0"),
        ("WEIGHT_PHRASE=nan", 1, "WEIGHT_PHRASE=nan: Input should be"),
        ("WEIGHT_PHRASE=inf", 1, "WEIGHT_PHRASE=inf: Input should be"),
        ("BALANCE=fair", 1, "BALANCE=fair: Input should be 'rank', 'floor' or 'quota'"),
        ("BALANCE=rank\n\n\nSEARCH_K=0", 4, "SEARCH_K=0: "),
        ("\n\n# ten\nSEARCH_K=0", 4, "SEARCH_K=0: "),
    ],
)
def test_an_error_names_the_file_the_line_and_the_problem(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    with pytest.raises(InvalidTarget) as caught:
        load(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'mine.txt'}:{line}: {problem}")
    assert str(caught.value).endswith(".")


def test_a_wrong_default_is_blamed_on_the_environment(tmp_path: Path) -> None:
    with pytest.raises(InvalidTarget, match=r"mine.txt \(from the environment\): SEARCH_K=500: "):
        load(tmp_path, "BALANCE=rank", search_k=500)


def test_an_unknown_target_lists_the_known_ones(tmp_path: Path) -> None:
    for name in ("wide.txt", "deep.txt", "notes.md"):
        (tmp_path / name).touch()
    assert target_names(tmp_path) == ["deep", "wide"]
    with pytest.raises(UnknownTarget, match=r"no target 'mine'\. Known targets: deep, wide\."):
        load_target(tmp_path, "mine", {})


def test_a_name_that_is_a_path_is_no_target(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").touch()
    (tmp_path / "targets").mkdir()
    with pytest.raises(UnknownTarget):
        load_target(tmp_path / "targets", "../secret", {})


@pytest.mark.parametrize("name", [name for name in target_names(BUNDLED) if name[0] == "k"])
def test_bundled_targets_are_as_their_names_say(name: str) -> None:
    target = load_target(BUNDLED, name, {})
    size, kind = name.removeprefix("k").split("_", 1)
    assert target.search_k == int(size)
    assert kind in (target.llm_provider, target.reranker, target.balance)


def test_the_target_of_bedrock_keeps_two_of_a_document() -> None:
    target = load_target(BUNDLED, "bedrock", {})
    assert (target.search_k, target.max_passages_per_document) == (4, 2)
    assert (target.reranker, target.mix_dense, target.mix_lexical) == ("weighted", 0.7, 0.3)
