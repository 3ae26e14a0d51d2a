"""The page about metrics is what the code does."""

from atlas_search.evaluation.metrics import METRICS, Tools
from tests.evaluation_docs import PAGE, page
from tests.hash_embedder import HashEmbedder

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_is_written_from_the_metrics() -> None:
    assert page(TEXT) == TEXT


def test_the_depths_are_those_of_the_page() -> None:
    *most, last = Tools(HashEmbedder()).depths
    assert f"k is {', '.join(map(str, most))} and {last}" in TEXT


def test_every_metric_says_what_it_is() -> None:
    for metric in METRICS.values():
        assert metric.of
        assert not metric.description[0].islower()
        assert not metric.description.endswith(".")
