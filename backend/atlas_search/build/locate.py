"""Which files are sources, and the corpus each belongs to."""

from collections.abc import Sequence
from pathlib import Path

from atlas_search.build.corpora import FILE_NAME, Rule, Sources, by_folder, by_mapping, by_rule
from atlas_search.build.walk import LEADS_OUT, leads_out, real_paths
from atlas_search.core.errors import SourceError
from atlas_search.core.ids import check_id
from atlas_search.readers import Reader


def find_sources(
    source: Sequence[Path],
    reader: Reader,
    *,
    corpora: Path | None = None,
    corpus_field: str = "",
    corpus: str = "",
    encoding: str = "",
) -> Sources:
    """The files of `source` that `reader` reads. Raises SourceError.

    Their corpus is the one `corpus`, or named by their metadata field `corpus_field`, or said by a
    mapping (`corpora`, or `corpora.toml` in the source), or else their sub-folder.
    """
    for path in source:
        if not path.exists():
            raise SourceError(f"{path} does not exist. Give a file or a folder of sources.")
    suffixes = reader.suffixes
    if corpus:
        return by_rule(source, suffixes, Rule(check_id(corpus, "--corpus"), encoding=encoding))
    if corpus_field:
        rule = Rule(corpus_field=corpus_field, encoding=encoding)
        return by_rule(source, suffixes, rule)
    mapping = corpora or _mapping_beside(source)
    if mapping:
        if len(source) > 1 or not source[0].is_dir():
            raise SourceError(f"With {mapping} give one folder as the source.")
        return by_mapping(source[0], mapping, suffixes, encoding)
    return by_folder(source, suffixes, encoding)


def _mapping_beside(source: Sequence[Path]) -> Path | None:
    path = source[0] / FILE_NAME
    if leads_out(path, real_paths(source)):
        raise SourceError(f"{path} is {LEADS_OUT}. Name the file with --corpora.")
    return path if path.is_file() else None
