"""Folders that hold a reader, of several families, and those that do not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atlas_search.core.errors import MissingModel
from atlas_search.providers.embedding import DEFAULT_MODEL
from atlas_search.providers.reading import QuestionAnsweringModel, windows
from tests.providers.reading.tiny_reader import VOCABULARY, saved_tokenizer
from tests.tiny import write_sources

pytestmark = pytest.mark.thorough

QUESTION = "what did wool cost"
TEXT = "The wool cost  twelve pence, and a £ of salt\nnine crowns on this day. " * 3


@pytest.fixture
def copied(tiny: Path, tmp_path: Path) -> Path:
    return shutil.copytree(tiny, tmp_path / "model")


def byte_tokenizer(folder: Path, longest: int) -> Any:
    """Byte-level pieces as RoBERTa has them: letters, and the words of some merges."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaTokenizer

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learnt = ByteLevelBPETokenizer()
    learnt.train_from_iterator([TEXT], 290, special_tokens=special, show_progress=False)
    learnt.save_model(str(folder))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    merges: Any = [tuple(line.split()) for line in lines]
    tokenizer = RobertaTokenizer(
        vocab=json.loads((folder / "vocab.json").read_bytes()),
        merges=merges,
        model_max_length=longest,
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def test_a_roberta_reads_too(tmp_path: Path) -> None:
    import torch
    from transformers import RobertaConfig, RobertaForQuestionAnswering

    tokenizer = byte_tokenizer(tmp_path, longest=40)
    torch.manual_seed(2)
    sizes: Any = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    # its positions begin behind that of the padding
    config = RobertaConfig(
        vocab_size=len(tokenizer), max_position_embeddings=42, intermediate_size=16, **sizes
    )
    RobertaForQuestionAnswering(config).save_pretrained(tmp_path)
    reader = QuestionAnsweringModel(str(tmp_path), device="cpu")
    texts = [TEXT, "", "twelve pence"]
    spans, note = reader.read(QUESTION, texts, 1000.0)
    assert (len(spans), note) == (3, "")
    for text, (start, end, score) in zip(texts, spans, strict=True):
        assert text[start:end] == text[start:end].strip()
        assert 0 <= score <= 1


def distilbert() -> Any:
    from transformers import DistilBertConfig, DistilBertForQuestionAnswering

    sizes: Any = {"dim": 16, "hidden_dim": 16, "n_layers": 1, "n_heads": 2}
    return DistilBertForQuestionAnswering(DistilBertConfig(vocab_size=len(VOCABULARY), **sizes))


def xlnet() -> Any:
    from transformers import XLNetConfig, XLNetForQuestionAnsweringSimple

    sizes: Any = {"d_model": 16, "d_inner": 16, "n_layer": 1, "n_head": 2}
    return XLNetForQuestionAnsweringSimple(XLNetConfig(vocab_size=len(VOCABULARY), **sizes))


@pytest.mark.parametrize("made", [distilbert, xlnet])
def test_families_with_other_settings_read_too(made: Callable[[], Any], tmp_path: Path) -> None:
    saved_tokenizer(tmp_path)
    made().save_pretrained(tmp_path)
    reader = QuestionAnsweringModel(str(tmp_path), device="cpu")
    spans, note = reader.read(QUESTION, ["wool cost twelve pence", "court " * 800], 1000.0)
    assert (len(spans), note) == (2, "")


def test_windows_cover_the_text_and_their_places_are_words(tmp_path: Path) -> None:
    cut = windows(byte_tokenizer(tmp_path, longest=40), QUESTION, ["", TEXT], 40)
    assert [window.text for window in cut] == [0] + [1] * (len(cut) - 1)
    assert max(len(window.tokens["input_ids"]) for window in cut) == 40
    assert {window.no_answer for window in cut} == {0}
    found = {place for window in cut for place in window.places}
    covered = {at for start, end in found for at in range(start, end)}
    assert covered == {at for at, character in enumerate(TEXT) if not character.isspace()}
    # a word that has several pieces is given whole, also where a window parts it
    words = {TEXT[start:end] for start, end in found} - {""}
    assert words <= {*TEXT.replace(",", " ").replace(".", " ").split(), ",", "."}


def test_neighbouring_windows_share_half_of_a_window(tiny: Path) -> None:
    tokenizer = saved_tokenizer(tiny)
    text = " ".join(["court"] * 100)
    # [CLS] what did wool cost [SEP], 15 words, [SEP]
    cut = windows(tokenizer, QUESTION, [text], 22)
    first, second = cut[0].places, cut[1].places
    assert len(first) == 15
    assert first[-7:] == second[:7]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("no model at all", "^READER_MODEL=no model at all is neither a folder nor .*downloaded"),
        (DEFAULT_MODEL, "is not a question-answering model"),  # but embeds
        ("empty", r"config\.json cannot be read .*No such file"),
        ("damaged", r"config\.json cannot be read"),
    ],
)
def test_a_folder_without_a_model_is_reported_at_once(
    tmp_path: Path, model: str, message: str
) -> None:
    if model in ("empty", "damaged"):
        files = {"config.json": "{"} if model == "damaged" else {"notes.txt": "Nothing."}
        model = str(write_sources(tmp_path / model, files))
    with pytest.raises(MissingModel, match=message):
        QuestionAnsweringModel(model)


