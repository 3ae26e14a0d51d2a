"""Ratings of the answers of a run, kept in its folder.

`scales.json` are the scales that everybody rates on, `ratings.jsonl` what each says of each
answer: a line whenever somebody saves. On each scale the last one counts.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from atlas_search.core.errors import RequestError, SourceError
from atlas_search.documents.answer import AnswerDocument
from atlas_search.evaluation.people.lines import alone, read_lines, replace_lines
from atlas_search.evaluation.people.scales import USUAL, Scale
from atlas_search.evaluation.reply import Reply

RATINGS, SCALES = "ratings.jsonl", "scales.json"
LONGEST_NAME = 60

_SCALES = TypeAdapter(tuple[Scale, ...])


class Rating(BaseModel):
    """What `rater` says of the answer to the question `label_id`: a number on each scale.

    `answer` is the digest of what was answered, for a question can be asked again; empty if it is
    not known.
    """

    model_config = ConfigDict(frozen=True)

    rater: str
    label_id: str
    scores: Mapping[str, int]
    comment: str = ""
    at: datetime
    answer: str = ""


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

    def all(self, answers: Mapping[str, str] | None = None) -> list[Rating]:
        """What each rater says of each answer in the end, by rater and label. Raises SourceError.

        With the digests of `answers` by label, what was said of others is left out.
        """
        path = self.folder / RATINGS
        found: dict[tuple[str, str], Rating] = {}
        for number, line in enumerate(read_lines(path), start=1):
            try:
                rating = Rating.model_validate(json.loads(line))
            except (ValueError, ValidationError) as error:
                raise SourceError(f"{path}: line {number} is no rating: {error}") from error
            if answers and rating.answer not in ("", answers.get(rating.label_id)):
                continue
            key = rating.rater, rating.label_id
            found[key] = _joined(found[key], rating) if key in found else rating
        return [found[key] for key in sorted(found)]

    def of_rater(self, rater: str, answers: Mapping[str, str] | None = None) -> dict[str, Rating]:
        """What one rater has said, by label. Raises SourceError."""
        return {rating.label_id: rating for rating in self.all(answers) if rating.rater == rater}

    def add(self, rating: Rating) -> None:
        """Keep a rating. Raises RequestError for a number that is not on its scale."""
        check_scores(rating.scores, self.scales())
        path = self.folder / RATINGS
        with alone(path):
            replace_lines(path, [*read_lines(path), rating.model_dump_json()])


def answer_digest(answer: AnswerDocument) -> str:
    """What changes with that which a rater is shown of an answer."""
    shown = (answer.decision, answer.answer, answer.reason.message)
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def answer_digests(replies: Mapping[str, Reply]) -> dict[str, str]:
    """Those of the answers of a run, by label."""
    return {id_: answer_digest(one.answer) for id_, one in replies.items() if one.answer}


def _joined(before: Rating, after: Rating) -> Rating:
    """The later rating, with what was said before on scales that it does not have."""
    if before.answer not in ("", after.answer):
        return after
    return after.model_copy(update={"scores": {**before.scores, **after.scores}})


def check_scores(scores: Mapping[str, int], scales: Sequence[Scale]) -> None:
    """Raise RequestError for a scale that there is not, or a number that is not on it."""
    known = {scale.name: scale for scale in scales}
    for name, score in scores.items():
        if name not in known:
            raise RequestError(f"There is no scale {name[:80]!r}.")
        if score not in known[name].steps:
            low, high = known[name].low, known[name].high
            raise RequestError(f"{name} goes from {low} to {high}; {score} is not on it.")
