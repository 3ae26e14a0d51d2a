"""`atlas eval agreement`: how far those agree who rated the answers of a run."""

from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from atlas_search.cli.ask import print_whole, printable, printable_json
from atlas_search.cli.evaluation.options import RunName
from atlas_search.cli.evaluation.run_folders import run_folder
from atlas_search.cli.options import AsJson
from atlas_search.core.errors import SourceError
from atlas_search.evaluation.folder import RunFolder
from atlas_search.evaluation.people.agreement import (
    ALPHA,
    COHEN,
    FLEISS,
    WEIGHTED,
    Agreement,
    agreements,
)
from atlas_search.evaluation.people.ratings import Ratings, answer_digests

_HEADS = {COHEN: "Cohen", WEIGHTED: "weighted", FLEISS: "Fleiss", ALPHA: "Krippendorff"}


def agreement_command(run: RunName, as_json: AsJson = False) -> None:
    """How far raters agree on each scale, and what they say on average with its 95% interval."""
    folder = run_folder(run)
    ratings = Ratings(folder)
    given = ratings.all(answer_digests(RunFolder(folder).replies()))
    if not given:
        raise SourceError(f"Nobody has rated {folder} yet: `atlas eval rate {run}` opens a page.")
    found = agreements(given, ratings.scales())
    if as_json:
        print(printable_json({"scales": [_plain(one) for one in found]}))
    else:
        _print(found)


def _plain(found: Agreement) -> dict[str, object]:
    return asdict(found) | {"scale": found.scale.model_dump()}


def _print(found: Sequence[Agreement]) -> None:
    console = Console()
    heads = ("raters", "answers", "by several", *_HEADS.values(), "mean", "95%")
    right = [Column(head, justify="right") for head in heads]
    table = Table("scale", *right, box=None, padding=(0, 1, 0, 0))
    for one in found:
        table.add_row(*(escape(str(printable(cell))) for cell in _row(one)))
    print_whole(console, table)
    for one in found:
        for reason in dict.fromkeys(one.missing.values()):
            names = ", ".join(_HEADS[name] for name, why in one.missing.items() if why == reason)
            line = f"{one.scale.name}, no {names}: {reason}"
            console.print(escape(str(printable(line))), highlight=False)


def _row(one: Agreement) -> tuple[str, ...]:
    coefficients = (
        f"{one.coefficients[name]:.3f}" if name in one.coefficients else "-" for name in _HEADS
    )
    counts = (str(len(one.raters)), str(one.items), str(one.shared))
    scale = f"{one.scale.name} ({one.scale.low}-{one.scale.high})"
    if one.mean is None:
        return (scale, *counts, *coefficients, "-", "-")
    mean = one.mean
    return (scale, *counts, *coefficients, f"{mean.mean:.2f}", f"{mean.low:.2f}-{mean.high:.2f}")
