"""The contracts of parts, as other packages run them, over the parts of Atlas."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from atlas_search.core.settings import Settings
from atlas_search.providers.chat import ChatModel, ModelCalls
from atlas_search.providers.embedding import Embedder
from atlas_search.providers.open import CHAT_MODELS, EMBEDDERS, open_embedder
from atlas_search.readers import Reader
from atlas_search.readers.files import NO_FORMATS, READERS, SUFFIXES
from atlas_search.search.rerankers import RERANKERS, SecondStage
from atlas_search.testing import (
    ChatModelContract,
    EmbedderContract,
    ReaderContract,
    RerankerContract,
)
from tests import cohere_server, embedding_server, mistral_server, openai_server
from tests.chat_server import KEY
from tests.hash_embedder import HashEmbedder
from tests.providers.conftest import save_cross_encoder
from tests.source_files import good_files, write_files

FORMATS = [name for name in READERS.built_in if name not in NO_FORMATS]


class TestReaders(ReaderContract):
    @pytest.fixture(params=FORMATS)
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @pytest.fixture
    def reader(self, kind: str) -> Reader:
        return READERS.load(kind, "a test")()

    @pytest.fixture
    def source(self, kind: str, tmp_path: Path) -> Path:
        files = good_files(kind)
        write_files(tmp_path / "good", files)
        return tmp_path / "good" / next(iter(files))

    def test_files_are_known_by_the_suffixes_of_their_reader(
        self, reader: Reader, kind: str
    ) -> None:
        assert SUFFIXES[kind] == reader.suffixes


class TestLocalEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self, embedder: Embedder) -> Embedder:
        assert type(open_embedder(Settings())) is type(embedder)
        return embedder


class TestMistralEmbedder(EmbedderContract):
    tells_tokens = False

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with mistral_server.mistral_server() as server:
            settings = Settings(
                embedding_provider="mistral",
                mistral_api_key=SecretStr(KEY),
                mistral_server_url=server.address,
                mistral_requests_per_minute=6000,
            )
            yield EMBEDDERS.load("mistral", "a test")(settings)


class TestOpenAIEmbedder(EmbedderContract):
    tells_tokens = False

    @pytest.fixture
    def embedder(self) -> Iterator[Embedder]:
        with embedding_server.embedding_servers(2) as servers:
            settings = Settings(
                embedding_provider="openai",
                embedding_model=embedding_server.MODEL,
                embedding_urls=",".join(server.address for server in servers),
                openai_api_key=SecretStr(KEY),
            )
            yield EMBEDDERS.load("openai", "a test")(settings)


class TestHashEmbedder(EmbedderContract):
    """The stand-in of other tests."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        return HashEmbedder()


@pytest.fixture
def calls() -> Iterator[ModelCalls]:
    opened = ModelCalls(4, 20.0)
    yield opened
    opened.close()


class TestOpenAI(ChatModelContract):
    @pytest.fixture
    def chat_model(self, calls: ModelCalls) -> Iterator[ChatModel]:
        with openai_server.openai_server() as server:
            settings = Settings(openai_api_key=SecretStr(KEY), openai_base_url=server.address)
            yield CHAT_MODELS.load("openai", "a test")(settings, calls)


class TestMistral(ChatModelContract):
    @pytest.fixture
    def chat_model(self, calls: ModelCalls) -> Iterator[ChatModel]:
        with mistral_server.mistral_server() as server:
            settings = Settings(
                mistral_api_key=SecretStr(KEY),
                mistral_server_url=server.address,
                mistral_requests_per_minute=6000,
            )
            yield CHAT_MODELS.load("mistral", "a test")(settings, calls)


class TestCohere(RerankerContract):
    @pytest.fixture
    def stage(self) -> Iterator[SecondStage]:
        with cohere_server.cohere_server() as server:
            settings = Settings(
                cohere_api_key=SecretStr(cohere_server.KEY), cohere_server_url=server.address
            )
            yield RERANKERS.load("cohere", "a test")(settings, cohere_server.MODEL)


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> SecondStage:
    folder = save_cross_encoder(tmp_path_factory.mktemp("tiny"), 64)
    return RERANKERS.load("cross-encoder", "a test")(Settings(), str(folder))


class TestCrossEncoder(RerankerContract):
    @pytest.fixture
    def stage(self, cross_encoder: SecondStage) -> SecondStage:
        return cross_encoder
