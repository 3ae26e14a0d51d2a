"""Small models of random weights, made here, as folders of each kind."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] query passage : the court held that . rule ##s".split()


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with random weights as transformers saves it; nothing of sentence-transformers."""
    from transformers import BertModel

    return _save(BertModel, tmp_path_factory.mktemp("plain"), 40)


@pytest.fixture(scope="session")
def tiny(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same BERT as a sentence-transformers folder, with mean pooling."""
    return saved(plain, tmp_path_factory.mktemp("tiny"))


def save_cross_encoder(folder: Path, longest: int, labels: int = 1) -> Path:
    """A BERT with random weights that scores pairs of at most `longest` tokens."""
    from transformers import BertForSequenceClassification

    model = BertForSequenceClassification
    return _save(model, folder, longest, num_labels=labels, initializer_range=0.5)


def _save(model: Any, folder: Path, longest: int, **options: Any) -> Path:
    import torch
    from transformers import BertConfig, BertTokenizer

    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=longest,
        **options,
    )
    model(config).save_pretrained(folder)
    words = {word: number for number, word in enumerate(VOCABULARY)}
    BertTokenizer(vocab=words).save_pretrained(folder)
    return folder


def saved(plain: Path, folder: Path, *further: object, pooling: str = "mean") -> Path:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    modules = [Transformer(str(plain)), Pooling(32, pooling), *further, Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save(str(folder))
    return folder


def copy(folder: Path, to: Path) -> Path:
    shutil.copytree(folder, to)
    return to


def edit(path: Path, **changes: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
