"""Reading a model's reply that is to be one JSON object."""

import re
from typing import TypeVar

from pydantic import BaseModel

Form = TypeVar("Form", bound=BaseModel)

_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)


def read_json(text: str, form: type[Form]) -> Form:
    """The whole reply as JSON, in a fence or not: JSON that other words stand around is none.

    Raises ValidationError.
    """
    text = text.strip()
    fenced = _FENCED.fullmatch(text)
    return form.model_validate_json(fenced[1] if fenced else text)
