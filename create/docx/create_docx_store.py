"""Build a collection from Word files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "docx", *sys.argv[1:]])
