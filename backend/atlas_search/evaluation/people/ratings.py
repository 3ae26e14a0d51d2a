"""Ratings of the answers of a run, kept in its folder.

`scales.json` are the scales that everybody rates on, `ratings.jsonl` what each says of each
answer: a line whenever somebody saves, of which the last one counts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from atlas_search.core.errors import RequestError, SourceError
from atlas_search.evaluation.people.lines import alone, read_lines, replace_lines
from atlas_search.evaluation.people.scales import USUAL, Scale

RATINGS, SCALES = "ratings.jsonl", "scales.json"
LONGEST_NAME = 60

_SCALES = TypeAdapter(tuple[Scale, ...])


class Rating(BaseModel):
    """What `rater` says of the answer to the question `label_id`: a number on each scale."""

    model_config = ConfigDict(frozen=True)

    rater: str
    label_id: str
    scores: Mapping[str, int]
    comment: str = ""
    at: datetime


@dataclass(frozen=True)
class Ratings:
    """The ratings in the folder of a run. Safe to use from several threads and processes."""

    folder: Path

    def scales(self) -> tuple[Scale, ...]:
        """What is rated; the usual scales before anybody began. Raises SourceError."""
        path = self.folder / SCALES
        if not path.exists():
            return USUAL
        try:
            return _SCALES.validate_json(path.read_text(encoding="utf-8"))
        except (OSError, ValidationError) as error:
            raise SourceError(f"{path} cannot be read as scales: {error}") from error

    def begin(self, scales: Sequence[Scale]) -> None:
        """Rate on these scales. Raises SourceError if one that was rated on has another range."""
        path = self.folder / SCALES
        with alone(path):
            rated = {name for rating in self.all() for name in rating.scores}
            before = {scale.name: scale for scale in self.scales() if scale.name in rated}
            for scale in scales:
                known = before.get(scale.name, scale)
                if known.steps != scale.steps:
                    raise SourceError(
                        f"{scale.name} was rated from {known.low} to {known.high} in {self.folder}."
                        " Give the scale another name."
                    )
            chosen = {scale.name for scale in scales}
            # what was rated keeps its range, so that its agreement can still be computed
            kept = [scale for name, scale in before.items() if name not in chosen]
            replace_lines(path, [_SCALES.dump_json((*scales, *kept), indent=2).decode()])

    def all(self) -> list[Rating]:
        """The last rating of each rater and answer, by rater and label. Raises SourceError."""
        path = self.folder / RATINGS
        found: dict[tuple[str, str], Rating] = {}
        for number, line in enumerate(read_lines(path), start=1):
            try:
                rating = Rating.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise SourceError(f"{path}: line {number} is no rating: {error}") from error
            found[rating.rater, rating.label_id] = rating
        return [found[key] for key in sorted(found)]

    def of_rater(self, rater: str) -> dict[str, Rating]:
        """What one rater has said, by label. Raises SourceError."""
        return {rating.label_id: rating for rating in self.all() if rating.rater == rater}

    def add(self, rating: Rating) -> None:
        """Keep a rating. Raises RequestError for a number that is not on its scale."""
        check_scores(rating.scores, self.scales())
        path = self.folder / RATINGS
        with alone(path):
            replace_lines(path, [*read_lines(path), rating.model_dump_json()])


def check_scores(scores: Mapping[str, int], scales: Sequence[Scale]) -> None:
    """Raise RequestError for a scale that there is not, or a number that is not on it."""
    known = {scale.name: scale for scale in scales}
    for name, score in scores.items():
        if name not in known:
            raise RequestError(f"There is no scale {name[:80]!r}.")
        if score not in known[name].steps:
            low, high = known[name].low, known[name].high
            raise RequestError(f"{name} goes from {low} to {high}; {score} is not on it.")
