"""Build a collection from web pages: saved ones, or those of a list of addresses."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "html", *sys.argv[1:]])
