"""Build a collection from PDF files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "pdf", *sys.argv[1:]])
