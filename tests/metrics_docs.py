"""`python -m tests.metrics_docs` writes every instrument into `docs/metrics.md`.

The names that Prometheus sees are read from a scrape; `tests/server/test_metrics.py` holds the page
to it.
"""

import re

from prometheus_client.parser import text_string_to_metric_families

from atlas_search.core.telemetry.metrics import INSTRUMENTS, Instrument, Metrics
from tests.places import ROOT

PAGE = ROOT / "docs" / "metrics.md"
_ITEMS = r"(^## Instruments\n(?:(?!^## |^- ).*\n)*)(?:^- .*\n)*"


def page(text: str) -> str:
    """The page with its list as the instruments are."""
    text, lists = re.subn(_ITEMS, lambda found: found[1] + _list(), text, flags=re.MULTILINE)
    if lists != 1:
        raise ValueError(f"{PAGE}: there is no one heading `## Instruments`.")
    return text


def name_for_prometheus(instrument: Instrument) -> str:
    """The name under which Prometheus keeps it, and its kind."""
    metrics = Metrics()
    metrics.expose()
    labels = dict.fromkeys(instrument.labels, "one")
    if instrument.kind == "counter":
        metrics.count(instrument.name, labels)
    elif instrument.kind == "histogram":
        metrics.record(instrument.name, labels, 1.0)
    else:
        metrics.observe("docs", {instrument.name: lambda: [(1, labels)]})
    text = metrics.scrape("")[0].decode()
    metrics.close()
    names = {family.name: family.type for family in text_string_to_metric_families(text)}
    ((name, kind),) = [each for each in names.items() if each[0] != "target_info"]
    return f"{name}_total" if kind == "counter" else name


def _list() -> str:
    return "".join(
        f"- `{name_for_prometheus(each)}` ({_brackets(each)}): {each.meaning}\n"
        for each in INSTRUMENTS.values()
    )


def _brackets(instrument: Instrument) -> str:
    """The kind of an instrument, and its labels."""
    kind = "counter" if instrument.kind == "total" else instrument.kind
    return ": ".join([kind, ", ".join(f"`{label}`" for label in instrument.labels)]).rstrip(": ")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
