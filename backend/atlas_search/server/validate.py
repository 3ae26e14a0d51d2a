"""`POST /api/validate`: check the citations of any answer."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from flask_openapi3.blueprint import APIBlueprint
from flask_openapi3.models.tag import Tag
from pydantic import AfterValidator, BaseModel, Field, RootModel, model_validator

from atlas_search.answer.check.citations import Verification, verify
from atlas_search.answer.check.markers import read_marked
from atlas_search.answer.check.phrases import is_refusal
from atlas_search.answer.check.support import MOST_COMPARED, Effort
from atlas_search.core.domain import MARKER, CheckedSentence, Citation, Located, Passage
from atlas_search.core.errors import NotFound, RequestError, shown
from atlas_search.core.locator import is_locator
from atlas_search.core.stop import Stop
from atlas_search.core.telemetry.span import Span
from atlas_search.language.text import content_terms
from atlas_search.server.limits import waiting
from atlas_search.server.problems import Problem
from atlas_search.server.requests import CollectionBody, StrictBody
from atlas_search.server.serving import Serve
from atlas_search.stores.manifest import Manifest
from atlas_search.stores.store import Store

MAX_ANSWER = 50_000  # characters
MAX_PASSAGES = 200
MAX_PASSAGE = 50_000  # characters, as many as an answer may have
MAX_TEXTS = 500_000  # characters of all passages; reading them takes five seconds at worst
MAX_PAGE = 10_000_000
MAX_NAME = 1000  # characters of an id or a title
MAX_DOCUMENTS = 200  # that tokens name and whose passages are looked up
MOST_CITED = 5  # passages, by the rules of sentinel
MAX_LOOKED_THROUGH = 50_000_000  # characters of these documents


def _locator(text: str) -> str:
    if text and not is_locator(text):
        raise ValueError("it is not a locator such as `s 10(1)`, `art 5` or `sch 1 para 3`")
    return text


class GivenPassage(StrictBody):
    """A passage that need not be in the collection.

    Its token is `[document_id pPAGE]`, or with the locator, `s 10(1)`, `[document_id s10(1)]`.
    """

    document_id: str = Field(min_length=1, max_length=MAX_NAME, pattern=r"^[^\[\]\s]+$")
    page: int = Field(ge=0, le=MAX_PAGE)
    text: str = Field(max_length=MAX_PASSAGE)
    title: str = Field("", max_length=MAX_NAME)
    locator: Annotated[str, AfterValidator(_locator)] = Field(
        "",
        max_length=MAX_NAME,
        description="How the source cites it: `s 10(1)`, `art 5`, `sch 1 para 3`",
    )


class RetrievedChunk(StrictBody):
    """A passage as the published API of sentinel names it; `similarity` decides nothing."""

    doc_id: str = Field(max_length=MAX_NAME)
    chunk_id: str = Field(max_length=MAX_NAME)
    timestamp: str = Field(max_length=MAX_NAME)
    similarity: float = Field(ge=0, le=1)
    text: str = Field(max_length=MAX_PASSAGE)


PassageId = Annotated[str, Field(max_length=MAX_NAME)]


class ValidateBody(CollectionBody):
    """An answer, and the passages it may cite.

    With `citations` and `retrieved_chunks` it is checked by the rules of sentinel.
    """

    answer: str = Field(max_length=MAX_ANSWER)
    passages: list[PassageId | GivenPassage] | None = Field(
        None,
        max_length=MAX_PASSAGES,
        description="Ids of passages of the collection, or passages; if absent, the places that "
        "the answer's tokens name are looked up in the collection",
    )
    citation_limit: int | None = Field(
        None, ge=1, le=100, description="Places that may be cited; the target's CITATION_LIMIT"
    )
    rules: Literal["atlas", "sentinel"] | None = Field(
        None, description="Whose rules: `sentinel` if there are `retrieved_chunks`, else `atlas`"
    )
    citations: list[PassageId] | None = Field(
        None, max_length=MAX_PASSAGES, description="The `chunk_id` of each citation of the answer"
    )
    retrieved_chunks: list[RetrievedChunk] | None = Field(
        None, max_length=MAX_PASSAGES, description="The passages that these may name"
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        theirs = {"citations", "retrieved_chunks"} & self.model_fields_set
        ours = {"passages", "citation_limit"} & self.model_fields_set
        if self.rules == "sentinel" or (theirs and self.rules is None):
            if ours or self.citations is None or self.retrieved_chunks is None:
                raise ValueError(
                    "the rules of sentinel need `citations` and `retrieved_chunks`, without "
                    "`passages` and `citation_limit`"
                )
        elif theirs:
            raise ValueError("`citations` and `retrieved_chunks` are for the rules of sentinel")
        return self


class ValidatedCitationOut(BaseModel):
    """A valid citation and the place that supports its sentence best.

    `start` and `end` are offsets in the document, or in `text` of a passage that was sent.
    """

    marker: str
    locator: str | None = Field(description="How the source cites the place: `s 10(1)`")
    page: int
    printed_page: str | None = Field(description="The number that stands on the page")
    line: int = Field(description="Line of the document, or of the text that was sent")
    quote: str
    start: int
    end: int
    passage_id: str | None = Field(description="Null for a passage that was sent")


class ValidatedSentenceOut(BaseModel):
    """A sentence without its tokens; errors and warnings are predicates of it."""

    text: str
    grounded: bool = Field(description="Whether any of its citations is valid")
    caveat: bool = Field(description="Whether it only says what the passages do not hold")
    errors: list[str]
    warnings: list[str]
    citations: list[ValidatedCitationOut]


class RuledAnswerOut(BaseModel):
    """The findings by the rules of sentinel; errors make an answer unusable, warnings do not."""

    citation_valid: bool
    errors: list[str]
    warnings: list[str]


class ValidatedAnswerOut(RuledAnswerOut):
    """The findings; errors make an answer unusable, warnings do not."""

    sentence_groundedness: float = Field(description="Share of grounded sentences")
    answer_grounded: bool = Field(description="Whether every sentence is grounded")
    sentences: list[ValidatedSentenceOut]
    refusal: bool = Field(description="Whether the answer says that it cannot answer")


class CheckedOut(RootModel[ValidatedAnswerOut | RuledAnswerOut]):
    """The findings, in the form of the rules they were made by."""


def check_by_sentinel(
    answer: str, citations: Sequence[str], chunks: Sequence[RetrievedChunk]
) -> RuledAnswerOut:
    """Check the ids an answer cites by the published rules of sentinel.

    Each is that of a chunk, none comes twice, there are at most MOST_CITED, and none only if the
    answer says that the context is insufficient. No word common to answer and chunks is a warning.
    """
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}
    unique = list(dict.fromkeys(citations))
    errors = [
        f"Citation '{each}' does not match any retrieved chunk"
        for each in unique
        if each not in texts
    ]
    if twice := [each for each in unique if citations.count(each) > 1]:
        errors.append(f"Citations come more than once: {shown(twice)}")
    if len(citations) > MOST_CITED:
        errors.append(f"There are {len(citations)} citations, more than {MOST_CITED}")
    if not citations and not (answer.strip() and is_refusal(read_marked(answer, ()))):
        errors.append("There is no citation, and the answer does not say that context is missing")
    warnings = []
    if citations and not errors:  # else there may be two hundred texts to read
        cited = content_terms("\n".join(texts[each] for each in citations))
        if cited.isdisjoint(content_terms(answer)):
            warnings.append("The answer shares no keyword with the chunks that it cites")
    return RuledAnswerOut(citation_valid=not errors, errors=errors, warnings=warnings)


def given_passages(body: ValidateBody, store: Store, stop: Stop) -> list[Passage]:
    """The passages an answer may cite.

    Raises NotFound, which names all unknown ids, and RequestError if they are too long.
    """
    items = body.passages
    passages = _named_in(body.answer, store, stop) if items is None else _listed(items, store)
    length = sum(len(passage.text) for passage in passages)
    if length > MAX_TEXTS:
        raise RequestError(
            f"The passages have {length:,} characters; an answer is checked against at most "
            f"{MAX_TEXTS:,}. Check it in parts, or send shorter passages."
        )
    return passages


def validate_out(
    answer: str, given: Sequence[Passage], citation_limit: int, stop: Stop
) -> ValidatedAnswerOut:
    """Check an answer, and say what was found as it is sent. Raises RequestError, Cancelled."""
    effort = Effort(MOST_COMPARED, stop)
    verification: Verification = verify(answer, given, citation_limit, effort)
    return ValidatedAnswerOut(
        citation_valid=verification.valid,
        errors=list(verification.errors),
        warnings=list(verification.warnings),
        sentence_groundedness=verification.sentence_groundedness,
        answer_grounded=verification.answer_grounded,
        sentences=[_sentence(sentence) for sentence in verification.sentences],
        refusal=is_refusal(read_marked(answer, given)),
    )


def _listed(items: Sequence[PassageId | GivenPassage], store: Store) -> list[Passage]:
    """The passages that are sent, and those of the collection that are named."""
    passages: list[Passage] = []
    unknown: list[str] = []
    for item in items:
        if isinstance(item, GivenPassage):
            passages.append(_to_passage(item))
            continue
        try:
            passages.append(store.passage(item))
        except NotFound:
            unknown.append(item)
    if unknown:
        raise NotFound(
            f"The collection holds no passage {shown(unknown)}. Give the ids that a search "
            "returned, or send the passages themselves."
        )
    return passages


def _named_in(answer: str, store: Store, stop: Stop) -> list[Passage]:
    """The passages of every place that a token of the answer names and the collection holds."""
    markers = set(MARKER.findall(answer))
    documents = dict.fromkeys(m[1:].rpartition(" ")[0] for m in MARKER.findall(answer))
    if len(documents) > MAX_DOCUMENTS:
        raise RequestError(
            f"The answer names {len(documents)} documents; at most {MAX_DOCUMENTS} are looked up. "
            "Check it in parts."
        )
    matches: list[Passage] = []
    looked_through = 0
    for document in documents:
        stop.check()
        try:
            passages = store.document_passages(document)
        except NotFound:
            continue  # the check will say so of the sentence that cites it
        matches += [p for p in passages if p.marker in markers]
        looked_through += sum(len(passage.text) for passage in passages)
        if looked_through > MAX_LOOKED_THROUGH:
            raise RequestError(
                f"The documents that the answer names have more than {MAX_LOOKED_THROUGH:,} "
                "characters. Check it in parts, or give the ids of its passages."
            )
    return matches


def _to_passage(item: GivenPassage) -> Passage:
    """A passage that belongs to no collection: without an id, and its text all that is known."""
    return Passage(
        row=0,
        id="",
        document_id=item.document_id,
        corpus="",
        title=item.title or item.document_id,
        text=item.text,
        start=0,
        end=len(item.text),
        page=item.page,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata={},
        locators=(Located(0, item.locator),) if item.locator else (),
    )


def _sentence(sentence: CheckedSentence) -> ValidatedSentenceOut:
    return ValidatedSentenceOut(
        text=sentence.text,
        grounded=sentence.grounded,
        caveat=sentence.caveat,
        errors=list(sentence.errors),
        warnings=list(sentence.warnings),
        citations=[_citation(citation) for citation in sentence.citations],
    )


def _citation(citation: Citation) -> ValidatedCitationOut:
    return ValidatedCitationOut(
        marker=citation.marker,
        locator=citation.locator or None,
        page=citation.passage.page,
        printed_page=citation.passage.printed_page or None,
        line=citation.line,
        quote=citation.quote,
        start=citation.start,
        end=citation.end,
        passage_id=citation.passage.id or None,
    )


def validate_blueprint(serve: Serve) -> APIBlueprint:
    """The verification resource."""
    blueprint = APIBlueprint(
        "validate", __name__, url_prefix="/api", abp_tags=[Tag(name="validate")]
    )

    @blueprint.post(
        "/validate",
        summary="Check an answer's citations",
        responses={200: CheckedOut, 404: Problem},
    )
    def post_validate(body: ValidateBody) -> dict[str, object]:
        services = serve().services
        if body.citations is not None and body.retrieved_chunks is not None:
            with services.tracer.root("validate", "GUARDRAIL") as span:
                span.input(body.answer)
                ruled = check_by_sentinel(body.answer, body.citations, body.retrieved_chunks)
                span.output({"errors": ruled.errors, "warnings": ruled.warnings})
                span.set(citation_valid=ruled.citation_valid, rules="sentinel")
            return ruled.model_dump(mode="json")
        _, target = services.target(None)
        limit = body.citation_limit or target.citation_limit
        stop = waiting()
        with services.tracer.root("validate", "GUARDRAIL") as span:
            span.input(body.answer)
            span.set(citation_limit=limit, sent_passages=len(body.passages or ()))
            passages = given_passages(body, services.store, stop)
            checked = validate_out(body.answer, passages, limit, stop)
            _describe(span, services.store.manifest, passages, checked)
        return checked.model_dump(mode="json")

    return blueprint


def _describe(
    span: Span, manifest: Manifest, passages: Sequence[Passage], checked: ValidatedAnswerOut
) -> None:
    span.output({"errors": checked.errors, "warnings": checked.warnings})
    span.set(
        collection=manifest.collection,
        version=manifest.version,
        decision="valid" if checked.citation_valid else "invalid",
        citation_valid=checked.citation_valid,
        sentence_groundedness=checked.sentence_groundedness,
        answer_grounded=checked.answer_grounded,
        passages=len(passages),
        sentences=len(checked.sentences),
        citations=sum(len(sentence.citations) for sentence in checked.sentences),
        errors=len(checked.errors),
        warnings=len(checked.warnings),
    )
