"""Imbalance over time, as a table that any spreadsheet charts: Phoenix charts no attribute."""

import csv
import json

import pytest

from atlas_search.cli import traces as commands
from atlas_search.cli.main import main
from atlas_search.evaluation.traces import Trace
from tests.traces.made import START, trace_of
from tests.traces.test_depth import Holding

LATER = trace_of(
    1, target="quick", imbalance__kept=0.25, kept__uk=4, kept__us=3, candidates__uk=9, cited__uk=0
)
EARLIER = trace_of(2, target="=1+1", corpus_filter="nz", imbalance__kept=0.0, kept__nz=4)


def listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *traces: Trace
) -> list[dict[str, str]]:
    """What `atlas traces list --csv` prints of a Phoenix that holds these, the last first."""
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding(*traces))
    with pytest.raises(SystemExit) as ended:
        main(["traces", "list", "--csv"])
    assert not ended.value.code
    return list(csv.DictReader(capsys.readouterr().out.splitlines()))


def test_imbalance_is_told_over_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = listed(capsys, monkeypatch, LATER, EARLIER)
    assert (first["started"], second["started"]) == (
        EARLIER.started.isoformat(),
        LATER.started.isoformat(),
    )
    assert second["started"] < START.isoformat()
    assert (first["imbalance.kept"], second["imbalance.kept"]) == ("0.0", "0.25")
    assert first["imbalance.cited"] == ""  # nothing was told
    assert [second[f"kept.{corpus}"] for corpus in ("nz", "uk", "us")] == ["", "4", "3"]
    assert (second["candidates.uk"], second["cited.uk"]) == ("9", "0")
    assert (first["corpus_filter"], second["corpus_filter"]) == ("nz", "all")
    assert first["target"] == "'=1+1"  # which no spreadsheet computes


def test_a_table_of_nothing_has_its_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "open_phoenix", lambda _: Holding())
    with pytest.raises(SystemExit):
        main(["traces", "--csv"])
    (head,) = csv.reader(capsys.readouterr().out.splitlines())
    assert head[0] == "started"
    assert {"imbalance.depth", "imbalance.candidates", "imbalance.kept"} <= {*head}
    assert json.dumps(head).count("kept") == 1
