"""Benchmarks: their corpora, queries and judgements."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.label_files import BenchmarkQuery, read_qrels, read_queries
from atlas_search.readers import Draft, Skipped
from atlas_search.readers.tables import CORPUS_FILES, BeirReader

Records = list[dict[str, object]]

# Four corpora in the shapes that published ones have.
SECTIONS: Records = [
    {"id": "chat#0", "title": "", "text": "One.", "metadata": {"corpus": "chat", "start": 0}},
    {"id": "law#1", "title": "", "text": "Two.\n\n- a | b", "metadata": {"corpus": "law"}},
]
SPEECHES: Records = [
    {
        "id": "meeting_0#43-44",
        "title": "",
        "text": "The Chair: Order.\nMs. A: Thank you.",
        "metadata": {"meeting": "meeting_0", "first_turn": 43, "speakers": ["The Chair", "Ms. A"]},
    },
]
CONTRACTS: Records = [
    {
        "id": "dev3#0",
        "title": "09-24 NDA",
        "text": "AGREEMENT\nbetween 1) A and 2) B ",
        "metadata": {"contract": "dev3", "first_span": 0},
    },
]
ARTICLES: Records = [
    {"_id": "Normans#0", "title": "Normans", "text": "The Normans were a people."},
    {"_id": "Normans#1", "title": "Normans", "text": "They became pious."},
]


def benchmark(folder: Path, corpus: Records, name: str = "corpus.jsonl", **files: str) -> Path:
    """A benchmark folder; `files` are named with `__` for a dot and `_slash_` for a slash."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(f"{json.dumps(record)}\n" for record in corpus))
    for key, content in files.items():
        path = folder / key.replace("_slash_", "/").replace("__", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    return folder


def corpus_file(folder: Path) -> Path:
    (found,) = (folder / name for name in CORPUS_FILES if (folder / name).is_file())
    return found


def read(folder: Path) -> list[Draft]:
    found = list(BeirReader().read(corpus_file(folder), ""))
    assert all(isinstance(item, Draft) for item in found)
    return [item for item in found if isinstance(item, Draft)]


@pytest.mark.parametrize("name", ["corpus.jsonl", "docs.jsonl"])
@pytest.mark.parametrize(
    ("corpus", "expected"),
    [
        (
            SECTIONS,
            [
                Draft(
                    "One.",
                    "",
                    "chat#0",
                    {"corpus": "chat", "start": 0, "record_id": "chat#0"},
                ),
                Draft("Two.\n\n- a | b", "", "law#1", {"corpus": "law", "record_id": "law#1"}),
            ],
        ),
        (
            SPEECHES,
            [
                Draft(
                    "The Chair: Order.\nMs. A: Thank you.",
                    "",
                    "meeting_0#43-44",
                    {
                        "meeting": "meeting_0",
                        "first_turn": 43,
                        "speakers": ["The Chair", "Ms. A"],
                        "record_id": "meeting_0#43-44",
                    },
                )
            ],
        ),
        (
            CONTRACTS,
            [
                Draft(
                    "AGREEMENT\nbetween 1) A and 2) B",
                    "09-24 NDA",
                    "dev3#0",
                    {
                        "title": "09-24 NDA",
                        "contract": "dev3",
                        "first_span": 0,
                        "record_id": "dev3#0",
                    },
                )
            ],
        ),
        (
            ARTICLES,
            [
                Draft(
                    "The Normans were a people.",
                    "Normans",
                    "Normans#0",
                    {"title": "Normans", "record_id": "Normans#0"},
                ),
                Draft(
                    "They became pious.",
                    "Normans",
                    "Normans#1",
                    {"title": "Normans", "record_id": "Normans#1"},
                ),
            ],
        ),
    ],
    ids=["sections", "speeches", "contracts", "articles"],
)
def test_corpora_of_every_shape_are_read(
    tmp_path: Path, name: str, corpus: Records, expected: list[Draft]
) -> None:
    assert read(benchmark(tmp_path, corpus, name)) == expected


def test_a_thousand_records_of_which_one_comes_twice(tmp_path: Path) -> None:
    corpus: Records = [{"_id": f"d{n}", "text": f"Text {n}."} for n in range(1000)]
    folder = benchmark(tmp_path, [*corpus, corpus[4]])
    found = list(BeirReader().read(corpus_file(folder), ""))
    assert len(found) == 1001
    assert found[-1] == Skipped("line 1001: duplicate id 'd4', first at line 5", "d4")


def test_only_the_text_field_is_the_text(tmp_path: Path) -> None:
    folder = benchmark(tmp_path, [{"_id": "a", "body": "x"}, {"_id": "b", "text": ""}])
    assert list(BeirReader().read(corpus_file(folder), "")) == [
        Skipped(
            "line 1: no field `text`; the fields are `_id`, `body`: name the text with "
            "`--text-column`",
            "a",
        ),
        Skipped("line 2: it holds no text", "b"),
    ]


def test_other_files_of_a_benchmark_are_no_corpora(tmp_path: Path) -> None:
    folder = benchmark(tmp_path, ARTICLES, queries__jsonl="{}")
    assert list(BeirReader().read(folder / "queries.jsonl", "")) == [
        Skipped("not a corpus: only corpus.jsonl and docs.jsonl are read")
    ]


def test_queries_keep_their_answers_and_metadata(tmp_path: Path) -> None:
    records = [
        {
            "id": "q2",
            "text": "In what country?",
            "answers": ["France"],
            "metadata": {"is_impossible": False, "source_doc": "Normans#0"},
        },
        {"_id": "q1", "text": "Who?", "metadata": {"choice": "NotMentioned", "spans": [[1, 2]]}},
    ]
    queries = "".join(f"{json.dumps(record)}\n" for record in records)
    folder = benchmark(tmp_path, ARTICLES, queries__jsonl=queries)
    assert read_queries(folder) == [
        BenchmarkQuery("q1", "Who?", (), {"choice": "NotMentioned", "spans": "[[1, 2]]"}),
        BenchmarkQuery(
            "q2",
            "In what country?",
            ("France",),
            {"is_impossible": False, "source_doc": "Normans#0"},
        ),
    ]


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("broken", "line 1: not JSON"),
        ('{"_id": "q", "text": ""}', "line 1: it holds no text"),
        ('{"_id": "q", "text": "x"}\n{"_id": "q", "text": "y"}', "duplicate id 'q'"),
    ],
)
def test_a_query_that_cannot_be_read_is_an_error(tmp_path: Path, queries: str, said: str) -> None:
    folder = benchmark(tmp_path, ARTICLES, queries__jsonl=queries)
    with pytest.raises(SourceError, match=said):
        read_queries(folder)


