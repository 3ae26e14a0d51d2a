"""60 and some answers of `POST /api/ask`: over kinds, options and ways to write a question."""

import json
from collections.abc import Mapping
from typing import Any

from tests.conftest import SAMPLES, TODAY
from tests.faces.world import Face, asking

LABELS = {
    label["id"]: label["question"]
    for label in map(json.loads, (SAMPLES / "labels.jsonl").read_text("utf-8").splitlines())
}
PLAIN = (
    "q001 q002 q005 q008 q012 q014 q018 q021 q024 q141 q150 q165 q169 "  # factual
    "q026 q029 q034 q038 q040 q153 q160 q173 q176 "  # paraphrase
    "q041 q046 q179 q051 q055 q060 q182 "  # multi_hop, cross_corpus
    "q061 q062 q064 q187 q069 q072 q186 "  # stale, conflicting
    "q075 q083 q093 q137"  # unanswerable
).split()
LIBEL = "Can a local authority sue a newspaper for libel?"
TURNS = [
    {"role": "user", "content": "Who was Ernesto Miranda?"},
    {"role": "assistant", "content": "A man whose confession was thrown out."},
]

SPECIAL: Mapping[str, Mapping[str, Any]] = {
    "one-corpus": {"question": LABELS["q056"], "corpus_filter": "legal_us"},
    "two-corpora": {"question": LABELS["q056"], "corpus_filter": ["legal_uk", "legislation_nz"]},
    "filter-value": {"question": LABELS["q069"], "filters": {"status": "current"}},
    "filter-list": {
        "question": "What did the court say about negligence?",
        "filters": {"court": ["House of Lords", "Supreme Court of the United Kingdom"]},
    },
    "filter-range": {
        "question": "right to a lawyer",
        "filters": {"date": {"from": "1960", "to": "1969-12-31"}},
    },
    "filter-document": {
        "question": "What did Lord Keith say?",
        "filters": {"document_id": "legal_uk.r-v-r-1991"},
    },
    "filter-nothing": {"question": LIBEL, "filters": {"date": {"from": "2030"}}},
    "history": {"question": "What happened to him?", "chat_history": TURNS},
    "history-read": {
        "question": "What happened to him?",
        "chat_history": TURNS,
        "read_follow_ups": True,
    },
    "history-not-read": {
        "question": "And in New Zealand?",
        "chat_history": TURNS,
        "read_follow_ups": False,
    },
    "context": {"question": LIBEL, "include_context": True, "k": 5},
    "fresh": {"question": LABELS["q062"], "freshness_days": 3650},
    "compare": {"question": LABELS["q056"], "mode": "compare"},
    "compare-two": {
        "question": LABELS["q054"],
        "mode": "compare",
        "corpus_filter": ["legal_us", "legislation_nz"],
    },
    "compare-unanswerable": {"question": LABELS["q075"], "mode": "compare"},
    "clarify": {"question": "What does section 5 say?", "clarify": True},
    "clarify-act": {"question": "What is the purpose of the Act?", "clarify": True},
    "quoted": {"question": 'What is "clear and present danger"?'},
    "quoted-unknown": {"question": 'What is the "captial punishment"?'},
    "signs": {"question": 'freedom of speech +"First Amendment" -"clear and present danger"'},
    "misspelt": {"question": "Was captial punishment abolished by parliment?"},
    "misspelt-fuzzy": {"question": "Was captial punishment abolished?", "fuzzy": True},
    "require": {"question": "right to silence", "require": ["custody"], "exclude": ["jury"]},
    "one-per-document": {"question": LABELS["q070"], "max_per_document": 1},
    "lexical": {"question": LIBEL, "target": "k10_lexical"},
    "quota": {"question": LABELS["q056"], "target": "k15_quota"},
    "count": {"question": "How often is the word libel used?"},
    "count-documents": {"question": "How many documents mention habeas corpus?"},
    "count-corpora": {"question": "In how many cases does negligence occur in the UK corpus?"},
    "joined": {
        "question": "What is the youngest age of criminal responsibility in New Zealand, and who "
        "gave the leading speech in R v R?"
    },
    "number": {"question": "What costs 175 million dollars?"},
    "german": {"question": "Was sagt das Gericht zur Meinungsfreiheit?"},
    "no-key": {"question": LIBEL, "target": "k5_mistral"},
    "silent": {"question": LIBEL, "telemetry": False, "k": 1},
}


def faces() -> dict[str, Face]:
    plain = {id_: {"question": LABELS[id_]} for id_ in PLAIN}
    return {
        f"answers/{name}.json": asking("/api/ask", {"as_of": TODAY.isoformat(), **body})
        for name, body in {**plain, **SPECIAL}.items()
    }
