"""Why a figure is not reached, by record: said on the page when it is not."""

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "search against the original layout": (
        "the original looks through the whole index for each corpus, which is fast in a small one."
    ),
    "build without embedding": (
        "made-up texts have no sentences and are cut word by word, which is much of it; words and "
        "their places take most of the rest."
    ),
    "search, vector given": (
        "up to 400 candidates a corpus get signals; in a large collection the engines alone take "
        "more than the reach."
    ),
    "search, vector given, against its engines alone": (
        "signals, checks and highlights cost the same at any size."
    ),
    "recall@200": "the index of a large corpus is not exact; smaller ones are compared whole.",
    "question embedding, against ONNX Runtime alone": "the floor has the tokens at hand.",
    "search over HTTP": (
        "made-up words have almost twice as many tokens to embed as real ones; HTTP adds two "
        "or three milliseconds."
    ),
    "32 clients that pause: p95 against the mean service time": (
        "requests come at random, so some wait for others."
    ),
    "32 clients that never pause: p95 against the mean service time": (
        "each waits for 31 others; no server reaches 5 with less than seven cores."
    ),
    "extractive answer, beyond its search": (
        "three quotes are embedded, about ten milliseconds each."
    ),
    "one changed document": (
        "every source file is looked at, and every document placed and counted."
    ),
    "growth: search, vector given": (
        "below the size from which the index is asked, every vector is compared."
    ),
    "growth: one changed document": "every source file is looked at, however little has changed.",
    "growth: open a collection": "the index of a corpus large enough to have one is opened.",
    "memory a passage": "what any collection takes weighs most in a small one.",
    "20 corpora against 3 of the same total": (
        "20 corpora have almost seven times as many candidates to measure as three."
    ),
}
