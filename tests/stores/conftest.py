"""The collections that building has for its tests."""

from tests.building.conftest import (
    atlas_store,
    built,
    folder,
    hashes,
    source,
    two,
    two_origins,
    whole,
)

__all__ = ["atlas_store", "built", "folder", "hashes", "source", "two", "two_origins", "whole"]
