"""Build a collection from an existing Chroma collection."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "chroma", *sys.argv[1:]])
