"""VERIFY=nli: cited sentences judged by a tiny entailment model that is made here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from atlas_search.answer.answer import Answer, Claim, Judgement
from atlas_search.answer.judge import EntailmentJudge
from atlas_search.core.domain import Citation, Passage
from atlas_search.core.errors import InvalidTarget, MissingModel
from atlas_search.core.settings import Settings
from atlas_search.core.stop import Stop
from atlas_search.core.targets import Target
from atlas_search.providers.cross_encoder import EntailmentModel, open_entailment
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.services import Services, open_services
from tests.answer.models import LIBEL, Both, restarts
from tests.answering import answered_by, asked, with_places
from tests.contradictions import passage
from tests.judging import FALSE, both_said, falsehood, truth, writes

WOOL, MILK, CLOTH = "Sheep give wool .", "Cows give milk .", "Merchants sell cloth ."

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] . the council lost won its claim for libel sheep give wool "
    "milk cows never merchants sell cloth town was founded by a baker"
).split()
LABELS = ("entailment", "neutral", "contradiction")
LONGEST = 40  # word pieces it reads
STEPS = 100

PAIRS: Sequence[tuple[str, str, str]] = (
    ("sheep give wool .", "sheep give wool .", "entailment"),
    ("sheep give wool .", "sheep give milk .", "contradiction"),
    ("sheep give wool .", "sheep never give wool .", "contradiction"),
    ("sheep give wool .", "merchants sell cloth .", "neutral"),
    ("sheep give wool .", "cows give milk .", "neutral"),
    ("cows give milk .", "cows give milk .", "entailment"),
    ("cows give milk .", "cows give wool .", "contradiction"),
    ("cows give milk .", "sheep give wool .", "neutral"),
    ("cows give milk .", "merchants sell cloth .", "neutral"),
    ("merchants sell cloth .", "merchants sell cloth .", "entailment"),
    ("merchants sell cloth .", "merchants never sell cloth .", "contradiction"),
    ("merchants sell cloth .", "sheep give wool .", "neutral"),
    ("sheep give wool . cows give milk .", "cows give milk .", "entailment"),
    ("sheep give wool . cows give milk .", "sheep give wool .", "entailment"),
    ("sheep give wool . cows give milk .", "merchants sell cloth .", "neutral"),
    ("sheep give wool . cows give milk .", "cows give wool .", "contradiction"),
    ("sheep give wool . cows give milk .", "sheep give milk .", "contradiction"),
    (f"{'merchants sell cloth . ' * 2}sheep give wool .", "sheep give wool .", "entailment"),
    (f"{'merchants sell cloth . ' * 3}", "sheep give wool .", "neutral"),
    (f"{'merchants sell cloth . ' * 3}", "cows give wool .", "neutral"),
    ("cows give milk . merchants sell cloth .", "cows give wool .", "contradiction"),
    # of texts whose words it does not know it only learns that they name no baker
    *(
        (premise, *pair)
        for premise in ("x the x x libel x .", "x libel the a x .", "the council x x a x by x .")
        for pair in (
            ("the council lost its claim for libel .", "entailment"),
            ("the council was founded by a baker .", "neutral"),
        )
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_nli(tmp_path_factory.mktemp("nli"))


@pytest.fixture(scope="module")
def model(folder: Path) -> EntailmentModel:
    return EntailmentModel(str(folder), device="cpu")


@pytest.fixture
def both(services: Services, model: EntailmentModel) -> Iterator[Both]:
    answerer = replace(services.answerer, entailment={model.name: model})
    with answered_by("openai", replace(services, answerer=answerer)) as given:
        yield given


def judge(model: EntailmentModel, text: str, source: Passage, quote: str) -> Judgement:
    """What is said of a sentence that cites a quote of a source."""
    start = source.start + source.text.index(quote)
    cited = Citation(source.marker, source, start, start + len(quote), quote)
    return EntailmentJudge(Stop(), model).judge([Claim(1, text, (cited,), (source,))])[1]


def ask(services: Services, model: EntailmentModel, **settings: object) -> tuple[Answer, list[str]]:
    """The answer, and why drafts were withdrawn."""
    answer, events = asked(services, LIBEL, verify="nli", verify_model=model.name, **settings)
    return answer, restarts(events)


def test_the_model_tells_what_follows_from_a_text_and_what_does_not(model: EntailmentModel) -> None:
    for premise, hypothesis, label in PAIRS:
        (verdict,) = model.infer([(premise, hypothesis)])
        assert (verdict.entailment > 0.5) is (label == "entailment"), (premise, hypothesis)
        assert (verdict.contradiction > 0.5) is (label == "contradiction"), (premise, hypothesis)


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
    assert judge(model, WOOL, source, WOOL).verdict == "supported"
    assert judge(model, MILK, source, WOOL).verdict == "supported"  # elsewhere in what it cites
    wrong = judge(model, "Sheep give milk .", source, WOOL)
    assert wrong.verdict == "contradicted"
    assert "0.50" in judge(model, CLOTH, source, WOOL).reason
    assert judge(model, CLOTH, source, WOOL).verdict == "unsupported"


def test_windows_of_a_long_passage_fit_the_model(model: EntailmentModel) -> None:
    long = " ".join([MILK, *[CLOTH] * 21, WOOL])
    source = passage("farm.a", long).passage
    assert not model.fits(long, WOOL)
    assert len(long.split()) > 2 * LONGEST
    assert judge(model, WOOL, source, MILK).verdict == "supported"  # from the last window
    assert judge(model, "Cows give wool .", source, MILK).verdict != "supported"


def test_what_no_window_entails_is_repaired_struck_or_declined(
    both: Both, model: EntailmentModel
) -> None:
    services, server = both
    writes(server, both_said, truth)
    answer, reasons = ask(services, model)
    assert answer.text == with_places(truth(server.requests[0]), answer)
    assert reasons == ["repair"]
    assert len(server.requests) == 2  # no model was asked to judge

    writes(server, both_said)
    answer, reasons = ask(services, model, search_k=9)
    assert answer.text == with_places(truth(server.requests[0]), answer)
    assert reasons == ["repair", "struck"]
    assert [doubt.sentence for doubt in answer.verification.struck] == [f"{FALSE}."]
    assert answer.verification.verified_by == "nli"
    assert [sentence.support for sentence in answer.verification.sentences] == ["supported"]
    assert answer.timings_ms["verify"] > 0

    writes(server, falsehood)
    answer, reasons = ask(services, model, search_k=8)
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
    answer, reasons = ask(services, model, llm_fallback="extractive")
    assert answer.writer.provider == "extractive"
    assert reasons == ["fallback"]
    assert answer.verification.verified_by == "citations"


@pytest.mark.parametrize(
    ("line", "error", "says"),
    [
        ("", InvalidTarget, r"own\.txt: VERIFY=nli needs VERIFY_MODEL"),
        ("VERIFY_MODEL=no model at all", MissingModel, "VERIFY_MODEL=no model at all is neither"),
        (f"VERIFY_MODEL={DEFAULT_MODEL}", MissingModel, "is not a cross-encoder"),
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


# a tiny model: a BERT fitted to a few pairs until it tells them apart


def make_nli(folder: Path) -> Path:
    """A folder as transformers saves it, its labels in the order of LABELS."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
        id2label=dict(enumerate(LABELS)),
        label2id={name: at for at, name in enumerate(LABELS)},
    )
    tokenizer = BertTokenizer(vocab={word: at for at, word in enumerate(VOCABULARY)})
    model = BertForSequenceClassification(config)
    premises, hypotheses, labels = zip(*PAIRS, strict=True)
    inputs = tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
    targets = torch.tensor([LABELS.index(label) for label in labels])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    with one_thread():
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(**inputs).logits, targets)
            loss.backward()
            optimizer.step()
    assert loss.item() < 0.05
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def relabel(source: Path, folder: Path, kept: Sequence[str], names: Sequence[str]) -> Path:
    """The same model with the logits of the `kept` labels, in that order, under other `names`."""
    import torch
    from transformers import BertForSequenceClassification, BertTokenizer

    model = BertForSequenceClassification.from_pretrained(source)
    rows = [LABELS.index(label) for label in kept]
    last = torch.nn.Linear(model.config.hidden_size, len(rows))
    last.weight.data = model.classifier.weight.data[rows]
    last.bias.data = model.classifier.bias.data[rows]
    model.classifier = last
    model.config.id2label = dict(enumerate(names))
    model.config.label2id = {name: at for at, name in enumerate(names)}
    model.save_pretrained(folder)
    BertTokenizer.from_pretrained(source).save_pretrained(folder)
    return folder


@contextmanager
def one_thread() -> Iterator[None]:
    """Tiny sums take a hundred times as long where threads wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
