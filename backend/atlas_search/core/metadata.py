"""The metadata of documents."""

from collections.abc import Mapping
from typing import Any

MetadataValue = str | int | float | tuple[str, ...]
Metadata = Mapping[str, MetadataValue]


def values_of(metadata: Metadata, field: str) -> tuple[str, ...]:
    """Return the values of a field as texts; none if it is not there."""
    stated = metadata.get(field, ())
    return stated if isinstance(stated, tuple) else (str(stated),)


def plain_metadata(metadata: Metadata) -> dict[str, Any]:
    """Metadata as JSON has it: several values are a list."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in metadata.items()
    }
