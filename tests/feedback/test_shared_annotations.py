"""What several people say of one document is one annotation, in which each counts once."""

import pytest

from atlas_search import Atlas
from atlas_search.server.feedback.delivery import (
    SUPPORT,
    DocumentMark,
    Standing,
    document_annotations,
)
from atlas_search.server.feedback.store import Backing, RatedAnswer, Vote, rated
from tests.access.two_corpora import QUESTION

SPAN = "00f067aa0ba902b7"
YES: Backing = "supports"
NO: Backing = "does_not_support"


@pytest.fixture
def citing_twice(parish: Atlas) -> RatedAnswer:
    """An answer that cites one passage in two places."""
    answer = rated(parish.ask(QUESTION, qa_id="q1"), "", content=True)
    return answer.model_copy(update={"citations": answer.citations[:1] * 2})


def test_who_votes_on_two_citations_of_a_passage_is_one_voter(citing_twice: RatedAnswer) -> None:
    said: dict[str, dict[int, Backing]] = {
        "anna": {1: YES, 2: YES},
        "bert": {1: NO, 2: NO},
        "cleo": {1: YES, 2: NO},
        "dora": {1: NO},
    }
    votes = [Standing(who, Vote(citations=given), frozenset()) for who, given in said.items()]
    place = {citing_twice.citations[0].passage_id: (SPAN, 0)}
    found = document_annotations(citing_twice, votes, place)
    assert found[DocumentMark(SUPPORT, SPAN, 0)]["result"] == {
        "label": "mixed",
        "score": 0.5,
        "explanation": "2 of 4: supports",
    }
