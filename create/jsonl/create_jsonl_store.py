"""Build a collection from JSON files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "jsonl", *sys.argv[1:]])
