"""Answering with a language model: its text verified, repaired once, refusals recognised."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from atlas_search.answer.answer import Context, Restart, Writer
from atlas_search.answer.check.citations import Doubt, Verification, sum_up
from atlas_search.answer.check.markers import as_quoted
from atlas_search.answer.conflicts import find_concealed
from atlas_search.answer.decide import ANSWERED, Outcome, after_writing, refuse
from atlas_search.answer.judge import judge_of
from atlas_search.answer.prompts import Filled, prompt
from atlas_search.answer.quotes.scores import LIKELY, names_missing
from atlas_search.answer.run import AnswerRun, Evidence
from atlas_search.answer.wire import Fallback
from atlas_search.answer.write.call_model import ask_yes_or_no, call_model
from atlas_search.answer.write.prompt import StreamedReply, context_of, ending_in, repair, schema_of
from atlas_search.answer.write.quotes import extract
from atlas_search.answer.write.relay import NOTHING, Relay, Written, judge_text
from atlas_search.core.domain import Passage
from atlas_search.core.errors import ModelRefused, ModelUnavailable
from atlas_search.language.languages import DEFAULT_LANGUAGE
from atlas_search.language.text import all_terms, content_terms
from atlas_search.providers.chat import ChatModel, Ended, Message


def strike_doubtful(run: AnswerRun, evidence: Evidence, written: Written) -> Written:
    """Strike the sentences that a judge doubts, and pass the others on again.

    The text is declined if no other sentence cites anything. Without doubts it stays as it is.
    """
    doubts = written.verification.doubts
    if not doubts:
        return written
    run.tell(Restart("struck"))
    numbers = {doubt.number for doubt in doubts}
    sentences = enumerate(written.verification.sentences, start=1)
    remaining = [sentence for number, sentence in sentences if number not in numbers]
    if not any(sentence.grounded for sentence in remaining):
        checked = replace(written.verification, doubts=(), struck=doubts)
        return replace(written, text="", outcome=_decline(doubts), verification=checked)
    run.tell_again(remaining)
    text, verifier = "\n".join(s.line for s in remaining), written.verification.verified_by
    checked = replace(sum_up(remaining), verified_by=verifier, struck=doubts)
    outcome = after_writing(text, checked, find_concealed(evidence.conflicts, checked))
    said = text if outcome is ANSWERED else ""
    return replace(written, text=said, verification=checked, outcome=outcome)


def _decline(doubts: Sequence[Doubt]) -> Outcome:
    """The outcome of a text of which nothing is supported."""
    contradicted = sum(doubt.verdict == "contradicted" for doubt in doubts)
    reasons = " ".join(dict.fromkeys(doubt.reason for doubt in doubts))
    return Outcome(
        "ABSTAIN",
        "unsupported",
        f"The sources do not support what was written. {reasons}",
        {"struck": len(doubts), "contradicted": contradicted},
    )


_ADMITS = re.compile(
    r"\b(?:no|none of the|neither) (?:\w+ )?(?:passage|source|document|text|record|extract)s?\b|"
    r"(?:\bnot|n['’]t|\bnever|\bnowhere) (?:\w+ )?(?:name|mention|speak|say|refer|contain|hold|"
    r"give|include|cover)\w*|\b(?:is|are|was|were) (?:not|nowhere) (?:named|mentioned|found)\b",
    re.IGNORECASE,
)


def asserts_of_absent(absent: Sequence[str], checked: Verification) -> Outcome | None:
    """Return the fault of a text that states something of a name or figure no passage holds.

    A sentence that says so itself is left alone.
    """
    for name in absent:
        terms = all_terms(name)
        for sentence in checked.sentences:
            if terms <= all_terms(sentence.text) and not _ADMITS.search(sentence.text):
                return Outcome(
                    "BLOCK",
                    "unknown_name",
                    f"The answer states something of {name}, which no passage speaks of.",
                )
    return None


ATTEMPTS = 2  # the answer, and one repair
CITATIONS_ONLY = (
    "Citations were checked, but not whether the cited passages support each sentence (VERIFY)."
)

_FAULTS = {
    "length": Outcome("BLOCK", "cut_short", "The answer was cut off at MAX_TOKENS; be briefer."),
    "filtered": Outcome("BLOCK", "withheld", "The provider withheld a part of the answer."),
}


def generate(run: AnswerRun, evidence: Evidence, model: ChatModel) -> Written:
    """Let the model answer.

    Where it finds no answer, quotes take its place if they are likely one, or possibly one and it
    said first that the passages answer. Sentences that a judge doubts, where the target has one,
    are repaired too, and struck if they stay doubtful.

    Raises ModelRefused and ModelUnavailable.
    """
    # a name has other forms in other languages
    english = all(passage.language == DEFAULT_LANGUAGE for passage in evidence.passages)
    absent = names_missing(run.question, evidence.passages) if english else ()
    context = _context(run, evidence, absent)
    passages = evidence.passages[: context.passages]
    filled = _filled(run, passages)
    form = prompt("form").substitute(citation_limit=run.target.citation_limit)
    messages, needed = ending_in(context.messages, form), LIKELY
    if run.target.ask_first:
        ask_messages = ending_in(context.messages, prompt("ask").template)
        about = Filled("ask", prompt("ask"), filled.variables)
        can_answer = ask_yes_or_no(run, model, ask_messages, about)
        if can_answer is False:
            writer = run.writer(model.name, attempts=1)
            return replace(_quote_or_refuse(run, evidence, writer, needed), context=context)
        if can_answer:  # be it that it cannot say what the answer is
            needed = run.likelihood
        # a server that keeps what it read reads nothing twice
        messages = (*ask_messages, Message("assistant", "yes"), Message("user", form.strip()))
    context = replace(context, messages=messages)
    for attempt in range(1, ATTEMPTS + 1):
        relay, reply, ended = _attempt(run, model, messages, passages, filled, attempt)
        writer = run.writer(model.name, ended.model, attempt)
        if relay.is_refusal:
            return replace(_quote_or_refuse(run, evidence, writer, needed), context=context)
        relay.finish()
        fault = (
            _FAULTS.get(ended.reason)
            or asserts_of_absent(absent, relay.verification)
            or _only_repeats(run.question, relay)
        )
        written = judge_text(run, evidence, relay, writer, fault, judge_of(run, model))
        problems = [*([fault.message] if fault else []), *_problems(evidence, written)]
        if not problems or attempt == ATTEMPTS:
            break
        run.tell(Restart("repair"))
        messages = repair(messages, reply.raw, problems, passages)
        filled = Filled("repair", prompt("repair"), {"problems": problems})
    if written.outcome.decision == "BLOCK" and run.target.llm_fallback == "extractive":
        run.tell(Restart("fallback"))
        did = "wrote what cannot be verified"
        quotes = _quotes(run, evidence, "model_blocked", did, needed)
        if quotes.outcome is ANSWERED:
            return replace(quotes, context=context)
    notes = [f"No passage found speaks of {name}." for name in absent]
    if written.verification.verified_by == "citations" and written.text:
        notes.append(CITATIONS_ONLY)
    return replace(strike_doubtful(run, evidence, written), context=context, notes=tuple(notes))


def _attempt(
    run: AnswerRun,
    model: ChatModel,
    messages: Sequence[Message],
    passages: Sequence[Passage],
    filled: Filled,
    attempt: int,
) -> tuple[Relay, StreamedReply, Ended]:
    """Let the model write once; its sentences are verified and passed on as they come."""
    relay = Relay(run.tell, passages, run.target.citation_limit)
    reply = StreamedReply(passages)
    done = call_model(
        run,
        model,
        messages,
        filled=filled,
        attempt=attempt,
        schema=schema_of(len(passages)),
        pass_on=lambda piece: relay.add(reply.add(piece)),
    )
    relay.add(reply.finish())
    return relay, reply, done.ended


def _only_repeats(question: str, relay: Relay) -> Outcome | None:
    """Return the fault of a text that only says the question again as a statement.

    A small model likes to, be it so or not. If the source says just that, it is no fault.
    """
    language = relay.given[0].language
    question_terms = all_terms(f"{question} yes no", language)
    cited = [each for each in relay.verification.sentences if each.grounded]
    if cited and all(
        content_terms(each.text, language) <= question_terms
        and not any(each.text.rstrip(".") in place.passage.text for place in each.citations)
        for each in cited
    ):
        return Outcome(
            "BLOCK",
            "repeats_question",
            "The answer only repeats the question; say what the passages say of it.",
        )
    return None


def _filled(run: AnswerRun, passages: Sequence[Passage]) -> Filled:
    name = run.target.system_prompt
    variables = {
        "citation_limit": run.target.citation_limit,
        "question": run.question,
        "passages": [passage.marker for passage in passages],
    }
    return Filled(name, run.answerer.rules[name], variables)


def _context(run: AnswerRun, evidence: Evidence, absent: tuple[str, ...]) -> Context:
    with run.stage("context") as stage:
        rules = run.answerer.rules[run.target.system_prompt]
        context = context_of(
            run.question, evidence.passages, run.request.history, rules, run.target, absent
        )
        dropped = context.turns_dropped + run.request.turns_dropped
        return stage.done(replace(context, turns_dropped=dropped))


def _quote_or_refuse(run: AnswerRun, evidence: Evidence, writer: Writer, needed: float) -> Written:
    """Quote, if quotes are as likely as `needed`, where the model finds no answer."""
    quotes = _quotes(run, evidence, "model_refused", "found no answer", needed)
    if quotes.outcome is ANSWERED:
        return quotes
    return Written("", NOTHING, refuse(evidence.result), writer, closest=quotes.closest)


def _quotes(
    run: AnswerRun,
    evidence: Evidence,
    code: Literal["model_refused", "model_blocked"],
    did: str,
    needed: float,
) -> Written:
    """Quotes in place of the model, which `did` something else, if as likely as `needed`."""
    word = "likely" if needed >= LIKELY else "possibly"
    reason = f"{run.model_name} {did}, but these sentences {word} hold the answer."
    return extract(run, replace(evidence, readings=()), Fallback(code, reason), needed=needed)


def _problems(evidence: Evidence, written: Written) -> list[str]:
    """List what a repair has to mend."""
    return [
        *written.verification.errors,
        *(
            "The passages contradict each other, and only one side is given: "
            f"{as_quoted(conflict.detail)} Give both: {conflict.first.passage.marker} "
            f"and {conflict.second.passage.marker}."
            for conflict in find_concealed(evidence.conflicts, written.verification)
        ),
        *(
            f"Sentence {doubt.number} (“{doubt.sentence}”) is not supported by what it cites: "
            f"{doubt.reason} Say only what the cited passages say, or leave it out."
            for doubt in written.verification.doubts
        ),
    ]


def write(run: AnswerRun, evidence: Evidence) -> Written:
    """Write, verify, decide.

    Raises ModelRefused or ModelUnavailable if a model is to write that cannot be used, unless the
    target has a fallback.
    """
    if run.model is None:
        return extract(run, evidence)
    try:
        return generate(run, evidence, run.model)
    except (ModelRefused, ModelUnavailable) as error:
        if run.target.llm_fallback != "extractive":
            raise
        run.tell(Restart("fallback"))
        return extract(run, evidence, fallback_for(error))


def fallback_for(error: ModelRefused | ModelUnavailable) -> Fallback:
    """Return the reason why the sources' own sentences stand in for a model that cannot be used."""
    if isinstance(error, ModelUnavailable):
        return Fallback("model_unavailable", str(error))
    return Fallback("model_unusable", str(error))
