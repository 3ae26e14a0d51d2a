"""Build a collection from web pages: saved ones, or those of a list of addresses."""

from atlas_search.cli.main import create_store

if __name__ == "__main__":
    create_store(__file__)
