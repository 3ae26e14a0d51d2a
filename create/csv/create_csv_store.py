"""Build a collection from CSV and TSV files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "csv", *sys.argv[1:]])
