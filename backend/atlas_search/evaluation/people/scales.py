"""The scales on which people rate answers."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from atlas_search.core.errors import SourceError

MOST_STEPS = 11
_CHOICE = re.compile(r"([A-Za-z][\w -]{0,39}?)\s*(?::\s*(\d{1,3})\s*-\s*(\d{1,3}))?")


class Scale(BaseModel):
    """Whole numbers from `low` to `high`, of which more is better."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=40)
    low: int = Field(1, ge=0)
    high: int = 5
    description: str = Field("", max_length=500)

    @model_validator(mode="after")
    def _has_steps(self) -> "Scale":
        if not 2 <= len(self.steps) <= MOST_STEPS:
            raise ValueError(f"a scale has 2 to {MOST_STEPS} steps")
        return self

    @property
    def steps(self) -> range:
        """The numbers that can be given."""
        return range(self.low, self.high + 1)


KNOWN: Mapping[str, str] = {
    "relevance": "Does it speak to the question? Lowest: not at all. Highest: to all of it.",
    "accuracy": "Is what it says right? Lowest: wrong. Highest: nothing is wrong.",
    "completeness": "Is what matters there? Lowest: nothing of it. Highest: all.",
    "citations": "Do the quoted words support what they stand behind? Lowest: none. Highest: all.",
    "clarity": "Is it plain to a reader who knows the field? Lowest: not at all. Highest: wholly.",
}
"""What scales mean that are chosen by their name alone."""

USUAL = tuple(Scale(name=name, description=KNOWN[name]) for name in ("relevance", "accuracy"))

_TABLE = TypeAdapter(dict[str, dict[str, int | str]])


def read_scales(text: str) -> tuple[Scale, ...]:
    """Scales by name and range, `relevance,accuracy:1-3`, or of a TOML file.

    In the file a table is a scale, with `low`, `high` and `description`. Raises SourceError.
    """
    path = Path(text)
    scales = _of_file(path) if path.suffix == ".toml" else tuple(map(_choice, text.split(",")))
    names = [scale.name for scale in scales]
    if not scales or len(set(names)) < len(names):
        raise SourceError(f"{text}: name at least one scale, and each once.")
    return scales


def _choice(text: str) -> Scale:
    found = _CHOICE.fullmatch(text.strip())
    if found is None:
        raise SourceError(f"{text.strip()!r} is no scale: write `accuracy` or `accuracy:1-5`.")
    name, low, high = found.groups()
    bounds = {"low": int(low), "high": int(high)} if low else {}
    return _scale({"name": name, "description": KNOWN.get(name, ""), **bounds}, text)


def _of_file(path: Path) -> tuple[Scale, ...]:
    try:
        table = _TABLE.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SourceError(f"{path} cannot be read as scales: {error}") from error
    return tuple(
        _scale({"name": name, "description": KNOWN.get(name, ""), **fields}, str(path))
        for name, fields in table.items()
    )


def _scale(fields: Mapping[str, object], place: str) -> Scale:
    try:
        return Scale.model_validate(fields)
    except ValidationError as error:
        raise SourceError(f"{place}: {error.errors()[0]['msg']}.") from error
