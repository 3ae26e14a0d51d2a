"""`python -m backend`: the server."""

from backend.cli import main

if __name__ == "__main__":
    main(["serve"])
