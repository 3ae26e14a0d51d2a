"""The rules of a gate, from a TOML file: a table for each slice, a line for each figure.

alpha = 0.05

[all]
recall = { min = 0.95, significant = true }
"ndcg@10" = { max_drop = 0.02 }

[category.paraphrase]
answered = { min = 0.6 }
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from atlas_search.core.errors import SourceError
from atlas_search.evaluation.comparison.differences import ALPHA
from atlas_search.evaluation.comparison.slices import ALL, CATEGORY, CORPUS


class Needs(BaseModel):
    """What a figure must be: `min` and `max` are bounds of its mean over a run.

    By `max_drop` at most it may be worse than the baseline, and with `significant` not worse by
    more than chance.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    min: float | None = None
    max: float | None = None
    max_drop: float | None = Field(None, ge=0)
    significant: bool = False

    @property
    def against(self) -> bool:
        """Whether it needs a baseline."""
        return self.max_drop is not None or self.significant


@dataclass(frozen=True)
class Rule:
    """What a figure must be in a slice."""

    slice: str
    figure: str
    needs: Needs


@dataclass(frozen=True)
class Rules:
    """All rules, one at least, in the order of slices and the file; `alpha` is for their number."""

    rules: tuple[Rule, ...]
    alpha: float = ALPHA

    @property
    def compared(self) -> set[str]:
        """The figures that are held to a baseline."""
        return {rule.figure for rule in self.rules if rule.needs.against}


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    alpha: float = Field(ALPHA, gt=0, lt=1)
    all: dict[str, Needs] = {}
    corpus: dict[str, dict[str, Needs]] = {}
    category: dict[str, dict[str, Needs]] = {}


def read_rules(path: Path) -> Rules:
    """Raises SourceError if it is no file of rules, or holds one that nothing could fail."""
    file = _read(path)
    named = {ALL: file.all}
    named |= {f"{CORPUS}.{name}": figures for name, figures in file.corpus.items()}
    named |= {f"{CATEGORY}.{name}": figures for name, figures in file.category.items()}
    rules = [
        Rule(slice_, figure, needs)
        for slice_, figures in named.items()
        for figure, needs in figures.items()
    ]
    if not rules:
        raise SourceError(f"{path} holds no rule, and a gate that checks nothing is open.")
    for rule in rules:
        if not (rule.needs.against or rule.needs.min is not None or rule.needs.max is not None):
            raise SourceError(
                f"{path}: {rule.slice}: {rule.figure} needs one of min, max, max_drop or "
                "significant = true."
            )
    return Rules(tuple(rules), file.alpha)


def _read(path: Path) -> _File:
    try:
        return _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} is not valid TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise SourceError(f"{path}: `{where}`: {first['msg']}.") from error
