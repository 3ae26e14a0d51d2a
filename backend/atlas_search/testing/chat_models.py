"""The contract of chat models."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from atlas_search.core.errors import Cancelled
from atlas_search.core.stop import Stop
from atlas_search.providers.chat import ChatModel, ChatOptions, Ended, Message

PASSAGE = "[law.wool p1] The court held for the seller of the wool."
MESSAGES = (
    Message("system", "Answer from the passages. End every sentence with its token."),
    Message(
        "user",
        f'<passage corpus="law" title="Wool">\n{PASSAGE}\n</passage>\n\n'
        "Citation tokens: [law.wool p1]\n\nQuestion: For whom did the court hold?",
    ),
)


class ChatModelContract:
    """Give the fixture `chat_model`: a model that can be reached and answers MESSAGES.

    `model` is the name of the model to ask; empty: the default one.
    """

    model = ""

    @pytest.fixture
    def options(self, chat_model: ChatModel) -> ChatOptions:
        return ChatOptions(self.model or chat_model.default_model, 0.0, 300, 20.0)

    def test_it_has_a_name_and_a_default(self, chat_model: ChatModel) -> None:
        assert chat_model.name
        assert isinstance(chat_model.default_model, str)

    def test_a_text_comes_in_pieces_and_then_its_end(
        self, chat_model: ChatModel, options: ChatOptions
    ) -> None:
        *pieces, ended = chat_model.stream(MESSAGES, options, Stop())
        assert isinstance(ended, Ended)
        assert {type(piece) for piece in pieces} == {str}
        assert ended.reason in ("stop", "length", "filtered")
        assert "".join(map(str, pieces)).strip()
        assert ended.model
        assert ended.usage.prompt_tokens >= 0
        assert ended.usage.completion_tokens >= 0

    def test_a_call_that_nobody_wants_any_more_is_not_made(
        self, chat_model: ChatModel, options: ChatOptions
    ) -> None:
        stop = Stop()
        stop.set()
        with pytest.raises(Cancelled):
            list(chat_model.stream(MESSAGES, options, stop))

    def test_a_stream_can_be_stopped_on_its_way(
        self, chat_model: ChatModel, options: ChatOptions
    ) -> None:
        stop = Stop()
        stream = chat_model.stream(MESSAGES, options, stop)
        next(stream)
        stop.set()
        with pytest.raises(Cancelled):
            list(stream)

    def test_a_stream_can_be_closed_and_the_model_used_again(
        self, chat_model: ChatModel, options: ChatOptions
    ) -> None:
        with closing(chat_model.stream(MESSAGES, options, Stop())) as stream:
            next(stream)
        assert _text(chat_model, options).strip()

    def test_several_threads_may_use_it(self, chat_model: ChatModel, options: ChatOptions) -> None:
        with ThreadPoolExecutor(3) as threads:
            texts = threads.map(lambda _: _text(chat_model, options), range(3))
            assert all(text.strip() for text in texts)

    def test_it_is_well(self, chat_model: ChatModel, options: ChatOptions) -> None:
        assert chat_model.health(options.model).ready


def _text(chat_model: ChatModel, options: ChatOptions) -> str:
    *pieces, _ = chat_model.stream(MESSAGES, options, Stop())
    return "".join(map(str, pieces))
