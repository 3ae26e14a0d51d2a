"""Build a collection from XML files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "xml", *sys.argv[1:]])
