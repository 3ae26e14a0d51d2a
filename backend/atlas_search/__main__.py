"""`python -m atlas_search`: the server, or what `atlas` does with the same arguments."""

import sys

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(sys.argv[1:] or ["serve"])