@pytest.mark.parametrize("architectures", [None, [], ["BertModel"]])
def test_a_model_without_a_layer_for_answers_is_not_taken_for_a_reader(
    copied: Path, architectures: object
) -> None:
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
    with pytest.raises(MissingModel, match="is not a question-answering model"):
        QuestionAnsweringModel(str(copied))


def test_damaged_weights_are_reported_when_the_model_is_loaded(copied: Path) -> None:
    (copied / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(MissingModel, match=r"READER_MODEL=.* cannot be loaded"):
        QuestionAnsweringModel(str(copied), device="cpu").load()


def test_weights_without_the_layer_for_answers_are_reported(copied: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(copied / "model.safetensors")
    kept = {name: each for name, each in weights.items() if not name.startswith("qa_outputs")}
    save_file(kept, copied / "model.safetensors", {"format": "pt"})
    with pytest.raises(MissingModel, match=r"lack qa_outputs\.bias, qa_outputs\.weight"):
        QuestionAnsweringModel(str(copied), device="cpu").load()


def test_a_tokenizer_without_a_token_for_no_answer_is_reported(copied: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (copied / name).unlink()
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate(VOCABULARY)}
    plain = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer: Any = PreTrainedTokenizerFast
    tokenizer(tokenizer_object=plain, pad_token="[PAD]").save_pretrained(copied)
    with pytest.raises(MissingModel, match=r"has no \[CLS\] token"):
        QuestionAnsweringModel(str(copied), device="cpu").load()


def test_a_tokenizer_that_does_not_fit_is_reported_when_the_model_is_loaded(copied: Path) -> None:
    from transformers import BertTokenizer

    words = [*VOCABULARY, "is", "text", "question"]
    BertTokenizer(vocab={w: number for number, w in enumerate(words)}).save_pretrained(copied)
    with pytest.raises(MissingModel, match=r"READER_MODEL cannot be used: .*index out of range"):
        QuestionAnsweringModel(str(copied), device="cpu").load()


def test_weights_that_give_no_number_are_reported_when_the_model_is_loaded(copied: Path) -> None:
    from transformers import BertForQuestionAnswering

    model = BertForQuestionAnswering.from_pretrained(copied)
    model.qa_outputs.bias.data.fill_(float("nan"))
    model.save_pretrained(copied)
    with pytest.raises(MissingModel, match=r"cannot be used: .*gives no number"):
        QuestionAnsweringModel(str(copied), device="cpu").load()
