"""Benchmarks: their corpora, queries and judgements."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.label_files import BenchmarkQuery, read_qrels, read_queries
from atlas_search.readers import Draft, Skipped
from atlas_search.readers.tables import BeirReader
from tests.readers.conftest import Reads
from tests.source_files import write_files
from tests.tiny import write_sources

# one record in each of the shapes that published corpora have
SECTION = {"id": "chat#0", "title": "", "text": "One.\n\n- a | b", "metadata": {"start": 0}}
SPEECH = {
    "id": "meeting_0#43-44",
    "title": "",
    "text": "The Chair: Order.\nMs. A: Thank you.",
    "metadata": {"first_turn": 43, "speakers": ["The Chair", "Ms. A"]},
}
CONTRACT = {
    "id": "dev3#0",
    "title": "09-24 NDA",
    "text": "AGREEMENT\nbetween 1) A and 2) B ",
    "metadata": {"contract": "dev3"},
}
ARTICLE = {"_id": "Normans#0", "title": "Normans", "text": "The Normans were a people."}


def lines(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("name", ["corpus.jsonl", "docs.jsonl"])
def test_corpora_of_every_shape_are_read(reads: Reads, name: str) -> None:
    assert reads(lines(SECTION, SPEECH, CONTRACT, ARTICLE), name, BeirReader()) == [
        Draft("One.\n\n- a | b", "", "chat#0", {"start": 0, "record_id": "chat#0"}),
        Draft(
            "The Chair: Order.\nMs. A: Thank you.",
            "",
            "meeting_0#43-44",
            {
                "first_turn": 43,
                "speakers": ["The Chair", "Ms. A"],
                "record_id": "meeting_0#43-44",
            },
        ),
        Draft(
            "AGREEMENT\nbetween 1) A and 2) B",
            "09-24 NDA",
            "dev3#0",
            {"title": "09-24 NDA", "contract": "dev3", "record_id": "dev3#0"},
        ),
        Draft(
            "The Normans were a people.",
            "Normans",
            "Normans#0",
            {"title": "Normans", "record_id": "Normans#0"},
        ),
    ]


def test_what_cannot_be_read_of_a_corpus_is_named_with_its_line(reads: Reads) -> None:
    records = [{"_id": f"d{n}", "text": f"Text {n}."} for n in range(100)]
    broken = [records[4], {"_id": "a", "body": "x"}, {"_id": "b", "text": ""}]
    result = reads(lines(*records, *broken), "corpus.jsonl", BeirReader())
    assert len(result) == 103
    assert result[-3:] == [
        Skipped("line 101: duplicate id 'd4', first at line 5", "d4"),
        Skipped(
            "line 102: no field `text`; the fields are `_id`, `body`: call the one with the text "
            "`text`, or name it to `atlas create files` by `--text-column`",
            "a",
        ),
        Skipped("line 103: it holds no text", "b"),
    ]
    assert reads("{}", "queries.jsonl", BeirReader()) == [
        Skipped("not a corpus: only corpus.jsonl and docs.jsonl are read")
    ]


def test_queries_keep_their_answers_and_metadata(tmp_path: Path) -> None:
    queries = lines(
        {
            "id": "q2",
            "text": "In what country?",
            "answers": ["France"],
            "metadata": {"is_impossible": False, "source_doc": "Normans#0"},
        },
        {"_id": "q1", "text": "Who?", "metadata": {"choice": "NotMentioned", "spans": [[1, 2]]}},
    )
    assert read_queries(write_sources(tmp_path / "b", {"queries.jsonl": queries})) == [
        BenchmarkQuery("q1", "Who?", (), {"choice": "NotMentioned", "spans": "[[1, 2]]"}),
        BenchmarkQuery(
            "q2",
            "In what country?",
            ("France",),
            {"is_impossible": False, "source_doc": "Normans#0"},
        ),
    ]


JUDGED = "q2{0}b\t2{1}q1{0}a b\t1{1}q1{0}A\t0{1}"


@pytest.mark.parametrize(
    "files",
    [
        {"qrels.tsv": JUDGED.format("\t", "\n")},
        {"qrels.tsv": "query-id\tcorpus-id\tscore\n" + JUDGED.format("\t", "\n")},
        {"qrels/test.tsv": "query-id\tcorpus-id\tscore\r\n" + JUDGED.format("\t", "\r\n\r\n")},
        {"qrels.txt": JUDGED.format("\t0\t", "\n")},
    ],
    ids=["plain", "header", "beir", "trec"],
)
def test_judgements_are_graded_and_sorted(tmp_path: Path, files: Mapping[str, str]) -> None:
    judgements = read_qrels(write_sources(tmp_path / "b", files))
    assert judgements == {"q1": {"A": 0, "a b": 1}, "q2": {"b": 2}}
    assert [list(judgements), list(judgements["q1"])] == [["q1", "q2"], ["A", "a b"]]


def test_trec_judgements_may_be_separated_by_blanks(tmp_path: Path) -> None:
    files = {"qrels.txt": "101 0  FT911-3 -1\n101 0  FT911-2 1\n"}
    judgements = read_qrels(write_sources(tmp_path / "b", files))
    assert judgements == {"101": {"FT911-2": 1, "FT911-3": -1}}


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"qrels.tsv": b"q\td\t1\nq\td\n"},
         "qrels.tsv:2: 2 columns; a judgement has three or four"),
        ({"qrels.tsv": b"q\td\t1\nq\td\thigh\n"},
         "qrels.tsv:2: the relevance high is no whole number"),
        ({"qrels.tsv": b"q\td\t1\nq\td\t2\n"},
         "qrels.tsv:2: q and d are judged differently above"),
        ({"qrels.tsv": "q\tCafé\t1\n".encode("cp1252")}, r"qrels\.tsv: not UTF-8 at byte 5"),
        ({"other.tsv": b""}, r"none of qrels\.tsv, qrels\.txt, qrels/test\.tsv"),
        ({"queries.jsonl": b"broken"}, "line 1: not JSON"),
        ({"queries.jsonl": b'{"_id": "q", "text": ""}'}, "line 1: it holds no text"),
        ({"queries.jsonl": b'{"_id": "q", "text": "x"}\n{"_id": "q", "text": "y"}'},
         "duplicate id 'q'"),
        ({"no-queries.jsonl": b""}, "no queries at"),
    ],
)  # fmt: skip
def test_queries_and_judgements_that_cannot_be_read_are_errors(
    tmp_path: Path, files: dict[str, bytes], reason: str
) -> None:
    write_files(tmp_path, files)
    read = read_queries if "queries" in "".join(files) else read_qrels
    with pytest.raises(SourceError, match=reason):
        read(tmp_path)
