"""What a caller asks, checked once and made a request."""

import pytest

from atlas_search.asking import ask_request, search_request
from atlas_search.core.errors import RequestError
from atlas_search.search.query import MOST_PHRASES
from atlas_search.services import Services

QUESTION = "Can a local authority sue a newspaper for libel?"


def test_a_search_has_no_cap_per_document_and_an_answer_that_of_its_target(
    services: Services,
) -> None:
    assert search_request(services, QUESTION).max_per_document is None
    assert search_request(services, QUESTION, max_per_document=2).max_per_document == 2
    asked = plan_answer(services, AskRequest(question=QUESTION))
    assert asked.search.max_per_document == asked.target.max_passages_per_document == 5
    assert ask_request(services, QUESTION, max_per_document=7).search.max_per_document == 7


def test_phrases_are_passed_on_as_they_are_written(services: Services) -> None:
    request = search_request(services, QUESTION, require=["The Libel"], exclude=["a", "b"])
    assert (request.require, request.exclude) == (("The Libel",), ("a", "b"))


@pytest.mark.parametrize("field", ["require", "exclude"])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("libel", "is a list of phrases: \\['libel'\\]"),
        (["..."], "'...' holds no word"),
        (["a"] * (MOST_PHRASES + 1), "has 21 phrases; at most 20"),
    ],
)
def test_phrases_that_cannot_be_looked_for_are_refused(
    services: Services, field: str, given: object, says: str
) -> None:
    with pytest.raises(RequestError, match=f"{field}.*{says}"):
        search_request(services, QUESTION, **{field: given})  # type: ignore[arg-type]
