"""A sparse encoder whose weights are set by hand: it knows that a ship is a boat."""

from pathlib import Path

WORDS = "ship boat sheep wool the a in harbour gave lay".split()
ALIKE = {"ship": "boat", "sheep": "wool"}
"""A passage with one of these words is about the other, too."""


def save_sparse_model(folder: Path) -> Path:
    """An inference-free one: passages are read by a BERT without layers, questions by a table."""
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
