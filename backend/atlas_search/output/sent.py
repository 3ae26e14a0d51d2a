"""Documents that are always sent whole, and may have been written by an earlier version."""

from typing import Any

from pydantic import BaseModel, ConfigDict


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


class Sent(BaseModel):
    """Every field is sent. What has a default may be missing from a document that is read."""

    model_config = ConfigDict(json_schema_extra=_all_required)
