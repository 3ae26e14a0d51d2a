"""The texts that language models are given, as files beside this module."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from atlas_search.core.errors import InvalidTarget

VERSION_DIGITS = 12


@dataclass(frozen=True)
class Filled:
    """A prompt as a call was made with it: its name, its text, and what was filled in."""

    name: str
    template: Template
    variables: Mapping[str, object]


def version_of(template: Template) -> str:
    """A digest of its text, which changes with every change of it."""
    return hashlib.sha256(template.template.encode()).hexdigest()[:VERSION_DIGITS]


@cache
def prompt(name: str) -> Template:
    """A bundled prompt by its file's name without `.txt`."""
    return Template(
        (files("atlas_search.answer") / "prompts" / f"{name}.txt").read_text(encoding="utf-8")
    )


def rules(name: str, targets: Path) -> Template:
    """The rules a target names: `NAME.prompt` beside the target files, or a bundled prompt.

    `$citation_limit` in them becomes the target's. Raises InvalidTarget.
    """
    own = targets / f"{name}.prompt"
    bundled = files("atlas_search.answer") / "prompts" / f"{name}.txt"
    if own.is_file():
        text = Template(own.read_text(encoding="utf-8"))
    elif bundled.is_file():
        text = prompt(name)
    else:
        raise InvalidTarget(
            f"SYSTEM_PROMPT={name} is neither {own} nor one of the bundled prompts. Write {own}, "
            "or set SYSTEM_PROMPT=system."
        )
    if not text.is_valid() or set(text.get_identifiers()) - {"citation_limit"}:
        raise InvalidTarget(
            f"{own if own.is_file() else name}: only $citation_limit is filled in; write any other "
            "$ as $$."
        )
    return text
