"""Reading a model's reply: JSON of any cut, plain text with short tokens, and what is neither."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.write.reply import Reply, schema_of
from tests.citing import passage

GIVEN = [passage("Grass is green.", 0, 15), passage("Snow.", 0, 5, document="uk.other", page=2)]
TWO = (
    '{"sentences": [{"text": "Grass is\\n \\"green\\".", "passages": [1, 1]}, '
    '{"text": "Snow [2] is not", "passages": [2,1]}]}'
)
READ = 'Grass is "green". [uk.case p1]\nSnow is not [uk.other p2] [uk.case p1]\n'


def read(pieces: Sequence[str]) -> str:
    reply = Reply(GIVEN)
    return "".join([*(reply.add(piece) for piece in pieces), reply.finish()])


@pytest.mark.parametrize("before", ["", " \n", "```json\n", "```\n"])
def test_sentences_come_with_the_tokens_of_their_passages(before: str) -> None:
    assert read([before + TWO]) == READ


@given(st.sampled_from([TWO, f"\n```json\n{TWO}\n```", f"```\n{TWO}```"]), st.data())
def test_where_a_reply_is_cut_into_pieces_does_not_matter(reply: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(reply)), max_size=8))
    assert read([reply[a:b] for a, b in pairwise([0, *sorted(cuts), len(reply)])]) == READ


def test_a_sentence_is_passed_on_as_soon_as_it_is_whole() -> None:
    reply = Reply(GIVEN)
    first = TWO.index("}, ") + 1
    assert reply.add(TWO[:first]) == READ.splitlines(keepends=True)[0]


@pytest.mark.parametrize("none", ['{"sentences": []}', '```json\n{ "sentences" : [ ] }\n```'])
def test_no_sentences_are_no_answer(none: str) -> None:
    assert read([none]) == ""


def test_a_number_that_no_passage_has_becomes_a_token_that_none_has() -> None:
    said = '{"sentences": [{"text": "So.", "passages": [7]}]}'
    assert read([said]) == "So. [passage p7]\n"


def test_short_tokens_in_plain_text_are_those_of_the_passages() -> None:
    said = "Grass [1]. Snow ([2], [1]), see [9] and [note]."
    meant = "Grass [uk.case p1]. Snow ([uk.other p2], [uk.case p1]), see [9] and [note]."
    assert read([said]) == read(list(said)) == meant


@pytest.mark.parametrize(
    "said", ['{"sentence": "Grass."}', '{"sentences": [{"text": "Grass', "The passages do not say."]
)
def test_what_is_neither_is_text_as_it_stands(said: str) -> None:
    assert read([said]) == said


def test_the_schema_leaves_only_the_numbers_that_were_given() -> None:
    (form,) = schema_of(2)["properties"].values()
    assert form["items"]["properties"]["passages"]["items"]["enum"] == [1, 2]
    assert form["items"]["properties"]["passages"]["minItems"] == 1
