"""Build a collection from the corpora of retrieval benchmarks."""

from create.beir.read import BeirReader
from create.command import run, store_command


def beir_reader() -> BeirReader:
    """Build a collection from benchmark folders (corpus.jsonl or docs.jsonl), each a corpus."""
    return BeirReader()


create_beir_store = store_command("beir", beir_reader)

if __name__ == "__main__":
    run(create_beir_store)
