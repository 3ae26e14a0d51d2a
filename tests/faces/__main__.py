"""Write all golden files anew: `python -m tests.faces`, after a change that is meant."""

import os
import sys
from pathlib import Path

import pytest

from tests.faces.golden_files import WRITE

if __name__ == "__main__":
    os.environ[WRITE] = "1"
    sys.exit(pytest.main([str(Path(__file__).with_name("test_faces.py")), "-q", *sys.argv[1:]]))
