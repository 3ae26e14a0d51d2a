"""Build a collection from IIIF manifests and collections."""

from atlas_search.cli.main import create_store

if __name__ == "__main__":
    create_store(__file__)
