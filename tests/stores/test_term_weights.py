"""A third leg: the weights of terms that a sparse model gives passages.

Its weights are set by hand: it knows that a ship is a boat.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from atlas_search.atlas import Atlas
from atlas_search.core.errors import MissingModel, OutdatedStore
from atlas_search.core.settings import Settings, load_settings
from atlas_search.providers.sparse import EmbedderWithTerms, TermModel
from atlas_search.services import Services, open_services
from atlas_search.stores.term_weights import TERMS, TermTable
from atlas_search.stores.versions import rollback
from tests.hash_embedder import HashEmbedder
from tests.recorded_spans import recording, said, traced_by
from tests.tiny import build_tiny, write_sources

FILES = {
    **{f"sea/{n}.txt": f"The ship lay in the harbour {n}.\n" for n in range(3)},
    **{f"farm/{n}.txt": f"A sheep gave wool {n}.\n" for n in range(3)},
    "farm/yacht.txt": "A ship in the harbour gave wool.\n",
}


WORDS = "ship boat sheep wool the a in harbour gave lay".split()
ALIKE = {"ship": "boat", "sheep": "wool"}
"""A passage with one of these words is about the other, too."""


def save_sparse_model(folder: Path) -> Path:
    """Save an inference-free model: a BERT without layers reads passages, a table questions."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.base.modules import Router, Transformer
    from sentence_transformers.sparse_encoder.modules import SparseStaticEmbedding, SpladePooling
    from transformers import BertConfig, BertForMaskedLM, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    size = len(vocabulary)
    tokenizer = BertTokenizer(
        vocab={word: number for number, word in enumerate(vocabulary)}, model_max_length=32
    )
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=size,
            hidden_size=16,
            num_hidden_layers=0,
            num_attention_heads=1,
            intermediate_size=1,
            max_position_embeddings=32,
            hidden_act="linear",
            tie_word_embeddings=False,
        )
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        # each token is one number, and what it is about is that number and the one it is like
        model.bert.embeddings.word_embeddings.weight.copy_(torch.eye(size, 16) * 4)
        model.bert.embeddings.LayerNorm.weight.fill_(1)
        head = model.cls.predictions
        head.transform.dense.weight.copy_(torch.eye(16))
        head.transform.LayerNorm.weight.fill_(1)
        about = torch.eye(size, 16)
        for word, other in ALIKE.items():
            about[vocabulary.index(other), vocabulary.index(word)] = 0.5
        head.decoder.weight.copy_(about)
        head.decoder.bias.fill_(-1)
        head.decoder.bias[:5] = -9  # no passage is about a mark
    model.save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    weights = torch.tensor([0.0] * 5 + [2.0] * 4 + [0.1] * 2 + [1.0] * 4)
    router = Router.for_query_document(
        query_modules=[SparseStaticEmbedding(tokenizer, weights, frozen=True)],
        document_modules=[
            Transformer(str(folder / "bert"), transformer_task="fill-mask"),
            SpladePooling("max"),
        ],
    )
    SparseEncoder(modules=[router], device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TermModel:
    return TermModel(str(save_sparse_model(tmp_path_factory.mktemp("sparse"))), "cpu")


@pytest.fixture(scope="module")
def embedder(model: TermModel) -> EmbedderWithTerms:
    return EmbedderWithTerms(HashEmbedder(), model)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, embedder: EmbedderWithTerms) -> Settings:
    root = tmp_path_factory.mktemp("stores")
    build_tiny(write_sources(root / "source", FILES), root / "c", embedder)
    return own(root)


@pytest.fixture(scope="module")
def services(settings: Settings, embedder: EmbedderWithTerms) -> Iterator[Services]:
    opened = open_services(settings, embedder)
    yield opened
    opened.close()


def test_a_passage_is_about_more_than_it_says(model: TermModel) -> None:
    ship, nothing, sheep = model.passages(["the ship", "", "sheep"])
    tokens = "[PAD] [UNK] [CLS] [SEP] [MASK] ship boat sheep wool".split()
    assert {"ship", "boat"} == {tokens[n] for n in ship.terms if n < 9}
    assert {"sheep", "wool"} == {tokens[n] for n in sheep.terms}
    assert len(nothing.terms) == 0
    assert (np.diff(ship.terms) > 0).all()
    assert (ship.weights > 0).all()


def test_a_question_is_looked_up_in_a_table(model: TermModel) -> None:
    question = model.question("the boat")
    assert dict(zip(question.terms.tolist(), question.weights.tolist(), strict=True)) == {
        6: pytest.approx(2.0),
        9: pytest.approx(0.1),
    }


def test_a_score_is_a_share_of_what_the_best_would_have(tmp_path: Path) -> None:
    from scipy.sparse import csr_array

    table = TermTable(csr_array(np.array([[2.0, 0, 1], [0, 4, 1], [0, 0, 0]], dtype=np.float32)))
    question = np.array([0, 1, 9]), np.array([3.0, 1, 5], dtype=np.float32)
    # the best of each term: 2, 4, 1; term 9 is no passage's
    assert table.scores(*question).tolist() == pytest.approx([6 / 10, 4 / 10, 0])


