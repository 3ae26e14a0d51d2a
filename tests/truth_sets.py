"""Three small invented test sets in the layout of the benchmarks."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from atlas_search.evaluation.label_files import BenchmarkQuery
from tests.benchmarks.quality.sets import split_of

MILLS = {
    "Mills#0": "The windmill at Oldenbrook was built in 1742 by the carpenter Hendrik Vaal. "
    "It ground barley for eleven villages.",
    "Mills#1": "The tide mill at Quenby was owned by Marta Ruskin, who paid 340 crowns for it. "
    "Its wheel was made of elm.",
    "Bells#0": "The bell of Oldenbrook was cast by Josef Amsel in the foundry at Harrow Lane. "
    "It cracked on the day of the harvest fair.",
}
HELD = {
    "Who built the windmill at Oldenbrook?": ("Hendrik Vaal", "Mills#0"),
    "Who owned the tide mill at Quenby?": ("Marta Ruskin", "Mills#1"),
}
NOT_HELD = {"Who cast the bell of Oldenbrook?": ("Aurelius Pemberton", "Bells#0")}
NOWHERE = ("Who painted the lighthouse at Farsund?",)

STORIES = {
    "orchard#0": "The orchard keeper stored his pears in dry sand below the chapel. So it went. "
    "Every barrel of pears was sold to the river pilots before Easter.",
    "orchard#1": "Beekeepers near the orchard moved their hives at night by sledge. So it went. "
    "The hives were wrapped in wet sailcloth against the frost.",
}
TOLD = {
    "Where did the orchard keeper store his pears?": "orchard#0",
    "How did beekeepers near the orchard move their hives?": "orchard#1",
}

CONTRACTS = {
    "ash#0": "The Receiving Party shall return all drawings to the Owner within thirty days.",
    "ash#1": "Any dispute shall be heard by the court of the town of Ash.",
    "birch#0": "The Receiving Party shall return all samples to the Owner on written request.",
    "birch#1": "Any dispute shall be settled by an arbitrator from the guild of coopers.",
}
STATEMENTS = {
    "The Receiving Party shall return what it was given to the Owner.": 0,
    "Any dispute shall be settled by somebody.": 1,
}


def write_sets(folder: Path) -> None:
    """squad2, chunkeval and contractnli below `folder`.

    Both halves of squad2 have two questions that the text answers, one whose gold answer it lacks,
    and one that nothing answers; each half of chunkeval has two, whose gold answers have several
    sentences, and of contractnli both statements, each put to one of the two contracts.
    """
    _write(folder / "squad2", _records(MILLS), list(_about_mills()))
    _write(folder / "chunkeval", _records(STORIES), list(_about_stories()))
    contracts = [
        {**record, "metadata": {"contract": str(record["id"]).partition("#")[0]}}
        for record in _records(CONTRACTS)
    ]
    _write(folder / "contractnli", contracts, list(_about_contracts()))


Query = tuple[dict[str, object], Sequence[str]]
"""A line of queries.jsonl, and the ids of the relevant records."""


def _about_mills() -> Iterator[Query]:
    for half in ("dev", "test"):
        for number, (text, (answer, record)) in enumerate({**HELD, **NOT_HELD}.items()):
            yield _query(f"mill-{number}", half, _again(text, half), [answer]), [record]
        for number, text in enumerate(NOWHERE):
            impossible = {"is_impossible": True}
            yield _query(f"none-{number}", half, _again(text, half), [], impossible), []


def _about_stories() -> Iterator[Query]:
    for half in ("dev", "test"):
        for number, (text, record) in enumerate(TOLD.items()):
            query = _query(f"story-{number}", half, _again(text, half), [STORIES[record]])
            yield query, [record]


def _about_contracts() -> Iterator[Query]:
    for number, (text, place) in enumerate(STATEMENTS.items()):
        for contract, half in zip(("ash", "birch"), ("dev", "test"), strict=True):
            metadata = {"contract": contract, "choice": "Entailment"}
            query = _query(f"{contract}-{number}", half, text, ["Entailment"], metadata)
            yield query, [f"{contract}#{place}"]


def _again(text: str, half: str) -> str:
    """The same question in other words for the other half: equal ones would be asked once."""
    return text if half == "test" else f"Please tell me: {text[0].lower()}{text[1:]}"


def _query(
    key: str,
    half: str,
    text: str,
    answers: Sequence[str],
    metadata: Mapping[str, object] = {},
) -> dict[str, object]:
    ids = (f"{key}-{number}" for number in range(1000))
    own = next(id_ for id_ in ids if split_of(BenchmarkQuery(id_, text, (), {})) == half)
    return {"id": own, "text": text, "answers": [*answers], "metadata": dict(metadata)}


def _records(texts: Mapping[str, str]) -> list[dict[str, object]]:
    return [{"id": i, "title": "", "text": text, "metadata": {}} for i, text in texts.items()]


def _write(folder: Path, records: Sequence[dict[str, object]], asked: Sequence[Query]) -> None:
    folder.mkdir(parents=True)
    for name, rows in (("docs", records), ("queries", [query for query, _ in asked])):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [f"{query['id']}\t{record}\t1\n" for query, found in asked for record in found]
    (folder / "qrels.tsv").write_text("".join(lines))
