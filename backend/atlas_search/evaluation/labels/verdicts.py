"""Sets of statements to be checked, whose references are verdicts and not texts."""

import re
from collections.abc import Iterable, Mapping, Sequence

from atlas_search.evaluation.labels import values
from atlas_search.evaluation.labels.names import columns_of
from atlas_search.evaluation.labels.rows import Row

REMARK = (
    "the references are verdicts on statements (supported, refuted, not mentioned): they are not "
    "compared with answers, and what is not mentioned should be declined"
)

# the classes of SNLI, MultiNLI, ContractNLI, FEVER, SciFact and HealthVer
_SPOKEN_OF = {
    *("entailment", "entailed", "contradiction", "contradict", "contradicts", "contradicted"),
    *("support", "supports", "supported", "refute", "refutes", "refuted"),
}
_UNMENTIONED = {"notmentioned", "notenoughinfo", "notenoughinformation", "nei", "neutral"}


def are_verdicts(references: Iterable[str]) -> bool:
    """Whether the references of a whole set, of which there are some, are all verdicts."""
    given = {_plain(reference) for reference in references}
    return bool(given) and given <= _SPOKEN_OF | _UNMENTIONED


def is_unmentioned(references: Sequence[str]) -> bool:
    """Whether the verdict, if there is one, is that the sources say nothing of the statement."""
    return bool(references) and all(_plain(reference) in _UNMENTIONED for reference in references)


def read_verdicts(rows: Sequence[Row]) -> tuple[Sequence[Row], bool]:
    """The rows with `should_answer` in place of verdicts, and whether there were any."""
    meanings = columns_of(name for row in rows for name in row.fields).meanings
    columns = [name for name, meaning in meanings.items() if meaning == "answers"]
    references = [_references(row.fields, columns) for row in rows]
    if not are_verdicts(reference for each in references for reference in each):
        return rows, False
    return [
        Row(row.place, _decided(row.fields, columns, each))
        for row, each in zip(rows, references, strict=True)
    ], True


def _references(fields: Mapping[str, object], columns: Iterable[str]) -> list[str]:
    """What stands in the columns; other things than texts are told when the row is read."""
    found: list[str] = []
    for name in columns:
        value = fields.get(name)
        if not values.is_blank(value):
            try:
                found += values.texts_of(value)
            except ValueError:
                found.append(str(value))
    return found


def _decided(
    fields: Mapping[str, object], columns: Iterable[str], references: Sequence[str]
) -> dict[str, object]:
    rest = {name: value for name, value in fields.items() if name not in columns}
    return rest | {"should_answer": not is_unmentioned(references)} if references else rest


def _plain(reference: str) -> str:
    return re.sub(r"[\W_]+", "", reference).casefold()
