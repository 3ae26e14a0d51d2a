"""Build a collection from text and Markdown files."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["create", "txt", *sys.argv[1:]])
