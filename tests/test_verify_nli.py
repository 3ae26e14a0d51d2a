"""VERIFY=nli: cited sentences judged by a tiny entailment model that is made here."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.answer.answer import Answer, Claim, Judgement, Restart
from atlas_search.answer.judge import EntailmentJudge
from atlas_search.core.domain import Citation, Passage
from atlas_search.core.errors import InvalidTarget, MissingModel
from atlas_search.core.settings import Settings
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.cross_encoder import EntailmentModel, open_entailment
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.services import Services, open_services
from tests.answering import answered_by, asked, with_places
from tests.chat_server import ChatServer
from tests.contradictions import passage
from tests.judging import FALSE, both_said, falsehood, truth, writes
from tests.tiny_nli import LABELS, LONGEST, PAIRS, make_nli, relabel

QUESTION = "Can a local authority sue a newspaper for libel?"
WOOL, MILK, CLOTH = "Sheep give wool .", "Cows give milk .", "Merchants sell cloth ."

Both = tuple[Services, ChatServer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_nli(tmp_path_factory.mktemp("nli"))


@pytest.fixture(scope="module")
def model(folder: Path) -> EntailmentModel:
    return EntailmentModel(str(folder), device="cpu")


@pytest.fixture
def both(services: Services, model: EntailmentModel) -> Iterator[Both]:
    answerer = replace(services.answerer, entailment={model.name: model})
    with answered_by("openai", replace(services, answerer=answerer)) as found:
        yield found


def judged(model: EntailmentModel, text: str, source: Passage, quote: str) -> Judgement:
    """What is said of a sentence that cites a quote of a source."""
    start = source.start + source.text.index(quote)
    cited = Citation(source.marker, source, start, start + len(quote), quote)
    judge = EntailmentJudge(Stop(), model)
    return judge.judge([Claim(1, text, (cited,), (source,))]).of[1]


def ask(services: Services, model: EntailmentModel, **settings: object) -> tuple[Answer, list[str]]:
    """The answer, and why drafts were withdrawn."""
    answer, events = asked(services, QUESTION, verify="nli", verify_model=model.name, **settings)
    return answer, [event.reason for event in events if isinstance(event, Restart)]


def test_the_model_tells_what_follows_from_a_text_and_what_does_not(model: EntailmentModel) -> None:
    for premise, hypothesis, label in PAIRS:
        (found,) = model.infer([(premise, hypothesis)])
        assert (found.entailment > 0.5) is (label == "entailment"), (premise, hypothesis)
        assert (found.contradiction > 0.5) is (label == "contradiction"), (premise, hypothesis)


@pytest.mark.parametrize(
    ("kept", "names"),
    [
        (("contradiction", "entailment", "neutral"), ("CONTRADICTION", "ENTAILMENT", "NEUTRAL")),
        (("neutral", "contradiction", "entailment"), ("neutral", "contradictory", "entail")),
    ],
)
def test_labels_are_found_by_their_names_in_any_order(
    folder: Path, tmp_path: Path, model: EntailmentModel, kept: list[str], names: list[str]
) -> None:
    other = EntailmentModel(str(relabel(folder, tmp_path, kept, names)), device="cpu")
    pairs = [(premise, hypothesis) for premise, hypothesis, _ in PAIRS]
    for ours, theirs in zip(model.infer(pairs), other.infer(pairs), strict=True):
        assert theirs == pytest.approx(ours, abs=1e-5)


def test_a_model_of_two_labels_tells_no_contradiction(folder: Path, tmp_path: Path) -> None:
    kept, names = ("entailment", "neutral"), ("entailment", "not_entailment")
    two = EntailmentModel(str(relabel(folder, tmp_path, kept, names)), device="cpu")
    follows, other = two.infer([(WOOL, WOOL), (WOOL, CLOTH)])
    assert follows.entailment > 0.5 > other.entailment
    assert follows.contradiction == other.contradiction == 0


@pytest.mark.parametrize(
    "names",
    [("LABEL_0", "LABEL_1", "LABEL_2"), ("entailment", "neutral", "other"), ("entailment",)],
)
def test_a_model_whose_labels_say_nothing_of_entailment_is_refused(
    folder: Path, tmp_path: Path, names: tuple[str, ...]
) -> None:
    unnamed = relabel(folder, tmp_path, LABELS[: len(names)], names)
    with pytest.raises(MissingModel, match=r"^VERIFY_MODEL=.* tells no entailment: its labels are"):
        EntailmentModel(str(unnamed), device="cpu")


def test_a_sentence_is_held_against_the_quote_and_then_the_rest(model: EntailmentModel) -> None:
    source = passage("farm.a", f"{WOOL} {MILK}").passage
    assert judged(model, WOOL, source, WOOL).verdict == "supported"
    assert judged(model, MILK, source, WOOL).verdict == "supported"  # elsewhere in what it cites
    wrong = judged(model, "Sheep give milk .", source, WOOL)
    assert wrong.verdict == "contradicted"
    assert "0.50" in judged(model, CLOTH, source, WOOL).reason
    assert judged(model, CLOTH, source, WOOL).verdict == "unsupported"


def test_windows_of_a_long_passage_fit_the_model(model: EntailmentModel) -> None:
    long = " ".join([MILK, *[CLOTH] * 21, WOOL])
    source = passage("farm.a", long).passage
    assert not model.fits(long, WOOL)
    assert len(long.split()) > 2 * LONGEST
    assert judged(model, WOOL, source, MILK).verdict == "supported"  # from the last window
    assert judged(model, "Cows give wool .", source, MILK).verdict != "supported"


def test_what_no_window_entails_is_repaired_struck_or_declined(
    both: Both, model: EntailmentModel
) -> None:
    services, server = both
    writes(server, both_said, truth)
    answer, restarts = ask(services, model)
    assert answer.text == with_places(truth(server.requests[0]), answer)
    assert restarts == ["repair"]
    assert len(server.requests) == 2  # no model was asked to judge

    writes(server, both_said)
    answer, restarts = ask(services, model, search_k=9)
    assert answer.text == with_places(truth(server.requests[0]), answer)
    assert restarts == ["repair", "struck"]
    assert [doubt.sentence for doubt in answer.support.struck] == [f"{FALSE}."]
    assert answer.support.verified_by == "nli"
    assert [sentence.support for sentence in answer.verification.sentences] == ["supported"]
    assert answer.timings_ms["verify"] > 0

    writes(server, falsehood)
    answer, restarts = ask(services, model, search_k=8)
    assert (answer.outcome.decision, answer.outcome.code) == ("ABSTAIN", "unsupported")


def test_a_judge_that_cannot_read_sends_no_unverified_answer(
    both: Both, model: EntailmentModel, folder: Path
) -> None:
    services, server = both
    broken = EntailmentModel(str(folder), device="cpu")
    for weights in broken._model.parameters():
        weights.data.fill_(float("nan"))
    services = replace(
        services, answerer=replace(services.answerer, entailment={model.name: broken})
    )
    writes(server, truth)
    answer, restarts = ask(services, model, llm_fallback="extractive")
    assert answer.writer.provider == "extractive"
    assert restarts == ["fallback"]
    assert answer.support.verified_by == "citations"


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("", InvalidTarget, r"own\.txt: VERIFY=nli needs VERIFY_MODEL"),
        ("VERIFY_MODEL=no model at all", MissingModel, "VERIFY_MODEL=no model at all is neither"),
        (f"VERIFY_MODEL={DEFAULT_MODEL}", MissingModel, "is no cross-encoder"),
    ],
)
def test_a_missing_model_is_said_when_the_server_starts(
    settings: Settings, tmp_path: Path, line: str, error: type[Exception], says: str
) -> None:
    (tmp_path / "own.txt").write_text(f"VERIFY=nli\n{line}\n")
    changed = settings.model_copy(update={"targets_directory": tmp_path, "test_target": "own"})
    with pytest.raises(error, match=says):
        open_services(changed)


def test_a_model_is_opened_once_however_many_targets_name_it(
    folder: Path, settings: Settings
) -> None:
    own = Target(verify="nli", verify_model=str(folder))
    targets = {"a": own, "b": own, "c": Target(verify="model")}
    opened = open_entailment(targets, settings)
    assert list(opened) == [str(folder)]
    assert opened[str(folder)].name == str(folder)
