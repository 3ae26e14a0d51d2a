"""A word means one thing in the whole package, and a docstring begins with a verb or a noun."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import atlas_search

PACKAGE = Path(atlas_search.__file__).parent
OPENINGS = re.compile(r"(What|Whether|How|Those|That|The same|Of so many|Likewise|See|Which|Why)\b")
"""Beginnings that make a reader wait for what is meant."""


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the package by its path."""
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def test_no_two_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for path, module in modules().items():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path)
    del homes["AtlasRetriever"]  # of each library, by the name that its users look for
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def test_docstrings_begin_with_a_verb_or_a_noun() -> None:
    faults = [
        f"{path}:{getattr(node, 'lineno', 1)}: {text.partition(chr(10))[0]}"
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node) or "")
        and OPENINGS.match(text)
    ]
    assert faults == []
