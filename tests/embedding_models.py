"""Small models of random weights, made here, as folders of each kind."""

import json
import shutil
from pathlib import Path

import pytest

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] query passage : the court held that . rule ##s".split()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with random weights as transformers saves it; nothing of sentence-transformers."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("plain")
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=40,
    )
    BertModel(config).save_pretrained(folder)
    words = {word: number for number, word in enumerate(VOCABULARY)}
    BertTokenizer(vocab=words).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tiny(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same BERT as a sentence-transformers folder, with mean pooling."""
    return saved(plain, tmp_path_factory.mktemp("tiny"))


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
