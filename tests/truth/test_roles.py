"""A sentence that says of others what is asked is no answer."""

from pathlib import Path

import pytest

from atlas_search.answer.quotes.roles import is_of_others
from atlas_search.providers.embedding import Embedder
from tests.truth.collection import closest, collection, said

KILLED = "On the twentieth day, Dudley killed Parker with the agreement of Stephens."
STABBED = "Hirsi stabbed Mr Fyfe to death while Jogee was outside."
CALLED = "Justice Holmes called wiretapping a dirty business in his dissent."
STATED = "Lord Macmillan stated that the categories of negligence are never closed."


@pytest.mark.parametrize(
    ("question", "sentence", "of_others"),
    [
        ("Who killed Parker?", KILLED, False),
        ("Who killed Dudley?", KILLED, True),
        ("Whom did Dudley kill?", KILLED, False),
        ("Whom did Parker kill?", KILLED, True),
        ("Who stabbed Paul Fyfe?", STABBED, False),
        ("Who stabbed Jogee?", STABBED, True),
        ("What did Justice Holmes call wiretapping?", CALLED, False),
        ("What did Justice Brandeis call wiretapping?", CALLED, True),
        ("Did Lord Macmillan say that the categories are never closed?", STATED, False),
        ("Did Lord Buckmaster say that the categories are never closed?", STATED, True),
        # forms that are not read
        ("Who killed Parker?", "Parker was killed by Dudley.", False),
        ("Who represented Clarence Gideon?", "Gideon, who was represented by Turner, won.", False),
        ("Who founded the town?", "John Harvard founded the town.", False),
        ("Who founded the town?", "The town was founded by John Harvard.", False),
        ("Who appointed Justice Holmes?", "President Roosevelt appointed Holmes in 1902.", False),
        ("What killed the sheep?", KILLED, False),
    ],
)
def test_who_does_what_to_whom(question: str, sentence: str, of_others: bool) -> None:
    assert is_of_others(question, sentence) is of_others


def test_what_is_said_of_others_is_closest_and_no_answer(
    tmp_path: Path, embedder: Embedder
) -> None:
    files = {"cases/boat.txt": f"---\ntitle: R v D\n---\n{KILLED}\n"}
    with collection(tmp_path, embedder, files) as atlas:
        right, turned = atlas.ask("Who killed Parker?"), atlas.ask("Who killed Dudley?")
    assert said(right) == [KILLED]
    assert (turned.outcome.decision, closest(turned)) == ("ABSTAIN", [KILLED])
