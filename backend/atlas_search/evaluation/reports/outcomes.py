"""What a reader wants to know of one question, by its figures."""

from collections.abc import Sequence

from atlas_search.evaluation.scored import Scored


def wrongly_decided(one: Scored) -> bool:
    """Whether it was answered or declined, and should not have been."""
    return 0.0 in (one.figures.get("decided"), one.figures.get("as_expected"))


def found(one: Scored) -> bool | None:
    """Whether anything of what is gold was found; None where nothing gold is known."""
    if "recall" in one.figures:
        return one.figures["recall"] > 0
    deepest = [value for name, value in one.figures.items() if name.startswith("passage_recall@")]
    return max(deepest) > 0 if deepest else None


def closeness(one: Scored) -> float:
    """How near it came to what is known: F1, where nothing was written the reciprocal rank."""
    return one.figures.get("f1", one.figures.get("mrr", 1.0))


def worst(scored: Sequence[Scored]) -> list[Scored]:
    """Questions where something is wrong: wrong decisions first, then what was not found, then the
    lowest `closeness`; of equal ones by id. Those without a reply are not among them."""
    wrong = [
        one
        for one in scored
        if not one.reply.error
        and (wrongly_decided(one) or found(one) is False or closeness(one) < 1)
    ]
    return sorted(
        wrong,
        key=lambda one: (
            not wrongly_decided(one),
            found(one) is not False,
            closeness(one),
            one.label.id,
        ),
    )


def gold_of(one: Scored) -> list[str]:
    """Ids of the gold documents, or of the gold passages where only these are known."""
    return list(one.label.relevance) or sorted(one.label.gold_passage_ids)


def cited_documents(one: Scored) -> list[str]:
    """Ids of the cited documents, each once, in the order of the citations."""
    citations = one.reply.answer.citations if one.reply.answer else []
    return list(dict.fromkeys(citation.document_id for citation in citations))