@pytest.mark.parametrize(
    "files",
    [
        {"qrels__tsv": "q2\tb\t2\nq1\ta b\t1\nq1\tA\t0\n"},
        {"qrels__tsv": "query-id\tcorpus-id\tscore\nq2\tb\t2\nq1\ta b\t1\nq1\tA\t0\n"},
        {
            "qrels_slash_test__tsv": (
                "query-id\tcorpus-id\tscore\r\nq2\tb\t2\r\n\r\nq1\ta b\t1\r\nq1\tA\t0\r\n"
            )
        },
        {"qrels__txt": "q2\t0\tb\t2\nq1\t0\ta b\t1\nq1\t0\tA\t0\n"},
    ],
    ids=["plain", "header", "beir", "trec"],
)
def test_judgements_are_graded_and_sorted(tmp_path: Path, files: Mapping[str, str]) -> None:
    judged = read_qrels(benchmark(tmp_path, ARTICLES, **files))
    assert judged == {"q1": {"A": 0, "a b": 1}, "q2": {"b": 2}}
    assert [list(judged), list(judged["q1"])] == [["q1", "q2"], ["A", "a b"]]


def test_trec_judgements_may_be_separated_by_blanks(tmp_path: Path) -> None:
    folder = benchmark(tmp_path, ARTICLES, qrels__txt="101 0  FT911-3 -1\n101 0  FT911-2 1\n")
    assert read_qrels(folder) == {"101": {"FT911-2": 1, "FT911-3": -1}}


@pytest.mark.parametrize(
    ("qrels", "said"),
    [
        ("q\td\t1\nq\td\n", "qrels.tsv:2: 2 columns; a judgement has three or four"),
        ("q\td\t1\nq\td\thigh\n", "qrels.tsv:2: the relevance high is no whole number"),
        ("q\td\t1\nq\td\t2\n", "qrels.tsv:2: q and d are judged differently above"),
    ],
)
def test_a_judgement_that_cannot_be_read_is_an_error(tmp_path: Path, qrels: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        read_qrels(benchmark(tmp_path, ARTICLES, qrels__tsv=qrels))


def test_judgements_in_another_encoding_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "qrels.tsv").write_bytes("q\tCafé\t1\n".encode("cp1252"))
    with pytest.raises(SourceError, match=r"qrels\.tsv: not UTF-8 at byte 5"):
        read_qrels(tmp_path)


def test_missing_queries_and_judgements_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no queries at"):
        read_queries(tmp_path)
    with pytest.raises(SourceError, match=r"none of qrels\.tsv, qrels\.txt, qrels/test\.tsv"):
        read_qrels(tmp_path)
