"""What a judge is told to do, as files beside this module."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Literal

from atlas_search.answer.prompts import VERSION_DIGITS

Rules = Literal["statements", "supported", "useful", "attributed", "guess", "steps", "mark"]


@cache
def rules(name: Rules) -> str:
    """The rules of one kind of call."""
    return (files(__name__) / f"{name}.txt").read_text(encoding="utf-8")


@cache
def version(name: Rules) -> str:
    """A digest of the rules, which changes with every change of them."""
    return hashlib.sha256(rules(name).encode()).hexdigest()[:VERSION_DIGITS]
