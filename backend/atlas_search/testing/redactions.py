"""The contract of redactions of traces."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from atlas_search.core.telemetry.redaction import Redaction


class RedactionContract:
    """Give the fixtures `redact`, and `private`: texts, each with a part of it that must go."""

    @pytest.fixture
    def private(self) -> Mapping[str, str]:
        """Texts in which nothing must go, unless the tests of a redaction say more."""
        return {}

    def test_what_is_private_goes(self, redact: Redaction, private: Mapping[str, str]) -> None:
        for text, part in private.items():
            assert part in text
            assert part not in redact(text)

    def test_it_goes_from_within_a_text_too(
        self, redact: Redaction, private: Mapping[str, str]
    ) -> None:
        for text, part in private.items():
            assert part not in redact(f"It was said: {text}, on the second day.\n\nLater.")

    def test_the_same_text_is_the_same_again(
        self, redact: Redaction, private: Mapping[str, str]
    ) -> None:
        for text in ("", "Sheep give wool.", *private):
            assert redact(text) == redact(text)

    def test_what_it_gives_holds_nothing_more_that_must_go(
        self, redact: Redaction, private: Mapping[str, str]
    ) -> None:
        for text in private:
            assert redact(redact(text)) == redact(text)

    @pytest.mark.parametrize("text", ["", " ", "\x00", "x" * 200_000, "é漢字\u202e🙂" * 1000])
    def test_any_text_gives_a_text(self, redact: Redaction, text: str) -> None:
        assert isinstance(redact(text), str)

    def test_several_threads_may_use_it(
        self, redact: Redaction, private: Mapping[str, str]
    ) -> None:
        texts = ["Sheep give wool.", *private] * 20
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(redact, texts)) == [redact(text) for text in texts]
