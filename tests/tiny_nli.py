"""A tiny entailment model, made here: a BERT fitted to a few pairs until it tells them apart."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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
    given = tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
    wanted = torch.tensor([LABELS.index(label) for label in labels])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    with one_thread():
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(**given).logits, wanted)
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
