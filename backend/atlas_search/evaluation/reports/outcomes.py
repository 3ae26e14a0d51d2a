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


def closeness(one: Scored) -> float | None:
    """How near it came to what is known: F1, of a search the reciprocal rank; None without it."""
    return one.figures.get("mrr" if one.reply.found else "f1")


def is_wrong(one: Scored) -> bool:
    """Whether something is; of a question without a reply it is not known."""
    if one.reply.error:
        return False
    near = closeness(one)
    return wrongly_decided(one) or found(one) is False or (near is not None and near < 1)


def worst(scored: Sequence[Scored]) -> list[Scored]:
    """Questions where something is wrong: wrong decisions first, then what was not found, then the
    lowest `closeness`; of equal ones by id. Those without a reply are not among them."""

    def order(one: Scored) -> tuple[bool, bool, float, str]:
        near = closeness(one)
        missed = found(one) is False
        return (not wrongly_decided(one), not missed, 1.0 if near is None else near, one.label.id)

    return sorted(filter(is_wrong, scored), key=order)


def gold_of(one: Scored) -> list[str]:
    """Ids of the gold documents, or of the gold passages where only these are known."""
    return list(one.label.relevance) or sorted(one.label.gold_passage_ids)


def cited_documents(one: Scored) -> list[str]:
    """Ids of the cited documents, each once, in the order of the citations."""
    citations = one.reply.answer.citations if one.reply.answer else []
    return list(dict.fromkeys(citation.document_id for citation in citations))
