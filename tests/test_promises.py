import re
import tomllib

import pytest

from benchmarks.promises import LIST, PAGE, seen

OUTPUT = {"answer": None, "passages": [{"score": 0.5, "id": "a"}, {"score": 0.2, "id": "b"}]}


@pytest.mark.parametrize(
    "check",
    [
        "answer = null",
        "passages/0/score = 0.5",
        "passages/0/score >= 0.4",
        'passages/*/id = ["a", "b"]',
        "passages/length = 2",
        "passages/1/id ~ ^b$",
        "passages",
    ],
)
def test_a_check_that_holds_is_shown(check: str) -> None:
    assert seen(check, OUTPUT) == f"`{check}`"


@pytest.mark.parametrize(
    "check",
    [
        "answer",
        "answer ~ the council",
        "passages/0/score = 0.4",
        "passages/0/id >= 1",
        "passages/2/score",
        "nothing = null",
    ],
)
def test_a_check_that_does_not_hold_fails(check: str) -> None:
    with pytest.raises(AssertionError):
        seen(check, OUTPUT)


def test_the_page_has_the_promises_of_the_list() -> None:
    lists = tomllib.loads(LIST.read_text(encoding="utf-8"))
    lists.pop("files")
    rows = re.findall(r"^\| (?!promise \|)(.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [row["promise"] for listed in lists.values() for row in listed]
