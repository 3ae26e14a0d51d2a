import pytest

from atlas_search.readers.print import labels_of_pages, page_label


@pytest.mark.parametrize(
    ("written", "label"),
    [
        *[
            ("12", "12"),
            (" Page 12. ", "12"),
            ("[p. 12]", "12"),
            ("pg. xii", "xii"),
            ("23r", "23r"),
        ],
        *[("Plate 3", "Plate 3"), ("p", "p"), ("", ""), ("page", "page"), ("A-7", "A-7")],
    ],
)
def test_a_label_is_the_number_itself(written: str, label: str) -> None:
    assert page_label(written) == label


@pytest.mark.parametrize("labels", [[], [""], ["1", "2", "3"], ["", "2", ""]])
def test_labels_that_only_count_say_nothing(labels: list[str]) -> None:
    assert labels_of_pages(labels) == ()


def test_labels_are_kept_whole_if_one_says_something() -> None:
    assert labels_of_pages(["1", "2", "2a"]) == ("1", "2", "2a")
