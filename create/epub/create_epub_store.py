"""Build a collection from EPUB files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "epub", *sys.argv[1:]])
