"""The page about metrics is what the code does."""

import json
import re

from atlas_search.core.logs import JsonLines, log_context
from atlas_search.core.telemetry.metrics import INSTRUMENTS, MOST
from tests.metrics_docs import PAGE, name_for_prometheus, page
from tests.test_logs import record

TEXT = PAGE.read_text(encoding="utf-8")
NAMES = {name_for_prometheus(each) for each in INSTRUMENTS.values()}


def test_the_table_is_written_from_the_instruments() -> None:
    assert page(TEXT) == TEXT
    assert f"at most {MOST} values" in TEXT


def test_the_questions_ask_for_what_there_is() -> None:
    block = re.search(r"```promql\n(.*?)```", TEXT, re.DOTALL)
    assert block
    asked = set(re.findall(r"\b(?:atlas|http|gen_ai|process)_\w+", block[1]))
    known = NAMES | {f"{name}_{part}" for name in NAMES for part in ("bucket", "sum", "count")}
    assert len(asked) >= 5
    assert asked <= known


def test_the_line_of_the_log_has_the_fields_of_a_real_one() -> None:
    block = re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)
    assert block
    with log_context(trace_id="0af7", qa_id="q1", session_id="s1"):
        real = json.loads(JsonLines().format(record("m")))
    assert list(json.loads(block[1])) == [*real, "exception"]
