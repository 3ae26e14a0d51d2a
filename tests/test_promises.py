import pytest

from benchmarks.promises import PAGE, hold, page, promises

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
def test_a_check_that_holds_passes(check: str) -> None:
    hold(check, OUTPUT)


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
        hold(check, OUTPUT)


def test_the_page_is_written_from_the_list() -> None:
    _, documents = promises()
    assert PAGE.read_text(encoding="utf-8") == page(documents)
