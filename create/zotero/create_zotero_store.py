"""Build a collection from Zotero: a folder that it exported, or the library of a running one."""

from atlas_search.cli.main import create_store

if __name__ == "__main__":
    create_store(__file__)
