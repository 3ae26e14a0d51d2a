"""`python -m tests.hostile.stuck_build SOURCES FOLDER LOG` builds, and never comes to an end."""

import sys
from dataclasses import replace
from pathlib import Path

from tests.hostile.builds import LIMITS, build_with
from tests.hostile.readers import HostileReader

if __name__ == "__main__":
    sources, folder, log = sys.argv[1:]
    limits = replace(LIMITS, seconds=10_000)
    build_with(HostileReader(log), Path(sources), Path(folder), limits)
