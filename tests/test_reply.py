"""Reading a model's reply: JSON of any cut, plain text with short tokens, and what is neither."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.check.markers import MarkedSentence
from atlas_search.answer.write.prompt import StreamedReply, schema_of
from tests.citing import passage

GIVEN = [passage("Grass is green.", 0, 15), passage("Snow.", 0, 5, document="uk.other", page=2)]
TWO = (
    '{"sentences": [{"text": "Grass is\\n \\"green\\".", "passages": [1, 1]}, '
    '{"text": "Snow [2] is not", "passages": [2,1]}]}'
)
READ = [
    MarkedSentence('Grass is "green".', ("[uk.case p1]",)),
    MarkedSentence("Snow is not", ("[uk.other p2]", "[uk.case p1]")),
]


def read(pieces: Sequence[str]) -> list[MarkedSentence]:
    reply = StreamedReply(GIVEN)
    return [*(sentence for piece in pieces for sentence in reply.add(piece)), *reply.finish()]


@pytest.mark.parametrize("before", ["", " \n", "```json\n", "```\n"])
def test_sentences_come_with_the_tokens_of_their_passages(before: str) -> None:
    assert read([before + TWO]) == READ


@given(st.sampled_from([TWO, f"\n```json\n{TWO}\n```", f"```\n{TWO}```"]), st.data())
def test_where_a_reply_is_cut_into_pieces_does_not_matter(reply: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(reply)), max_size=8))
    assert read([reply[a:b] for a, b in pairwise([0, *sorted(cuts), len(reply)])]) == READ


def test_a_sentence_is_passed_on_as_soon_as_it_is_whole() -> None:
    reply = StreamedReply(GIVEN)
    first = TWO.index("}, ") + 1
    assert reply.add(TWO[:first]) == READ[:1]


@pytest.mark.parametrize("none", ['{"sentences": []}', '```json\n{ "sentences" : [ ] }\n```'])
def test_no_sentences_are_no_answer(none: str) -> None:
    assert read([none]) == []


def test_a_number_that_no_passage_has_becomes_a_token_that_none_has() -> None:
    said = '{"sentences": [{"text": "So.", "passages": [7]}]}'
    assert read([said]) == [MarkedSentence("So.", ("[passage p7]",))]


def test_a_token_within_a_sentence_is_one_of_it() -> None:
    said = '{"sentences": [{"text": "So [1] it [uk.no p3] is.", "passages": []}]}'
    assert read([said]) == [MarkedSentence("So it is.", ("[uk.case p1]", "[uk.no p3]"))]


def test_short_tokens_in_plain_text_are_those_of_the_passages() -> None:
    said = "Grass [1]. Snow ([2], [1]), see [9] and [note]."
    assert (
        read([said])
        == read(list(said))
        == [
            MarkedSentence("Grass.", ("[uk.case p1]",)),
            MarkedSentence("Snow, see [9] and [note].", ("[uk.other p2]", "[uk.case p1]")),
        ]
    )


@pytest.mark.parametrize("said", ['{"sentence": "Grass."}', '{"sentences": [{"text": "Grass'])
def test_what_is_neither_cites_nothing(said: str) -> None:
    assert [sentence.markers for sentence in read([said])] == [()]


def test_the_schema_leaves_only_the_numbers_that_were_given() -> None:
    (form,) = schema_of(2)["properties"].values()
    assert form["items"]["properties"]["passages"]["items"]["enum"] == [1, 2]
    assert form["items"]["properties"]["passages"]["minItems"] == 1
