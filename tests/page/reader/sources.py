"""Documents to read."""

import json
from pathlib import Path

from tests.page.papers import PAPER

LONG_PARAGRAPHS = 5000
NEEDLE = "The Überfähre carried naïve façades."
MARKDOWN = """---
title: The harbour book
---
# The 🐟 harbour

Dues are **levied on every *vessel*** that `enters`, as [the act](https://example.org/act) says.
See [here](javascript:alert(1)) and snake_case_words, \\*not emphasised\\*.

## Table of dues

| Vessel | Dues |
|:-------|-----:|
| Lifeboat | **none** |
| Ferry | 12 pounds |

- pilots
  - of the north
  - of the south
- keepers

3. third
4. fourth

> The tide waits
> for no one.

```
<b>kept</b> **as it is**
```

<script>alert(2)</script> is text.
"""

DEBATE = [
    {"section": "Pilots Bill > Second reading", "speaker": "Ms Marlowe"},
    {"section": "Pilots Bill > Second reading", "speaker": "Mr Finch"},
    {"section": "Pilots Bill > Committee", "speaker": "Ms Marlowe"},
    {"section": "Questions", "speaker": "The Speaker"},
]


def write_files(folder: Path) -> None:
    """A PDF, Markdown and a long text."""
    for name, content in {
        "papers/kestrel-point.pdf": PAPER,
        "notes/harbour.md": MARKDOWN.encode(),
        "notes/log.txt": long_text().encode(),
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def long_text() -> str:
    """A megabyte."""
    said = "The keeper wrote of wind and weather, of sails in sight and of the lamp. " * 3
    paragraphs = [f"Entry {number}. {said.strip()}" for number in range(LONG_PARAGRAPHS)]
    paragraphs[LONG_PARAGRAPHS // 2] += f" {NEEDLE}"
    paragraphs[-1] += f" {NEEDLE}"
    return "\n\n".join(paragraphs)


def write_debates(folder: Path) -> None:
    """A debate of several speeches, each of several sentences."""
    parts = [
        {**about, "text": speech(number, about["speaker"])} for number, about in enumerate(DEBATE)
    ]
    path = folder / "debates" / "pilots.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(parts))


def speech(number: int, speaker: str) -> str:
    said = f"Speech {number} of {speaker} on the pilots of the northern fairway. "
    return (
        said + "The fairway is narrow and the tide runs fast. " * 40 + f"So ends speech {number}."
    )
