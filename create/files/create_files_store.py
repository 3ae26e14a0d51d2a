"""Build a collection from a folder with files of several formats."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "files", *sys.argv[1:]])
