"""Disks that are full, folders that can only be read, and files that may not grow."""

import os
import resource
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """A disk of its own in `folder`, which only the superuser can have."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only the superuser can mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """`folder` can be read only."""
    if os.geteuid():
        paths = [folder, *folder.rglob("*")]
        modes = {path: path.stat().st_mode for path in paths}
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        try:
            yield
        finally:
            for path, mode in modes.items():
                path.chmod(mode)
        return
    for mount in (["--bind", str(folder), str(folder)], ["-o", "remount,ro,bind", str(folder)]):
        if subprocess.run(["mount", *mount], check=False, capture_output=True).returncode:
            pytest.skip("this superuser cannot mount a folder for reading")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as with a quota."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
