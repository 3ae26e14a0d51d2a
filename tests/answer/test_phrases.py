"""Refusals are recognised, answers about refusals are answers, caveats are caveats."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atlas_search.answer.check.citations import verify
from atlas_search.answer.check.markers import read_marked
from atlas_search.answer.check.phrases import is_caveat, is_refusal
from tests.citing import passage

REFUSALS = """
The passages do not say.
NO ANSWER
I don't know.
The provided passages do not contain information about the penalty for poaching.
There is no information in the context about the treaty.
Insufficient context.
Not enough information.
No information available.
I have no information about that.
None of the provided passages address this topic.
As an AI language model, I don't have access to that information.
Unable to determine from the given passages.
N/A
LLM unavailable
I cannot answer this question.
Based on the provided context, it is not possible to determine who won the election.
The given documents don't mention any such agreement.
I could not find any information about this in the passages.
There is not enough information in the passages to answer the question.
No relevant information was found.
The passages discuss the right to silence, but do not mention fishing.
I was unable to find the answer in the sources provided.
No information about the ambassador is available in the provided documents.
The provided text doesn't provide any details about Harley's age.
I'm not able to answer that. Could you provide more context?
It is unclear from the passages whether the tenant paid.
While the passages discuss the committee's report, they do not give its date.
Nothing in the passages indicates who signed the letter.
I apologize, but the provided sources do not contain this information.
The excerpts are silent on this point.
Based on the passages, I cannot determine which court heard the appeal.
There is no mention of Lord Harley in the given context.
The context is insufficient to answer the question.
As an AI, I cannot provide legal advice.
It cannot be determined from the passages who drafted the clause.
The language model is currently unavailable.
From the given passages, it is impossible to tell which party appealed.
I couldn't find an answer to your question in the available sources.
The passages lack sufficient information to answer this.
I'm afraid I can't assist with that request.
Regrettably, none of the documents answer your question.
I cannot find the answer in the passages. Please try rephrasing your question.
I'm not sure, as the passages do not mention it.
Although the documents mention the treaty, they do not say who signed it.
I'm unable to determine this from the provided excerpts.
The search results do not contain an answer.
My apologies, but there is no relevant information in the documents.
The provided context says nothing about the duke's marriage.
According to the provided passages, there is no information on this subject.
We do not have enough evidence from the sources to conclude this.
""".strip().splitlines()

IN_OTHER_WORDS = """
I cannot answer. The passages discuss the right to silence instead [legal_uk.act p1].
Please provide more context so that I can answer your question.
Ich weiß es nicht.
Die bereitgestellten Passagen enthalten keine Informationen über den Vertrag.
Je ne sais pas.
Les passages fournis ne mentionnent pas la date du traité.
No lo sé.
Los pasajes proporcionados no mencionan la fecha.
Ik weet het niet.
De gegeven passages bevatten geen informatie over het verdrag.
Not mentioned in the provided passages.
The passages focus on fisheries and do not contain any information about taxation.
I don't know. The documents only cover the years 1954 to 1960 [uk.a p2].
The answer to this question is not found in the passages.
This information is not provided in the context.
Could you please clarify your question?
Es tut mir leid, aber ich kann diese Frage nicht beantworten.
In den Passagen finden sich keine Angaben zum Datum.
Je ne peux pas répondre à cette question.
Il n'y a aucune information à ce sujet dans les documents.
No puedo responder a esta pregunta.
No hay información suficiente en los documentos.
Ik kan deze vraag niet beantwoorden.
Het spijt me, maar de context bevat geen antwoord.
The given information does not allow me to answer.
""".strip().splitlines()
"""Refusals that the short list does not know."""

ANSWERS = """
The court refused leave.
The bill does not mention a penalty [x p1].
Parliament could not agree.
There is no right to silence in Scots law [x p2].
The witness said 'I don't know' [x p3].
"I don't know," said the witness [x p3].
There is no evidence that the accused was present [x p1].
There is no reference to fishing in the Treaty of Rome [x p1].
There was not enough evidence to convict [x p1].
No information was given to the prisoner [x p1].
No answer was given by the minister [x p1].
No licence is needed [x p1].
No, the tenant need not pay [x p1].
None of the ministers attended [x p1].
It is not possible to appeal after 21 days [x p1].
It is unclear whether the king agreed [x p1].
It does not apply to Scotland [x p1].
The report does not say who was there [x p1].
The document was not signed [x p1].
The documents were not found by the police [x p1].
The information could not be disclosed under section 4 [x p1].
The question was put and agreed to [x p1].
The answer is 42 [x p1].
We do not have a constitution in one document [x p1].
I do not see a case for reform [x p1].
I cannot support the amendment, said the member [x p1].
The passages do not say when, but they state that the Act was repealed [x p1].
I cannot answer that fully. The Act requires a licence [x p1].
I don't know. You may appeal within 21 days [x p1].
The Act requires a licence [x p1]. The passages do not say when it was passed.
The passages describe how silence was curtailed in 1994 [x p1]. They do not say when it ended.
The sources disagree: one says 1954 [x p1], the other 1955 [y p2].
According to the passages, the Act was passed in 1954 [x p1].
Sorry is not enough, the bishop wrote [x p1].
Unknown soldiers were buried at the abbey [x p1].
Error of law is a ground of appeal [x p1].
""".strip().splitlines()


def refuses(answer: str) -> bool:
    return is_refusal(read_marked(answer))


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refusal_is_recognised(answer: str) -> None:
    assert refuses(answer)


@pytest.mark.parametrize("answer", [*REFUSALS, *IN_OTHER_WORDS])
def test_no_refusal_passes_verification(answer: str) -> None:
    text = "The passages discuss silence. The documents only cover the years 1954 to 1960."
    sources = [
        passage(text, 0, len(text), document="legal_uk.act"),
        passage(text, 0, len(text), document="uk.a", page=2),
    ]
    assert not verify(answer, sources, citation_limit=5).valid


@pytest.mark.parametrize("answer", ["", " \n", "...", "—", "[x p1]", "**NO ANSWER**", "“N/A”"])
def test_what_says_nothing_is_a_refusal(answer: str) -> None:
    assert refuses(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "The passages do not mention fishing [uk.a p1].",
        "I’m unable to say. The passages don’t mention it. Please ask about something else.",
        "The passages do not mention fishing. They discuss hunting. I cannot answer.",
        "[LLM unavailable]",
        "> The sources do not say who signed; they only discuss the treaty's aims.",
    ],
)
def test_a_refusal_may_be_cited_marked_up_and_several_sentences_long(answer: str) -> None:
    assert refuses(answer)


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_none(answer: str) -> None:
    assert not refuses(answer)


@pytest.mark.parametrize(
    "sentence",
    [
        "The passages do not say when.",
        "However, the provided documents do not give the date.",
        "The sources contain no information on this.",
        "These excerpts do not explicitly name the author.",
    ],
)
def test_a_caveat_is_recognised(sentence: str) -> None:
    assert is_caveat(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bill does not mention a penalty.",
        "There is no mention of fishing in the Act.",
        "The passages do not only say when.",
        "The passages do not say when, but it was in 1954.",
        "The passages discuss hunting.",
        "They do not say when.",
        "NO ANSWER",
        "The passages do not mention it, as the judge was bribed by him.",
        "The passages do not mention it as the judge was bribed by him.",
        "The passages do not mention it because the judge was bribed.",
        "The passages do not mention the judge, who was bribed.",
        "The passages do not mention it, which shows that the judge was bribed.",
        "The passages do not mention it — the judge was bribed.",
        "The passages do not mention it (the judge was bribed).",
        "The passages do not mention it, the judge was bribed.",
        "The passages do not mention it, and the judge was bribed.",
        "The judge, who was bribed, is not mentioned in the passages.",
        "Although the passages show that he was bribed, the passages do not say when.",
        "Die Passagen nennen keinen Termin, weil er bestochen wurde.",
        f"The passages do not say when{' or when' * 80} or that he was bribed.",
    ],
)
def test_what_says_anything_of_the_subject_is_no_caveat(sentence: str) -> None:
    assert not is_caveat(sentence)


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    assert refuses(text) in (True, False)
    assert is_caveat(text) in (True, False)