def test_passages_that_no_other_leg_finds_are_found_in_each_corpus_alike(
    services: Services,
) -> None:
    result = Atlas(services).search("boat", k=4, explain=True)
    assert result.legs == ("dense", "lexical", "sparse")
    assert {c: of.sparse for c, of in result.per_corpus.items()} == {"farm": 1, "sea": 3}
    assert {c: of.lexical for c, of in result.per_corpus.items()} == {"farm": 0, "sea": 0}
    assert all("ship" in item.passage.text for item in result.passages)
    assert all(item.ranked.signals["sparse"] > 0 for item in result.passages)
    assert result.explained is not None
    assert result.explained[0].legs["sparse"].score > 0
    document = result.to_dict()
    assert document["retrieval"]["legs"] == ["dense", "lexical", "sparse"]
    assert document["retrieval"]["per_corpus"]["sea"]["sparse"] == 3


def test_a_filter_and_the_depth_bind_it_too(services: Services) -> None:
    atlas = Atlas(services)
    within = atlas.search("boat", corpora=["farm"], require=["wool"])
    assert within.per_corpus["farm"].sparse == 1
    target = replace_target(services, large_retrieval_size_all_corpus=2)
    assert Atlas(target).search("boat").per_corpus["sea"].sparse == 2


def replace_target(services: Services, **changes: object) -> Services:
    targets = {n: t.model_copy(update=changes) for n, t in services.targets.items()}
    return replace(services, targets=targets)


@pytest.mark.parametrize("reranker", ["fused", "relative", "rrf"])
def test_every_reranker_knows_it(services: Services, reranker: str) -> None:
    result = Atlas(replace_target(services, reranker=reranker)).search("boat", k=4)
    assert len(result.passages) == 4


def test_its_weight_can_be_none(services: Services) -> None:
    with_it = Atlas(services).search("boat", k=1).passages[0].ranked
    without = Atlas(replace_target(services, weight_sparse=0.0)).search("boat", k=1)
    assert with_it.score > without.passages[0].ranked.score


def test_its_spans_say_what_it_found(services: Services) -> None:
    with recording() as (tracer, recorded):
        Atlas(traced_by(services, tracer)).search("boat")
    (leg,) = recorded.named("sparse sea")
    assert (said(leg)["leg"], said(leg)["candidates"]) == ("sparse", 3)
    assert said(recorded.root("search"))["sparse.farm"] == 1
    assert recorded.named("weigh terms")


def test_a_change_weighs_what_is_new_and_a_rollback_loses_nothing(
    tmp_path: Path, embedder: EmbedderWithTerms
) -> None:
    source, folder = tmp_path / "source", tmp_path / "c"
    build_tiny(write_sources(source, FILES), folder, embedder)
    changed = {**FILES, "sea/0.txt": "A boat.\n"}
    build_tiny(write_sources(source, changed), folder, embedder)
    assert kept(folder) == len(FILES) + 1
    for text in ("Wool.\n", "Sheep.\n"):
        build_tiny(write_sources(source, {**changed, "sea/1.txt": text}), folder, embedder)
    assert kept(folder) == len(FILES) + 2  # three versions were on disk when the last was weighed
    rollback(folder)
    opened = open_services(own(tmp_path), embedder)
    assert Atlas(opened).search("ship").per_corpus["sea"].sparse == 1
    opened.close()


def test_a_model_that_comes_later_embeds_nothing_again(
    tmp_path: Path, embedder: EmbedderWithTerms
) -> None:
    source, vectors = write_sources(tmp_path / "source", FILES), HashEmbedder()
    build_tiny(source, tmp_path / "c", vectors)
    with pytest.raises(OutdatedStore, match=r"has not weighed the terms of 7 of 7 passages"):
        open_services(own(tmp_path), embedder)
    before = vectors.embedded
    report = build_tiny(source, tmp_path / "c", EmbedderWithTerms(vectors, embedder.terms))
    assert (report.unchanged, vectors.embedded) == (True, before)
    open_services(own(tmp_path), embedder).close()


def test_a_damaged_file_is_made_anew(tmp_path: Path, embedder: EmbedderWithTerms) -> None:
    source = write_sources(tmp_path / "source", FILES)
    build_tiny(source, tmp_path / "c", embedder)
    (tmp_path / "c" / TERMS).write_bytes(b"damaged " * 1000)
    with pytest.raises(OutdatedStore, match="atlas create"):
        open_services(own(tmp_path), embedder)
    build_tiny(source, tmp_path / "c", embedder)
    assert kept(tmp_path / "c") == len(FILES)


def test_the_folder_of_no_such_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingModel, match=r"SPARSE_MODEL=.*is neither the folder"):
        TermModel(str(tmp_path))
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "modules.json").write_text(json.dumps([]))
    with pytest.raises(MissingModel, match="cannot be loaded as a sparse encoder"):
        TermModel(str(tmp_path)).question("boat")


def own(root: Path) -> Settings:
    return load_settings(chroma_persist_directory=root, chroma_collection_name="c")


def kept(folder: Path) -> int:
    connection = sqlite3.connect(folder / TERMS)
    (count,) = connection.execute("SELECT count(*) FROM weights").fetchone()
    connection.close()
    return int(count)
