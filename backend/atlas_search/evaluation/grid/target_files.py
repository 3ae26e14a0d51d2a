"""Each configuration of a grid as a target file of its own, with which it can be asked again."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from atlas_search.core.targets import Target


def write_targets(folder: Path, targets: Mapping[str, Target], prompts: Path) -> None:
    """Write target files by name, all values in each, with those of `prompts` that they use."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, target in targets.items():
        (folder / f"{name}.txt").write_text(target_file(target), encoding="utf-8")
        prompt = prompts / f"{target.system_prompt}.prompt"
        if prompt.is_file():
            shutil.copyfile(prompt, folder / prompt.name)


def target_file(target: Target) -> str:
    """A target as the text of its file. What has no value is left out."""
    values = target.model_dump().items()
    return "".join(
        f"{key.upper()}={_written(value)}\n" for key, value in values if value is not None
    )


def _written(value: object) -> str:
    if not isinstance(value, str):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'" if value else ""
