"""Names as styles write them: a name given as `Woolf, Virginia` can be turned, others stay."""

from collections.abc import Sequence


def in_order(authors: Sequence[str], last: str = "and") -> str:
    """`Virginia Woolf and Leonard Woolf`."""
    return _listed([_turned(name) for name in authors], last)


def family_first(authors: Sequence[str]) -> str:
    """`Woolf, Virginia, and Leonard Woolf`, as lists of works are sorted (MLA)."""
    if len(authors) > 2:
        return f"{authors[0]}, et al."
    return ", and ".join([*authors[:1], *map(_turned, authors[1:])])


def with_initials(authors: Sequence[str]) -> str:
    """`Woolf, V., & Woolf, L.` (APA)."""
    return _listed([_initials(name) for name in authors], "&", comma=True)


def families(authors: Sequence[str], last: str = "&") -> str:
    """`Woolf & Woolf`; of more than two the first `et al.`"""
    names = [name.partition(",")[0] for name in authors]
    return f"{names[0]} et al." if len(names) > 2 else _listed(names, last)


def _listed(names: Sequence[str], last: str, *, comma: bool = False) -> str:
    if len(names) < 2:
        return "".join(names)
    before = "," if comma or len(names) > 2 else ""
    return f"{', '.join(names[:-1])}{before} {last} {names[-1]}"


def _turned(name: str) -> str:
    family, comma, given = name.partition(", ")
    return f"{given} {family}" if comma and "," not in given else name


def _initials(name: str) -> str:
    family, comma, given = name.partition(", ")
    if not comma or "," in given:
        return name
    return f"{family}, {' '.join(f'{part[0]}.' for part in given.split())}"
