"""What a style is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from atlas_search.output.styles.work import Pin, Work


@dataclass(frozen=True)
class Style:
    """A way to cite. `reference` is a footnote with its place or, where `in_text` puts the place
    into the text, an entry of the list of works. Both mark what is italic."""

    label: str
    reference: Callable[[Work], str]
    in_text: Callable[[Work], str] | None = None


def place(pin: Pin | None, labels: Mapping[str, str]) -> str:
    """A place as the style calls it: `labels` has `page`, `column` and the kinds of locators."""
    if pin is None:
        return ""
    label = labels.get(pin.kind, pin.kind)
    between = "" if not label or label.endswith("[") else " "
    return f"{label}{between}{pin.number}{']' if label.endswith('[') else ''}"


def named(title: str, report: str) -> str:
    """A case with its report: a comma between, unless the report begins with a bracket."""
    if not report:
        return title
    return f"{title}{' ' if report[0] in '[(' else ', '}{report}"
