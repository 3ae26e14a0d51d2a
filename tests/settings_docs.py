"""`python -m tests.settings_docs` writes every setting into `docs/settings.md` and `.env.example`.

Names, defaults and meanings are those of the classes; `tests/test_docs.py` holds both files to it.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from dotenv import dotenv_values
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from atlas_search.core.settings import Settings
from atlas_search.core.targets import Target
from tests.places import ROOT

PAGE = ROOT / "docs" / "settings.md"
EXAMPLE = ROOT / ".env.example"
DEFAULT = str(Settings.model_fields["test_target"].default)
SET = tuple(dotenv_values(ROOT / "targets" / f"{DEFAULT}.txt"))
"""What the file of the default target sets."""

SECTIONS: Mapping[str, type[BaseModel]] = {"Variables": Settings, "Target keys": Target}
"""The headings of the page below which a list stands, and the class whose fields it has."""

_ITEMS = r"(^## {}\n(?:(?!^## |^- ).*\n)*)(?:^- .*\n)*"
_REMARKS: Mapping[str, str] = {
    "Variables": "Copy to .env and change what you need. All have a default; no key is needed.",
    "Target keys": "What a target file may set can also be set here; a value has no effect where "
    f"the target file sets it.\n# {DEFAULT}.txt sets {', '.join(SET)}:\n# for answers by a model "
    "choose a target, TEST_TARGET=k5_mistral or TEST_TARGET=k5_openai, instead.",
}


def page(text: str) -> str:
    """The page with its lists as the classes have them."""
    for heading, model in SECTIONS.items():
        text, lists = re.subn(
            _ITEMS.format(heading),
            lambda found, model=model: found[1] + _list(model),
            text,
            flags=re.MULTILINE,
        )
        if lists != 1:
            raise ValueError(f"{PAGE}: there is no one heading `## {heading}`.")
    return text


def example() -> str:
    """`.env.example`: every setting with its default, commented out below its meaning."""
    paragraphs = []
    for heading, model in SECTIONS.items():
        paragraphs.append(f"# {_REMARKS[heading]}")
        paragraphs += [
            f"# {field.description}{_vain(name)}\n# {name.upper()}={default(field)}"
            for name, field in model.model_fields.items()
        ]
    return "\n\n".join(paragraphs) + "\n"


def _vain(name: str) -> str:
    return f" (no effect with {DEFAULT}, which sets it)" if name.upper() in SET else ""


def default(field: FieldInfo) -> str:
    """A default as it is written in `.env`; nothing stands for a secret or for no value."""
    value = field.default
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Path) and value.is_absolute():
        return str(value.relative_to(ROOT))
    return str(value)


def item(name: str, field: FieldInfo) -> tuple[str, str]:
    """A setting as the page shows it, with its default as in `.env`, and its meaning."""
    value = default(field)
    return f"`{name.upper()}{f'={value}' if value else ''}`", str(field.description)


def _list(model: type[BaseModel]) -> str:
    items = (item(name, field) for name, field in model.model_fields.items())
    return "".join(f"- {setting}: {meaning}\n" for setting, meaning in items)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    EXAMPLE.write_text(example(), encoding="utf-8")
