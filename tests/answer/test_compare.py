"""Compare mode: every corpus answers for itself, then what they agree and differ about."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atlas_search.answer.answer import References, Restart, Section
from atlas_search.answer.cache import AnswerCache
from atlas_search.answer.compare import agreements_and_differences
from atlas_search.answer.conflicts import Contradiction, _contradiction
from atlas_search.atlas import Atlas
from atlas_search.core.domain import CheckedSentence, Citation
from atlas_search.core.errors import ModelUnavailable
from atlas_search.providers.chat import Usage
from atlas_search.services import Services
from tests.answer.models import MARRIAGE, Both, first_token, one_sentence_each, sections
from tests.answering import asked
from tests.chat_server import Reply, Request, Says
from tests.contradictions import passage
from tests.hash_embedder import HashEmbedder
from tests.servers import app_of
from tests.tiny import build_tiny, write_sources

# by rules


def test_every_corpus_answers_from_its_own_passages(both: Both) -> None:
    services, server = both
    answer, events = asked(services, MARRIAGE, mode="compare", llm_provider="extractive")
    parts = answer.comparison.answers
    assert [part.corpus for part in parts] == list(services.default_corpora) == sections(events)
    answering = [part for part in parts if part.outcome.decision == "ANSWER"]
    assert len(answering) >= 2
    for part in answering:
        cited = {citation.passage.corpus for citation in part.verification.citations}
        assert cited == {part.corpus}
    assert answer.text == "\n\n".join(part.text for part in answering)
    assert answer.verification.answer_grounded
    references = next(event for event in events if isinstance(event, References))
    kept = {item.passage.id for item in references.passages}
    assert {c.passage.id for c in answer.verification.citations} <= kept
    assert server.requests == []


def test_if_no_corpus_answers_the_reasons_of_all_are_given(both: Both) -> None:
    services, server = both
    answer, _ = asked(services, "How is sourdough bread baked?", mode="compare")
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "no_corpus_answers")
    assert all(f"{corpus}: " in answer.outcome.message for corpus in services.default_corpora)
    assert server.requests == []


def test_every_part_has_indices_into_the_citations_and_is_kept(services: Services) -> None:
    answerer = replace(services.answerer, cache=AnswerCache(8, 300))
    client = app_of(Atlas(replace(services, answerer=answerer))).test_client()
    body = {"question": MARRIAGE, "mode": "compare"}
    answer = client.post("/api/ask", json=body).get_json()
    again = client.post("/api/ask", json=body).get_json()
    for part in answer["comparison"]["answers"]:
        for sentence in part["sentences"]:
            for index in sentence["citations"]:
                assert answer["citations"][index]["corpus"] == part["corpus"]
    assert again["cache_hit"]
    assert again["comparison"] == answer["comparison"]


def test_each_further_corpus_adds_the_same_to_what_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[int] = Counter()
    for count in (20, 40):
        files = {
            f"c{corpus}/d{n}.txt": f"The miller of the c{corpus}ton parish may grind {word} corn.\n"
            for corpus in range(count)
            for n, word in enumerate("barley rye oat".split())
        }
        folder = tmp_path / f"of{count}"
        build_tiny(write_sources(tmp_path / f"s{count}", files), folder, HashEmbedder())

        def note(a: Citation, b: Citation, at: int = count) -> Contradiction | None:
            calls[at] += 1
            return _contradiction(a, b)

        monkeypatch.setattr("atlas_search.answer.conflicts._contradiction", note)
        with Atlas.open(folder, embedder=HashEmbedder()) as atlas:
            client = app_of(atlas).test_client()
            body = {"question": "What may the miller grind?", "mode": "compare"}
            answer = client.post("/api/ask", json=body).get_json()
        assert len(answer["comparison"]["answers"]) == count
    assert 0 < calls[40] <= 2 * calls[20]


# by a model


def test_a_model_states_what_corpora_share_and_only_what_can_be_verified_is_kept(
    both: Both,
) -> None:
    services, server = both
    server.says(one_sentence_each)
    answer, _ = asked(services, MARRIAGE, mode="compare")
    (agreement,) = answer.comparison.agreements
    assert agreement.text.startswith("Both say that it is granted [")
    assert len({citation.passage.corpus for citation in agreement.citations}) == 2
    # one of a single corpus, and one that was never found
    assert answer.comparison.differences == ()
    assert answer.writer.usage.prompt_tokens == 11 * len(server.requests)


def test_a_draft_that_is_withdrawn_belongs_to_its_corpus(both: Both) -> None:
    services, server = both
    server.then(Says("Granted [legal_uk.invented p1]."))
    server.says(one_sentence_each)
    answer, events = asked(services, MARRIAGE, mode="compare")
    steps = [event for event in events if isinstance(event, Section | Restart)]
    first = next(p.corpus for p in answer.comparison.answers if p.outcome.decision == "ANSWER")
    assert steps[steps.index(Restart("repair")) - 1] == Section(first)
    assert sections(events) == list(services.default_corpora)


def test_a_model_that_fails_at_the_last_leaves_the_comparison_to_rules(both: Both) -> None:
    services, server = both

    def until_the_last(request: Request) -> Says | Reply:
        return Says(f"Granted {token}.") if (token := first_token(request)) else Reply(500)

    server.says(until_the_last)
    with pytest.raises(ModelUnavailable):
        asked(services, MARRIAGE, mode="compare")
    answer, _ = asked(services, MARRIAGE, mode="compare", llm_fallback="extractive")
    assert answer.outcome.decision == "ANSWER"
    assert answer.writer.fallback is not None
    assert answer.writer.fallback.code == "model_unavailable"
    answering = [p for p in answer.comparison.answers if p.outcome.decision == "ANSWER"]
    prompts = [message for message in answer.context.messages if message.role == "system"]
    assert len(prompts) == len(answering)
    assert answer.writer.usage == Usage(11 * len(answering), 7 * len(answering))


def test_a_comparison_names_all_who_wrote_and_each_corpus_its_own(both: Both) -> None:
    services, server = both

    def once(request: Request) -> Says | Reply:
        first = len(server.requests) == 1
        return Says(f"Granted {first_token(request)}.") if first else Reply(500)

    server.says(once)
    answer, _ = asked(services, MARRIAGE, mode="compare", llm_fallback="extractive")
    written = [part for part in answer.to_dict()["comparison"]["answers"] if part["answer"]]
    others = len(written) - 1
    assert [part["provider"] for part in written] == ["openai", *["extractive"] * others]
    assert [part["fallback"] is None for part in written] == [True, *[False] * others]
    assert answer.writer.provider == "openai + extractive"


# points: where the answers of several corpora agree and differ


def sentence(document: str, text: str, language: str = "en") -> CheckedSentence:
    source = passage(document, text, language=language).passage
    return CheckedSentence(text, (source.cite(0, len(text)),), True)


def all_alike(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


def all_apart(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.eye(len(texts), dtype=np.float32)


YES = sentence("uk.a", "A marriage of same-sex couples is lawful.")
ALSO = sentence("nz.b", "Marriage is lawful for same-sex couples.")
NO = sentence("nz.c", "A marriage of same-sex couples is unlawful.")
SHORT = sentence("uk.a", "Parcels take 14 days.")
LONG = sentence("nz.b", "Parcels take 28 days.")
SHIPS = sentence("nz.b", "Ships must carry lights.")
BARE = CheckedSentence(ALSO.text, (), False)
FOREIGN = sentence("nz.b", ALSO.text, language="de")


def test_what_two_corpora_say_alike_is_an_agreement_in_their_own_words() -> None:
    agreements, differences = agreements_and_differences({"uk": [YES], "nz": [ALSO]}, all_alike)
    assert [point.text for point in agreements] == [
        "uk: “A marriage of same-sex couples is lawful.” [uk.a p1]; "
        "nz: “Marriage is lawful for same-sex couples.” [nz.b p1]."
    ]
    documents = [citation.passage.document_id for citation in agreements[0].citations]
    assert documents == ["uk.a", "nz.b"]
    assert differences == []


@pytest.mark.parametrize(
    ("uk", "nz", "agree", "differ"),
    [
        ([YES], [NO], 0, 1),  # one affirms, the other denies
        ([SHORT], [LONG], 0, 1),  # other numbers of one unit
        ([YES], [SHIPS], 0, 0),  # another subject
        ([YES, NO], [], 0, 0),  # one corpus
        ([YES], [ALSO, NO], 0, 1),  # a sentence stands in one pair only
        ([YES], [BARE, FOREIGN], 0, 0),  # no citation, another language
    ],
)
def test_points_are_pairs_of_sentences_on_one_subject(
    uk: list[CheckedSentence], nz: list[CheckedSentence], agree: int, differ: int
) -> None:
    agreements, differences = agreements_and_differences({"uk": uk, "nz": nz}, all_alike)
    assert (len(agreements), len(differences)) == (agree, differ)
    corpora = [[c.passage.document_id[:2] for c in each.citations] for each in differences]
    assert all(each == ["uk", "nz"] for each in corpora)


def test_sentences_that_are_not_alike_make_no_point() -> None:
    assert agreements_and_differences({"uk": [YES], "nz": [ALSO]}, all_apart) == ([], [])
    assert agreements_and_differences({}, all_alike) == ([], [])
