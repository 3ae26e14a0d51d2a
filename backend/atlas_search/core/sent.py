"""The base of every document that the API sends and describes."""

from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict

from atlas_search.core.addresses import is_link, linked_fields
from atlas_search.core.domain import MetadataValue

T = TypeVar("T")


def _require_all(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])
    for field in schema["properties"].values():
        field.pop("default", None)


def sent(kind: type[T]) -> type[T]:
    """Have the description of the API say of a dataclass that every field is sent."""
    kind.__pydantic_config__ = ConfigDict(json_schema_extra=_require_all)  # type: ignore[attr-defined]
    return kind


class Sent(BaseModel):
    """Every field is sent. What has a default may be missing from a document that is read."""

    model_config = ConfigDict(json_schema_extra=_require_all)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as the API sends them."""
        return self.model_dump(mode="json")


def _link(address: str | None) -> str | None:
    return address if is_link(address) else None


Link = Annotated[str | None, AfterValidator(_link)]
"""An address of the web; what is none is read as null."""

Facts = Annotated[dict[str, MetadataValue], AfterValidator(linked_fields)]
"""Metadata of a document, without an address that is no link."""
