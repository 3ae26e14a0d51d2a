"""Test sets on disk: records, questions and judgements, and which questions are asked."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.evaluation.label_files import BenchmarkQuery, Qrels, read_qrels, read_queries
from atlas_search.readers.tables import CORPUS_FILES
from atlas_search.search.request import Filter
from benchmarks.quality.records import Group, read_groups

Split = Literal["dev", "test", "all"]


@dataclass(frozen=True)
class TestSet:
    """One sub-folder: its documents, the judged questions by id, and their relevant records.

    `filter_fields` are the metadata fields that name where a question is to be answered.
    """

    __test__ = False  # pytest takes the name for a test

    name: str
    path: Path
    groups: tuple[Group, ...]
    queries: tuple[BenchmarkQuery, ...]
    qrels: Qrels
    filter_fields: tuple[str, ...]

    @property
    def records(self) -> int:
        """How many records it has."""
        return sum(len(group.records) for group in self.groups)

    def place(self, query: BenchmarkQuery) -> dict[str, Filter]:
        """The filter under which a question is asked.

        It is the question's own document if the set puts the same questions to each of several.
        """
        if not self._is_repeated:
            return {}
        return {name: (str(query.metadata[name]),) for name in self.filter_fields}

    def unjudged(self) -> list[BenchmarkQuery]:
        """Its questions that no record answers, by id."""
        judged = {query.id for query in self.queries}
        return [query for query in read_queries(self.path.parent) if query.id not in judged]

    @cached_property
    def _is_repeated(self) -> bool:
        return 2 * len({query.text for query in self.queries}) <= len(self.queries)


def read_sets(folder: Path) -> list[TestSet]:
    """Every sub-folder that holds a corpus file, by name.

    Raises SourceError if there is none, or if one cannot be read or names unknown records.
    """
    paths = {
        file.parent: file for name in CORPUS_FILES for file in sorted(folder.glob(f"*/{name}"))
    }
    if not paths:
        raise SourceError(
            f"{folder} has no sub-folder with {' or '.join(CORPUS_FILES)}. Give the folder that "
            "holds the test sets; `benchmarks/quality/__init__.py` says where to get them."
        )
    return [_read_set(parent.name, paths[parent]) for parent in sorted(paths)]


def sampled(queries: Sequence[BenchmarkQuery], limit: int, split: Split) -> list[BenchmarkQuery]:
    """The questions of a split, or `limit` of them, by id; 0 means all.

    Both choices depend on nothing but the questions' ids.
    """
    chosen = [query for query in queries if split in ("all", split_of(query))]
    chosen.sort(key=lambda query: _digest("sample", query))
    return sorted(chosen[: limit or None], key=lambda query: query.id)


def split_of(query: BenchmarkQuery) -> Literal["dev", "test"]:
    """The half a question belongs to. Weights are tuned on `dev` only."""
    return "dev" if _digest("split", query)[0] % 2 == 0 else "test"


def _digest(purpose: str, query: BenchmarkQuery) -> bytes:
    return hashlib.sha256(f"{purpose} {query.id}".encode()).digest()


def _read_set(name: str, path: Path) -> TestSet:
    groups = tuple(read_groups(path))
    qrels = _relevant(read_qrels(path.parent))
    queries = tuple(query for query in read_queries(path.parent) if query.id in qrels)
    owners = {record.key: group for group in groups for record in group.records}
    unknown = sorted({record for found in qrels.values() for record in found} - owners.keys())
    if unknown:
        raise SourceError(f"{path} lacks {len(unknown)} judged records: {', '.join(unknown[:5])}.")
    return TestSet(
        name=check_id(name, str(path.parent)),
        path=path,
        groups=groups,
        queries=queries,
        qrels=qrels,
        filter_fields=_filter_fields(queries, qrels, owners),
    )


def _relevant(qrels: Qrels) -> dict[str, dict[str, int]]:
    relevant = {
        query: {record: grade for record, grade in found.items() if grade > 0}
        for query, found in qrels.items()
    }
    return {query: found for query, found in relevant.items() if found}


def _filter_fields(
    queries: Sequence[BenchmarkQuery], qrels: Qrels, owners: Mapping[str, Group]
) -> tuple[str, ...]:
    """Fields in which each question agrees with the documents of all its relevant records.

    One that has the same value in all documents would filter nothing.
    """
    pairs = [(query, owners[record]) for query in queries for record in qrels[query.id]]
    names = {name for query, _ in pairs for name in query.metadata}
    return tuple(
        name
        for name in sorted(names)
        if all(
            name in query.metadata and query.metadata[name] == group.metadata.get(name)
            for query, group in pairs
        )
        and len({str(group.metadata.get(name)) for group in owners.values()}) > 1
    )
