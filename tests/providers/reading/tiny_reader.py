"""A BERT that is trained here, in seconds, to find what things cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

LONGEST = 32
PRICES = {"wool": "twelve pence", "fish": "three pounds", "salt": "nine crowns"}
FILLERS = "the court held that a market on this day by old rule".split()
VOCABULARY = [
    *"[PAD] [UNK] [CLS] [SEP] [MASK] what did cost ? .".split(),
    *FILLERS,
    *PRICES,
    *"twelve three nine ##y pence pounds crowns".split(),
]
STEPS = 180
"""By then the loss is a thousandth of the first."""


def trained(folder: Path) -> Path:
    """A question-answering model in `folder`, as transformers saves it.

    It answers "what did wool cost ?" from a text with "wool cost twelve pence", and likewise for
    the other PRICES; of a text without that it says that it does not answer.
    """
    import torch
    from transformers import BertForQuestionAnswering

    tokenizer = saved_tokenizer(folder)
    torch.manual_seed(3)
    model = BertForQuestionAnswering(config()).train()
    with one_thread():
        train(model, tokenizer)
    model.eval().save_pretrained(folder)
    return folder


@contextmanager
def one_thread() -> Iterator[None]:
    """So small a model trains ten times slower where threads wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train(model: Any, tokenizer: Any) -> None:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    examples = lessons(Random(5))
    for _ in range(STEPS):
        batch = [next(examples) for _ in range(24)]
        loss = model(**encoded(tokenizer, batch)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def config() -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=LONGEST,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
    )


def saved_tokenizer(folder: Path) -> Any:
    from transformers import BertTokenizer

    tokenizer = BertTokenizer(vocab={word: number for number, word in enumerate(VOCABULARY)})
    tokenizer.save_pretrained(folder)
    return tokenizer


def lessons(random: Random) -> Iterator[tuple[str, str, str]]:
    """Question, text and answer, without end; the answer is empty where the text does not say."""
    while True:
        topic = random.choice(list(PRICES))
        topics = random.sample(list(PRICES), random.randint(0, 2))
        parts = [f"{thing} cost {PRICES[thing]}" for thing in topics]
        parts += [random.choice(FILLERS) for _ in range(random.randint(1, 15))]
        random.shuffle(parts)
        yield f"what did {topic} cost ?", " ".join(parts), PRICES[topic] if topic in topics else ""


def encoded(tokenizer: Any, batch: list[tuple[str, str, str]]) -> dict[str, Any]:
    """The input of a step of training, with the first and the last token of each answer."""
    import torch

    questions, texts, answers = zip(*batch, strict=True)
    tokens = tokenizer(list(questions), list(texts), padding=True, return_tensors="pt")
    starts, ends = [], []
    for row, (text, answer) in enumerate(zip(texts, answers, strict=True)):
        at = text.find(answer)
        first = tokens.char_to_token(row, at, 1) if answer else 0
        last = tokens.char_to_token(row, at + len(answer) - 1, 1) if answer else 0
        starts.append(first)
        ends.append(last)
    return dict(tokens) | {
        "start_positions": torch.tensor(starts),
        "end_positions": torch.tensor(ends),
    }
