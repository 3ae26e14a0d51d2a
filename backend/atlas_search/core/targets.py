"""`targets/*.txt`: named, reproducible configurations of search and answering."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from dotenv.parser import parse_stream
from pydantic import BaseModel, Field, PrivateAttr, ValidationError

from atlas_search.core.errors import InvalidTarget, UnknownTarget

Share = Annotated[float, Field(ge=0, le=1)]
SearchType = Literal["hybrid", "similarity", "keyword"]
VectorSearch = Literal["auto", "hnsw", "exact"]
MAX_DAYS = 36_500  # a century; the calendar ends somewhere


class Target(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False):
    """The settings of a target file. Depths, counts and tokens are numbers of items."""

    llm_provider: str = Field(
        "extractive",
        description="Who writes the answer: `extractive` (the sources' own sentences), `mistral`, "
        "`openai` (any server of its protocol), or a plug-in",
    )
    llm_model: str = Field(
        "", description="Language model; empty: mistral-medium-latest or gpt-4o-mini"
    )
    llm_fallback: Literal["none", "extractive"] = Field(
        "none",
        description="What answers when the language model cannot: nothing (503), or `extractive`",
    )
    ask_first: bool = Field(
        False,
        description="Whether the language model first says, in one word, if the passages answer",
    )
    llm_seconds: float = Field(
        60, gt=0, le=600, description="Seconds after which a model call counts as unanswered"
    )
    llm_price_input: float = Field(
        0, ge=0, description="Price of a million tokens read, for the cost in `usage`; 0 unknown"
    )
    llm_price_output: float = Field(0, ge=0, description="Price of a million tokens written")
    temperature: float = Field(0, ge=0, le=2, description="Randomness of the language model")
    max_tokens: int = Field(800, ge=1, le=32_000, description="Tokens one answer may have")
    context_tokens: int = Field(
        6000, ge=100, description="Tokens of passages the language model is given, best first"
    )
    system_prompt: str = Field(
        "system",
        pattern=r"^[\w-]+$",
        description="Rules the language model is given: `NAME.prompt` beside the targets, or a "
        "bundled one",
    )
    verify: Literal["citations", "model", "nli"] = Field(
        "citations",
        description="Who checks a language model's text: `citations` (each names a passage), also "
        "`model` (the same, asked if they support it) or `nli` (VERIFY_MODEL)",
    )
    verify_model: str = Field(
        "",
        description="Model of `nli`: a cross-encoder with the labels entailment, neutral and "
        "contradiction",
    )
    condense_followups: bool = Field(
        False, description="Whether a follow-up is rewritten into a question that stands alone"
    )
    reader_model: str = Field(
        "",
        description="Model that finds the words that answer: a question-answering model such as "
        "deepset/minilm-uncased-squad2, or a plug-in; empty: none",
    )
    reader_threshold: Share = Field(
        0.5, description="Score from which such words count as an answer"
    )
    reader_seconds: float = Field(
        3.0, gt=0, le=60, description="Seconds after which it reads no more"
    )
    search_k: int = Field(10, ge=1, le=100, description="Passages kept after ranking")
    large_retrieval_size_all_corpus: int = Field(
        200,
        ge=1,
        le=1000,
        description="Candidates per corpus and leg when every corpus is searched",
    )
    large_retrieval_size_single_corpus: int = Field(
        500, ge=1, le=1000, description="Candidates per corpus and leg when corpora are chosen"
    )
    search_type: SearchType = Field(
        "hybrid",
        description="Who finds candidates: `hybrid` by meaning and by words, `similarity` by "
        "meaning alone, `keyword` by words alone",
    )
    score_threshold: Share = Field(0, description="Cosine below which no passage is a candidate")
    vector_search: VectorSearch = Field(
        "auto",
        description="How the nearest passages are found: by the `hnsw` index, `exact`, or `auto`: "
        "exact up to 200,000 of a corpus and under filters. A build makes only what is asked",
    )
    reranker: str = Field(
        "fused",
        description="How candidates are scored: `fused` (weighted sum of signals), `relative` (the "
        "same, scaled to the candidates), `lexical` (the ATLAS table), `rrf`, `weighted` (shares "
        "of meaning and words), `none` (by meaning alone), "
        "`cross-encoder`, `cohere` and plug-ins by name (`fused`, then a model reads the best "
        "again)",
    )
    weight_semantic: float = Field(0.6, ge=0, description="Weight of cosine similarity in `fused`")
    weight_bm25: float = Field(0.3, ge=0, description="Weight of BM25 in `fused`")
    weight_phrase: float = Field(0.15, ge=0, description="Weight of adjacent word pairs in `fused`")
    weight_proximity: float = Field(
        0.25, ge=0, description="Weight of closeness, and of the title, in `fused`"
    )
    weight_neighbours: float = Field(
        0.15, ge=0, description="Weight of the passages before and after in `fused`"
    )
    weight_sparse: float = Field(
        0.3, ge=0, description="Weight of the terms that a SPARSE_MODEL weighs in `fused`"
    )
    lexical_exact: float = Field(
        0.5, ge=0, description="Weight of the verbatim question in `lexical`"
    )
    lexical_frequency: float = Field(
        0.3, ge=0, description="Weight of the question's words' frequency in `lexical`"
    )
    lexical_proximity: float = Field(0.2, ge=0, description="Weight of closeness in `lexical`")
    lexical_metadata: float = Field(
        0.5, ge=0, description="Added for each matching metadata field in `lexical`"
    )
    rrf_k: float = Field(60.0, ge=0, description="Constant of reciprocal rank fusion in `rrf`")
    rrf_weight_dense: float = Field(1.0, ge=0, description="Weight of the dense leg in `rrf`")
    rrf_weight_lexical: float = Field(1.0, ge=0, description="Weight of the keyword leg in `rrf`")
    mix_dense: float = Field(0.7, ge=0, description="Share of meaning in `weighted`")
    mix_lexical: float = Field(0.3, ge=0, description="Share of words in `weighted`")
    rerank_model: str = Field(
        "",
        description="Model of `cross-encoder` (name or folder) or `cohere`; empty: "
        "cross-encoder/ms-marco-MiniLM-L-6-v2 or rerank-v3.5",
    )
    rerank_share: Share = Field(
        0.5, description="Share of such a model in the order of what it read; the rest is `fused`"
    )
    rerank_depth: int = Field(
        30, ge=1, le=200, description="Best candidates that such a model reads"
    )
    rerank_characters: int = Field(
        1000, ge=100, le=20_000, description="Characters it reads of each"
    )
    rerank_seconds: float = Field(
        3.0, gt=0, le=60, description="Seconds after which it reads no more"
    )
    fuzzy: bool = Field(
        False,
        description="Whether words that no source holds count as those that are spelt nearly so",
    )
    multi_hop: bool = Field(
        True, description="Whether a question that asks for several things is searched in parts too"
    )
    balance: Literal["rank", "floor", "quota"] = Field(
        "rank",
        description="Places per corpus: by `rank`, a `floor` of one each, or an equal `quota`",
    )
    max_passages_per_document: int | None = Field(
        None,
        ge=1,
        le=100,
        description="Passages one document may have; empty: any number in a search, about five in "
        "an answer",
    )
    near_duplicate: float = Field(
        0.9,
        ge=0.1,
        le=1,
        description="Share of common word runs from which two passages count as the same text",
    )
    content_type_caps: str = Field(
        "",
        pattern=r"^([\w.-]+:\d+(,[\w.-]+:\d+)*)?$",
        description="Passages a content type may have, such as `pdf:1,html:3`; more if places would"
        " stay empty",
    )
    content_type_cap_exceptions: str = Field(
        "", description="Words, separated by commas, that lift these caps from a question"
    )
    diversity: Literal["none", "mmr"] = Field(
        "none", description="`mmr` prefers passages unlike those before them"
    )
    mmr_share: Share = Field(
        0.7, description="Weight of the score in `mmr`; the rest is unlikeness"
    )
    similarity_threshold: Share = Field(
        0.35, description="Cosine from which a passage counts as evidence"
    )
    overlap_threshold: Share = Field(
        0.4, description="Share of question words from which it counts as evidence"
    )
    answer_threshold: Share | None = Field(
        None,
        description="Evidence needed for an answer; empty: the collection's calibrated one, else "
        "0.25 for a language model, 0 for quotes",
    )
    answer_likelihood: Share | None = Field(
        None,
        description="Likelihood that quotes need to be an answer; empty: 0.22, which gives possible"
        " answers too; 0.62 gives likely ones alone",
    )
    risk: str = Field(
        "",
        description="Words, separated by commas; a question with one needs a likely answer, or for "
        "a language model evidence of 0.334",
    )
    answer_sentences: int = Field(3, ge=1, le=10, description="Sentences of an extractive answer")
    citation_limit: int = Field(
        5, ge=1, le=50, description="Different citations one answer may have"
    )
    chat_memory_tokens: int = Field(
        3000, ge=0, description="Tokens of chat history the model is given, newest first"
    )
    freshness_days: int = Field(
        0, ge=0, le=MAX_DAYS, description="Days after which a source counts as stale; 0 never"
    )

    _stated: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def stated(self) -> Mapping[str, str]:
        """The sayings of the file on the collection, by FIXED key: it must have been built so."""
        return self._stated

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """The cost of the tokens, in the currency of the prices; None where they are unknown."""
        if not (self.llm_price_input or self.llm_price_output):
            return None
        read = prompt_tokens * self.llm_price_input
        written = completion_tokens * self.llm_price_output
        return round((read + written) / 1e6, 6)


RANKING_KEYS = tuple(
    name
    for name in Target.model_fields
    if name.split("_")[0] in {"reranker", "weight", "lexical", "rrf", "mix", "rerank"}
    and name != "rerank_model"  # models are opened when the server starts
)
"""The settings that may change while a server runs: the reranker and its weights."""

FIXED = frozenset(
    "algorithm chroma_collection_name chunk_overlap chunk_size embedding_model index_name pooling "
    "text_splitter_type".split()
)
"""Keys that a file may have, of what is fixed when a collection is built."""

_OTHER_NAMES = {"search_score_threshold": "score_threshold"}
_SEARCH_TYPES = {
    "vector": {"search_type": "similarity"},
    "similarity_score_threshold": {"search_type": "similarity"},
    "mmr": {"search_type": "similarity", "diversity": "mmr"},
}
"""Search types by their names in LangChain, as target files for it have them."""


def load_target(folder: Path, name: str, defaults: Mapping[str, object]) -> Target:
    """Read `folder/name.txt` over `defaults` (settings of the environment).

    Raises UnknownTarget, or InvalidTarget with file and line.
    """
    path = folder / f"{name}.txt"
    known = target_names(folder)
    if name not in known:
        raise UnknownTarget(f"There is no target {name!r}. Known targets: {', '.join(known)}.")
    values: dict[str, object] = dict(defaults)
    lines: dict[str, int] = {}
    with path.open(encoding="utf-8") as file:
        for binding in parse_stream(file):
            # a binding includes the blank lines before it
            blank = binding.original.string[: -len(binding.original.string.lstrip()) or None]
            line = binding.original.line + blank.count("\n")
            if binding.error:
                raise InvalidTarget(
                    f"{path}:{line}: {binding.original.string.strip()!r} is not KEY=VALUE."
                )
            if binding.key is None:
                continue
            key = binding.key.lower()
            key = _OTHER_NAMES.get(key, key)
            if key not in Target.model_fields and key not in FIXED:
                allowed = ", ".join(field.upper() for field in Target.model_fields)
                raise InvalidTarget(f"{path}:{line}: unknown key {binding.key}. Known: {allowed}.")
            if key in lines:
                raise InvalidTarget(
                    f"{path}:{line}: {binding.key} is set again; line {lines[key]} set it first."
                )
            if binding.value is None:
                raise InvalidTarget(f"{path}:{line}: {binding.key} has no value.")
            lines[key] = line
            values[key] = binding.value
    stated = {key: str(values.pop(key)) for key in FIXED & lines.keys()}
    values |= _SEARCH_TYPES.get(str(values.get("search_type")), {})
    try:
        target = Target.model_validate(values)
        target._stated = stated
        return target
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        place = f"{path}:{lines[key]}" if key in lines else f"{path} (from the environment)"
        raise InvalidTarget(f"{place}: {key.upper()}={values.get(key)}: {first['msg']}.") from error


def target_names(folder: Path) -> list[str]:
    """The names of all targets in `folder`, sorted."""
    return sorted(path.stem for path in folder.glob("*.txt"))
