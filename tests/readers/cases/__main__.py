"""Write what is read of every case anew: `python -m tests.readers.cases`, after a change that is
meant."""

import os
import sys
from pathlib import Path

import pytest

from tests.faces.golden_files import WRITE

if __name__ == "__main__":
    os.environ[WRITE] = "1"
    tests = Path(__file__).parent.with_name("test_cases.py")
    sys.exit(pytest.main([str(tests), "-q", *sys.argv[1:]]))
