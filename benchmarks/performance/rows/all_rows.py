"""The rows in the order in which they are measured: the store is built first."""

from collections.abc import Callable, Mapping

from benchmarks.performance.records import Record
from benchmarks.performance.rows.answering import embedding, extractive
from benchmarks.performance.rows.building import many_changed, one_changed, whole
from benchmarks.performance.rows.opening import helped, opened
from benchmarks.performance.rows.searching import recall, twenty_corpora, vector_given
from benchmarks.performance.rows.serving import over_http, started
from benchmarks.performance.site import Site

Row = Callable[[Site], list[Record]]

OF_ANY_SIZE: Mapping[str, Row] = {
    "help": helped,
    "embedding": embedding,
    "answer": extractive,
}
OF_EACH_SIZE: Mapping[str, Row] = {
    "build": whole,
    "search": vector_given,
    "recall": recall,
    "open": opened,
    "start": started,
    "http": over_http,
    "one-changed": one_changed,
    "many-changed": many_changed,
    "twenty": twenty_corpora,
}
