"""The contract of readers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from atlas_search.readers import Draft, Read, Reader, Skipped

NOISE = bytes(range(256)) * 8
"""A file that no format has."""


class ReaderContract:
    """Give the fixtures `reader`, and `source`: a file that it can read."""

    @pytest.fixture
    def drafts(self, reader: Reader, source: Path) -> list[Draft]:
        """The documents of `source`."""
        return [read for read in reader.read(source, "") if isinstance(read, Draft)]

    def test_suffixes_are_in_lower_case_and_fit_the_source(
        self, reader: Reader, source: Path
    ) -> None:
        assert reader.suffixes
        assert [suffix for suffix in reader.suffixes if suffix != suffix.lower()] == []
        assert source.name.lower().endswith(tuple(reader.suffixes))

    def test_options_hold_a_version_and_can_be_kept(self, reader: Reader) -> None:
        options = dict(reader.options)
        assert "version" in options
        assert json.loads(json.dumps(options)) == options
        assert dict(reader.options) == options

    def test_a_good_file_gives_documents_with_text(self, drafts: Sequence[Draft]) -> None:
        assert drafts
        assert [draft.key for draft in drafts if not draft.text.strip()] == []

    def test_documents_of_one_file_have_keys_of_their_own(self, drafts: Sequence[Draft]) -> None:
        keys = [draft.key for draft in drafts]
        assert len(set(keys)) == len(keys)

    def test_pages_begin_with_the_text_and_follow_each_other(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            assert draft.pages[0] == 0
            assert list(draft.pages) == sorted(draft.pages)
            assert draft.pages[-1] <= len(draft.text)

    def test_printed_numbers_are_one_for_each_page_or_none(self, drafts: Sequence[Draft]) -> None:
        assert all(len(draft.printed_pages) in (0, len(draft.pages)) for draft in drafts)

    def test_segments_lie_in_the_text_in_their_order(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            starts = [segment.start for segment in draft.segments]
            assert starts == sorted(set(starts))
            assert all(0 <= start <= len(draft.text) for start in starts)

    def test_the_names_of_metadata_are_text(self, drafts: Sequence[Draft]) -> None:
        assert {type(name) for draft in drafts for name in draft.metadata} <= {str}

    def test_the_same_file_gives_the_same_again(self, reader: Reader, source: Path) -> None:
        assert list(reader.read(source, "")) == list(reader.read(source, ""))

    @pytest.mark.parametrize("content", [b"", NOISE], ids=["empty", "noise"])
    def test_a_file_that_cannot_be_read_is_skipped_with_a_reason(
        self, reader: Reader, source: Path, tmp_path: Path, content: bytes
    ) -> None:
        broken = tmp_path / source.name
        broken.write_bytes(content)
        reads: list[Read] = list(reader.read(broken, ""))
        for read in reads:
            assert read.reason if isinstance(read, Skipped) else read.text.strip()
        assert content or not any(isinstance(read, Draft) for read in reads)

    def test_a_file_that_is_gone_is_an_error_of_the_system(
        self, reader: Reader, source: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(OSError):  # noqa: PT011 (which one is up to the system)
            list(reader.read(tmp_path / "gone" / source.name, ""))
