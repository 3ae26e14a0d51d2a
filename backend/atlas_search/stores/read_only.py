"""SQLite files that are read and never change."""

from pathlib import Path


def read_only(path: Path) -> str:
    """The address under which SQLite reads a file without a lock, and writes nothing beside it."""
    return f"{path.resolve().as_uri()}?mode=ro&immutable=1"
