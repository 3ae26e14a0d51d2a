"""Write a list of pinned packages: `python .ci/pins.py FILE REQUIREMENT... [--beside LIST]`.

A line is a package with its version and the hashes of its files for the Pythons and machines that
Atlas runs on, so that `pip install --require-hashes` takes nothing else. Versions stay as FILE has
them; UPGRADE=1 takes newer ones. PyTorch is left out: each of its builds has hashes of its own, and
the machine decides which one it needs, and with which libraries of NVIDIA.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name, parse_wheel_filename

TORCH = """
[[dependency-metadata]]
name = "torch"
version = "2.13.0"
requires-dist = [
    "filelock", "fsspec", "jinja2", "networkx", "setuptools", "sympy", "typing-extensions",
]
"""
"""PyTorch as its builds have it in common: without the libraries of NVIDIA."""

LEFT_OUT = ("torch", "atlas-research-search")
PYTHON = re.compile(r"py3\d*|cp31[123]")
STABLE = re.compile(r"cp3([2-9]|1[0-3])")  # with `abi3`: of this Python or any later one
MACHINE = re.compile(r"any|(manylinux\w*|linux)_(x86_64|aarch64)|macosx_\w+")


def main() -> None:
    """Write the list that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("requirements", nargs="+")
    parser.add_argument("--beside", type=Path, help="a list that is installed before, and agrees")
    arguments = parser.parse_args()
    kept = [] if os.environ.get("UPGRADE") else [arguments.file]
    beside = [arguments.beside] if arguments.beside else []
    others = {name for path in beside for name in names(path)}
    packages = resolved(arguments.requirements, [path for path in kept + beside if path.exists()])
    lines = [line(package) for package in packages if package["name"] not in others]
    # a package for other machines alone has no file left
    arguments.file.write_text("".join(each for each in lines if "--hash" in each))


def names(path: Path) -> list[str]:
    """The packages of a list."""
    return [canonicalize_name(line.partition("==")[0]) for line in path.read_text().splitlines()]


def resolved(requirements: list[str], constraints: list[Path]) -> list[dict[str, Any]]:
    """Every package that the requirements need anywhere, with all of its files."""
    with tempfile.TemporaryDirectory() as folder:
        (settings := Path(folder, "uv.toml")).write_text(TORCH)
        lock = Path(folder, "pylock.toml")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal"]
        command += ["--python-version", "3.11", "--generate-hashes", "--config-file", settings]
        command += [word for path in constraints for word in ("--constraint", path)]
        command += [word for name in LEFT_OUT for word in ("--no-emit-package", name)]
        command += ["--output-file", lock, "-"]
        subprocess.run(command, input="\n".join(requirements), text=True, check=True)
        packages: list[dict[str, Any]] = tomllib.loads(lock.read_text())["packages"]
        return packages


def line(package: dict[str, Any]) -> str:
    """A package as pip reads it."""
    marker = f" ; {package['marker']}" if "marker" in package else ""
    hashes = sorted(f" --hash=sha256:{file['hashes']['sha256']}" for file in files(package))
    return f"{package['name']}=={package['version']}{marker}{''.join(hashes)}\n"


def files(package: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The source of a package, and its wheels for the Pythons and machines that Atlas runs on."""
    if "sdist" in package:
        yield package["sdist"]
    for wheel in package.get("wheels", ()):
        tags = parse_wheel_filename(wheel["url"].rpartition("/")[2])[3]
        if any(fits(tag.interpreter, tag.abi, tag.platform) for tag in tags):
            yield wheel


def fits(python: str, abi: str, machine: str) -> bool:
    """Check the tags of a wheel."""
    pattern = STABLE if abi == "abi3" else PYTHON
    return bool(pattern.fullmatch(python) and MACHINE.fullmatch(machine)) and not abi.endswith("t")


if __name__ == "__main__":
    main()
