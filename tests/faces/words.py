"""Concordances, counts and word lists."""

from collections.abc import Mapping
from typing import Any

from tests.faces.world import Face, asking

CONCORDANCES: Mapping[str, Mapping[str, Any]] = {
    "word": {"query": "libel", "limit": 10},
    "wildcard": {"query": "libel*", "limit": 10, "sort": "hit"},
    "letter": {"query": "wom?n", "limit": 10, "context": 3},
    "phrase": {"query": '"local authority"', "limit": 10},
    "phrase-any": {"query": '"the * of"', "limit": 10, "sort": "right"},
    "near": {"query": "sue NEAR/5 libel", "sort": "left", "limit": 10},
    "near-two-sided": {"query": "court NEAR/0,5 held", "limit": 10},
    "or": {"query": 'murder OR "capital punishment"', "limit": 10, "sort": "date"},
    "brackets": {"query": "(libel* OR defam*) NEAR/8 (newspaper* OR press)", "limit": 10},
    "stem": {"query": "marry", "form": "stem", "limit": 10, "sort": "-date"},
    "case": {"query": "Act", "case_sensitive": True, "limit": 8, "corpus_filter": "legal_uk"},
    "sample": {"query": "court", "sample": 8, "seed": 7},
    "offset": {"query": "court", "offset": 20, "limit": 6, "sort": "corpus"},
    "point": {
        "query": "court",
        "point": {"by": "decade", "value": "1990s", "corpus": "legal_uk"},
        "limit": 6,
    },
    "filters": {"query": "privacy", "filters": {"date": {"from": "2000"}}, "limit": 6},
    "require": {"query": "police", "require": ["custody"], "exclude": ["jury"], "limit": 6},
    "none": {"query": "snail NEAR/1 quantum"},
}
COUNTS: Mapping[str, Mapping[str, Any]] = {
    "all": {"query": '"right to silence"'},
    "corpus": {"query": "libel*", "by": "corpus", "filters": {"date": {"from": "1960"}}},
    "field": {"query": "privacy", "by": "court", "by_corpus": True},
    "stem": {"query": "abortion", "form": "stem", "by": "status"},
}
TRENDS: Mapping[str, Mapping[str, Any]] = {
    "year": {"query": "privacy", "filters": {"date": {"from": "1990"}}},
    "decade": {"query": "court", "by": "decade", "by_corpus": True},
    "corpus": {"query": "murder OR manslaughter", "by": "corpus"},
}
COLLOCATES: Mapping[str, Mapping[str, Any]] = {
    "both": {"query": "libel*", "limit": 15},
    "right": {"query": "libel*", "left": 0, "right": 3, "limit": 15},
    "dice": {"query": "court", "sort": "log_dice", "function_words": False, "limit": 15},
    "stem": {"query": "marry", "form": "stem", "min_count": 3, "limit": 15},
}
KEYWORDS: Mapping[str, Mapping[str, Any]] = {
    "corpus": {
        "corpus_filter": "legal_uk",
        "against": "legal_us",
        "min_documents": 2,
        "limit": 15,
    },
    "filter": {"filters": {"date": {"from": "1990"}}, "min_documents": 2, "limit": 15},
    "less": {"corpus_filter": "legislation_nz", "direction": "less", "limit": 15},
    "ratio": {"corpus_filter": "legal_us", "sort": "log_ratio", "direction": "both", "limit": 15},
    "require": {"require": ["abortion"], "function_words": False, "form": "stem", "limit": 15},
}
FREQUENCIES: Mapping[str, Mapping[str, Any]] = {
    "all": {"limit": 15},
    "pattern": {"pattern": "libel*", "corpus_filter": "legal_uk"},
    "stem": {"form": "stem", "function_words": False, "min_count": 20, "limit": 15},
}
ROUTES = {
    "concordance": CONCORDANCES,
    "counts": COUNTS,
    "trends": TRENDS,
    "collocates": COLLOCATES,
    "keywords": KEYWORDS,
    "frequencies": FREQUENCIES,
}


def faces() -> dict[str, Face]:
    return {
        f"words/{route}-{name}.json": asking(f"/api/{route}", body)
        for route, bodies in ROUTES.items()
        for name, body in bodies.items()
    }
