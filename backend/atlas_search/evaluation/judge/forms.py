"""The forms that a judge's replies have; all else is no reply."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1, max_length=4000)]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Statements(_Form):
    """What an answer states, each understandable alone."""

    statements: list[Text] = Field(min_length=1, max_length=200)


class Verdict(_Form):
    """Yes or no on one numbered thing."""

    number: int
    verdict: Literal["yes", "no"]
    reason: str


class Verdicts(_Form):
    """One verdict on each."""

    verdicts: list[Verdict]

    def check_numbers(self, count: int) -> None:
        """Raise ValueError unless each number from 1 to `count` is there once."""
        if sorted(said.number for said in self.verdicts) != list(range(1, count + 1)):
            raise ValueError("the judge does not give one verdict on each")


class Guess(_Form):
    """The question that an answer seems to answer, and whether it commits itself to anything."""

    question: Text
    noncommittal: bool


class Steps(_Form):
    """How to judge by a criterion."""

    steps: list[Text] = Field(min_length=2, max_length=8)


class Mark(_Form):
    """A mark from 0, the worst, to 10."""

    score: float = Field(ge=0, le=10)
    reason: str
