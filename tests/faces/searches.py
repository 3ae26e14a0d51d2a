"""40 searches of `POST /api/search`, and what scopes hold."""

from collections.abc import Mapping
from typing import Any

from tests.conftest import TODAY
from tests.faces.answers import LABELS, LIBEL
from tests.faces.world import Face, World, asking

CANDIDATES = 12  # of those that `explain` lists

PLAIN = "q004 q016 q028 q036 q050 q058 q066 q074 q088 q096 q145 q175".split()
SPEECH = "freedom of speech"
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "explain": {"question": LIBEL, "explain": True, "k": 3},
    "explain-narrow": {"question": SPEECH, "explain": True, "corpus_filter": "legal_uk", "k": 2},
    "explain-lexical": {"question": SPEECH, "explain": True, "target": "k10_lexical", "k": 2},
    "facets": {"question": SPEECH, "facets": True, "k": 3},
    "facets-some": {"question": "privacy", "facets": ["court", "date", "tags"], "k": 3},
    "exact": {"question": LABELS["q028"], "exact": True, "k": 5},
    "exact-facets": {"question": "abortion", "exact": True, "facets": ["status"], "k": 4},
    "filter-value": {"question": "right to a lawyer", "filters": {"status": "current"}, "k": 4},
    "filter-list": {"question": "police", "filters": {"content_type": ["pdf", "docx"]}, "k": 4},
    "filter-range": {
        "question": "right to a lawyer",
        "filters": {"date": {"from": "1960", "to": "1969-12-31"}},
        "k": 4,
    },
    "filter-open-range": {"question": "privacy", "filters": {"date": {"from": "2000"}}, "k": 4},
    "filter-tags": {"question": "who may be sued", "filters": {"tags": "libel"}, "k": 4},
    "filter-section": {"question": "judges", "filters": {"section": "Part 1"}, "k": 4},
    "filter-speaker": {"question": "hanging", "filters": {"speaker": "Silverman"}, "k": 4},
    "filter-document": {
        "question": "speech",
        "filters": {"document_id": ["legal_us.brandenburg-v-ohio-1969", "legal_uk.r-v-r-1991"]},
        "k": 4,
    },
    "require": {"question": "right to a lawyer", "require": ["custody"], "k": 4},
    "require-unmet": {"question": "right to a lawyer", "require": ["snail"], "k": 4},
    "exclude": {"question": "right to a lawyer", "exclude": ["jury", "counsel"], "k": 4},
    "signs": {"question": 'libel +"local authority" -council', "k": 4},
    "quota": {"question": SPEECH, "target": "k15_quota"},
    "lexical": {"question": SPEECH, "target": "k10_lexical", "k": 5},
    "fuzzy": {"question": "captial punishment in parliment", "fuzzy": True, "k": 4},
    "misspelt": {"question": "captial punishment in parliment", "k": 4},
    "one-per-document": {"question": SPEECH, "max_per_document": 1, "k": 8},
    "three-per-document": {"question": SPEECH, "max_per_document": 3, "k": 8},
    "one": {"question": LIBEL, "k": 1},
    "many": {"question": "court", "k": 40},
    "fresh": {"question": "agency", "freshness_days": 365, "k": 4},
    "corpora": {"question": "privacy", "corpus_filter": ["legal_uk", "legislation_nz"], "k": 4},
    "quoted": {"question": '"clear and present danger"', "k": 4},
    "nothing-known": {"question": "zyxwv qqqqq", "k": 3},
    "numbers": {"question": "thirty days or 1,000 pounds", "k": 4},
}
SCOPES: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "some": {"fields": ["court", "status"], "corpus_filter": ["legal_uk", "legal_us"]},
    "narrow": {"filters": {"status": "current"}, "require": ["libel"], "fields": True},
    "none": {"exclude": ["jury"], "fields": False},
}


def faces() -> dict[str, Face]:
    plain = {id_: {"question": LABELS[id_], "k": 5} for id_ in PLAIN}
    searches = {
        f"searches/{name}.json": _search({"as_of": TODAY.isoformat(), **body})
        for name, body in {**plain, **OPTIONS}.items()
    }
    scopes = {f"scopes/{name}.json": asking("/api/facets", body) for name, body in SCOPES.items()}
    return searches | scopes


def _search(body: Mapping[str, Any]) -> Face:
    def seen(world: World) -> object:
        found = world.open("POST", "/api/search", json=dict(body))
        candidates = found["body"].get("candidates")
        if candidates:
            found["body"]["candidates"] = candidates[:CANDIDATES]
            found["candidates"] = len(candidates)
        return found

    return seen
