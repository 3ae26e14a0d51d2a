"""`python -m atlas_search`: the server."""

from atlas_search.cli.main import main

if __name__ == "__main__":
    main(["serve"])
