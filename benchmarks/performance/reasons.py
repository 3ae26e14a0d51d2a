"""Why a figure is not reached, by record: said on the page when it is not."""

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "search against the original layout": (
        "The original layout looks through the whole index for each corpus, so its time grows with "
        "the collection; in a small one it is quick itself."
    ),
    "build without embedding": (
        "Chroma takes half or more of it: it alone adds 2,300 vectors a CPU second to an index of "
        "20,000, and 1,300 to one of 178,000. The rest is reading, cutting and stemming, the "
        "keyword index, and bringing all of it to disk."
    ),
    "search, vector given": (
        "Beside its engines a search measures the signals of every candidate, of which there are "
        "up to 400 a corpus, and of its neighbours, and checks and highlights the ten it keeps. In "
        "a large collection the engines alone take more than the reach."
    ),
    "search, vector given, against its engines alone": (
        "The signals, the check and the highlights cost the same whatever the size, while the "
        "engines cost next to nothing in a small collection."
    ),
    "recall@200": "The index of a large corpus is not exact; smaller ones are compared whole.",
    "question embedding, against ONNX Runtime alone": (
        "What is added is the tokenizer: the floor has the tokens at hand."
    ),
    "search over HTTP": (
        "It is the search and the embedding of the question, whose made-up words are "
        "almost twice as many tokens as a real one has. In a small collection HTTP adds two or "
        "three milliseconds: looking twice whether a file of the collection has changed, metrics, "
        "checking the request, JSON, and the sockets."
    ),
    "32 clients that pause: p95 against the mean service time": (
        "Requests come at random, so some wait for others although the server has pauses."
    ),
    "32 clients that never pause: p95 against the mean service time": (
        "Each of them waits while 31 others are served: the mean alone is 32 service times "
        "divided by the cores that can be used. No server reaches 5 with less than seven cores."
    ),
    "extractive answer, beyond its search": (
        "The three quotes that are likely to lead are embedded, about ten milliseconds each; how "
        "similar the others are to the question is estimated from their passages."
    ),
    "one changed document": (
        "Every source file is looked at, and every document placed and counted. All else takes "
        "time for what has changed."
    ),
    "a thousand changed documents, against the engines alone": (
        "The engines get words and vectors; a build reads, cuts and analyses the documents first, "
        "and writes records and words, which engines have not."
    ),
    "growth: search, vector given": (
        "From a corpus of some size on the index is asked, whose cost grows slowly; below every "
        "vector is compared, whose cost grows with the corpus. Of the rest, the words of a "
        "question are in more passages."
    ),
    "growth: one changed document": (
        "Every source file is looked at, and every document placed and counted, however little has "
        "changed. In a small collection that is next to nothing."
    ),
    "growth: open a collection": (
        "The index of a corpus of more than 75,000 passages is opened, and its vectors are "
        "counted. Smaller ones are compared without it."
    ),
    "memory a passage": (
        "Half of it are the mapped files of vectors (1.5 KB) and words (.5), which the system "
        "takes back when it needs the memory; most of the rest is Chroma's index, which has the "
        "vectors too. In a small collection the fixed cost of the process, which does not grow, "
        "is divided by few passages."
    ),
    "disk a passage": ("The vectors are there twice, exact and in the Chroma index: 1.5 KB each."),
    "20 corpora against 3 of the same total": (
        "Each corpus gives up to 400 candidates, so 20 corpora have almost seven times as many to "
        "measure as three."
    ),
}
