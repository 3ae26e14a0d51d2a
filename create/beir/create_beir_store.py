"""Build a collection from the corpora of retrieval benchmarks."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "beir", *sys.argv[1:]])
