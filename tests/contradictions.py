"""Pairs of sentences that contradict each other, or may both be right; passages that say them."""

from collections.abc import Mapping

from atlas_search.answer.conflicts import Contradiction, conflicts_between
from atlas_search.core.domain import CheckedPassage, MetadataValue, Passage, RankedPassage

BEGIN = 100  # where each passage begins in its document


def passage(
    document: str,
    text: str,
    corpus: str = "rules",
    title: str = "",
    language: str = "en",
    metadata: Mapping[str, MetadataValue] | None = None,
) -> CheckedPassage:
    found = Passage(
        row=0,
        id=f"{document}:{BEGIN}-{BEGIN + len(text)}",
        document_id=document,
        corpus=corpus,
        title=title,
        text=text,
        start=BEGIN,
        end=BEGIN + len(text),
        page=1,
        line=1,
        section="",
        speaker="",
        date="",
        url="",
        metadata=metadata or {},
        language=language,
    )
    return CheckedPassage(RankedPassage(found, 1.0, {}), True, 1.0, ())


def between(question: str, *texts: str) -> tuple[Contradiction, ...]:
    """The conflicts between documents that hold one text each."""
    items = [passage(f"rules.{number}", text) for number, text in enumerate(texts)]
    return conflicts_between(question, items)


CONTRADICTORY = [
    (
        "How may SSNs be stored?",
        "SSNs must not be stored in plaintext.",
        "SSNs may be stored in plaintext.",
        "polarity",
    ),
    (
        "How are social security numbers stored?",
        "Social security numbers must never be stored in plaintext.",
        "Social security numbers can be stored in plaintext for testing.",
        "polarity",
    ),
    (
        "What is the API rate limit?",
        "The API limit is 100 requests per minute.",
        "The API allows 1000 requests per minute.",
        "number",
    ),
    (
        "How long do customers have for a refund?",
        "Customers may ask for a refund within 30 days of purchase.",
        "Refunds are granted within 14 days of purchase.",
        "number",
    ),
    (
        "What is the refund period?",
        "The refund period is 30 days.",
        "Refunds are available for up to two weeks.",
        "number",
    ),
    ("What is the late fee?", "The late fee is $25.", "The late fee is $40.", "number"),
    (
        "What interest is charged on late payments?",
        "Interest of 5% is charged on late payments.",
        "Late payments bear interest of 8 per cent.",
        "number",
    ),
    (
        "How long are audit logs kept?",
        "Audit logs are kept for 90 days.",
        "Audit logs are kept for one year.",
        "number",
    ),
    (
        "At what age may a person vote?",
        "A person may vote at the age of 18.",
        "A person may vote at the age of 16.",
        "number",
    ),
    (
        "Is remote work allowed?",
        "Remote work is allowed.",
        "Remote work is prohibited.",
        "polarity",
    ),
    (
        "Is encryption at rest required?",
        "Encryption at rest is mandatory.",
        "Encryption at rest is optional.",
        "polarity",
    ),
    (
        "Is a warrant required to search a car?",
        "A warrant is required to search a car.",
        "No warrant is required to search a car.",
        "polarity",
    ),
    (
        "Are trade unions lawful?",
        "Trade unions are lawful.",
        "Trade unions are unlawful.",
        "polarity",
    ),
    (
        "Did Utopia abolish the death penalty?",
        "Utopia abolished the death penalty.",
        "Utopia retained the death penalty.",
        "polarity",
    ),
    (
        "How many members has the Senate of Utopia?",
        "The Senate of Utopia has 60 members.",
        "The Senate of Utopia has 72 members.",
        "number",
    ),
    (
        "How many people died in the Utopia flood?",
        "The Utopia flood killed 144 people.",
        "The Utopia flood killed 116 people.",
        "number",
    ),
    (
        "When was the Factory Act passed?",
        "The Factory Act was passed in 1833.",
        "The Factory Act was passed in 1844.",
        "number",
    ),
    (
        "When did Utopia join the League of Nations?",
        "Utopia joined the League of Nations on 3 May 1921.",
        "Utopia joined the League of Nations on 5 May 1921.",
        "number",
    ),
    (
        "May visitors take photographs?",
        "Visitors may take photographs.",
        "Visitors may not take photographs.",
        "polarity",
    ),
    (
        "Does the vaccine cause fever?",
        "The vaccine does not cause fever.",
        "The vaccine causes fever.",
        "polarity",
    ),
    (
        "How many votes did the Reform Bill get?",
        "The Reform Bill passed with 302 votes.",
        "The Reform Bill passed with 312 votes.",
        "number",
    ),
    (
        "Are passwords rotated?",
        "Passwords must be rotated every 90 days.",
        "Passwords must be rotated every 30 days.",
        "number",
    ),
    (
        "Can contractors access production?",
        "Contractors cannot access production.",
        "Contractors can access production.",
        "polarity",
    ),
    (
        "How long can suspects be held without charge?",
        "Suspects can be held for 14 days without charge.",
        "Suspects can be held for 28 days without charge.",
        "number",
    ),
    (
        "What did the Utopia Treaty cost?",
        "The Utopia Treaty cost £2 million.",
        "The Utopia Treaty cost £3.5 million.",
        "number",
    ),
    (
        "How long is the notice period?",
        "The notice period for termination is three months.",
        "Termination requires a notice period of one month.",
        "number",
    ),
    (
        "What does the Data Act fine?",
        "Breaches of the Data Act are punished with a fine of up to €20 million.",
        "The Data Act punishes breaches with fines of up to €10 million.",
        "number",
    ),
    (
        "Is smoking allowed in the building?",
        "Smoking is not permitted in the building.",
        "Smoking is permitted in the building.",
        "polarity",
    ),
]

COMPATIBLE = [
    (
        "What does the Privacy Act empower?",
        "The Privacy Act 1993 empowers tribunals.",
        "The Privacy Act 2020 empowers tribunals.",
    ),
    (
        "What did the Utopia Reform do?",
        "The Utopia Reform, passed on 24 January, 1963, makes landlords liable.",
        "The Utopia Reform makes 14 landlords liable.",
    ),
    (
        "How much leave?",
        "Full-time employees get 25 days of annual leave.",
        "Part-time employees get 12 days of annual leave.",
    ),
    (
        "Who does the leave policy apply to?",
        "The annual leave policy does not apply to employees.",
        "The annual leave policy applies to contractors.",
    ),
    (
        "What is the museum ticket?",
        "The adult ticket for the museum costs $20.",
        "The child ticket for the museum costs $10.",
    ),
    (
        "How long is the refund period?",
        "Refunds are granted within 30 days.",
        "Refunds are granted within one month.",
    ),
    (
        "How long is the refund period?",
        "Refunds are granted within 2 weeks.",
        "Refunds are granted within 14 days.",
    ),
    (
        "How many people live in Utopia?",
        "About 5,000 people live in Utopia.",
        "Some 4,950 people live in Utopia.",
    ),
    (
        "How many people live in Utopia?",
        "Utopia has nearly 2 million people.",
        "Utopia has 1.96 million people.",
    ),
    (
        "How many people lived in Utopia?",
        "Utopia had 5 million people in 1990.",
        "Utopia had 6 million people in 2000.",
    ),
    (
        "How long are logs kept?",
        "Logs are kept for at least 30 days.",
        "Logs are kept for 90 days.",
    ),
    ("How long are logs kept?", "Logs are kept for 5 to 10 years.", "Logs are kept for 7 years."),
    (
        "What does section 5 require?",
        "Section 5 requires notice of 10 days.",
        "Section 6 requires notice of 20 days.",
    ),
    (
        "How was he sentenced?",
        "The defendant was sentenced to five years.",
        "The defendant was sentenced to ten years.",
    ),
    (
        "How was the appeal decided?",
        "The Court decided the case 5 to 4.",
        "The Court decided the case 7 to 2.",
    ),
    (
        "How long does this agreement last?",
        "This Agreement lasts for two years.",
        "This Agreement lasts for five years.",
    ),
    ("How old was he?", "He was 15 years old at trial.", "He was 17 years old at trial."),
    (
        "May data be shared?",
        "Data may be shared with consent.",
        "Data may not be shared without consent.",
    ),
    (
        "May the data be disclosed?",
        "The data may not be disclosed unless the owner agrees.",
        "The data may be disclosed.",
    ),
    (
        "Was slavery lawful in Utopia?",
        "Slavery was lawful in Utopia.",
        "Slavery is unlawful in Utopia.",
    ),
    (
        "Was slavery abolished in Utopia or Erewhon?",
        "Slavery is lawful in Utopia.",
        "Slavery is unlawful in Erewhon.",
    ),
    ("Is torture lawful?", "Counsel argued that torture is lawful.", "Torture is unlawful."),
    ("Is torture lawful?", "Is torture lawful?", "Torture is unlawful."),
    (
        "Is privacy protected?",
        "Privacy is not only protected by statute.",
        "Privacy is protected by statute.",
    ),
    ("Must the fee be paid?", "The fee must be paid.", "The fee must not be paid in cash only."),
    ("What is the fee?", "The annual fee is $50.", "The fee is $20."),
    ("What is the fee?", "The fee is $20.", "The fee is €20."),
    (
        "What is the service fee?",
        "The service fee after 5 years is $20.",
        "The service fee after 10 years is $30.",
    ),
    ("How many votes?", "The motion got 5 votes.", "The amendment got 6 votes."),
    (
        "When was the Privacy Act passed?",
        "The Privacy Act 1993 sets up 12 principles.",
        "The Privacy Act 2020 sets up 13 principles.",
    ),
    (
        "When did the court sit?",
        "The trial of Roe began in 1950.",
        "The trial of Roe ended in 1952.",
    ),
    (
        "When was the Factory Act passed?",
        "The Factory Act was passed in 1833.",
        "The Factory Act was passed on 29 August 1833.",
    ),
    (
        "Is entry permitted?",
        "Some visitors may not enter the vault.",
        "Visitors may enter the vault.",
    ),
    ("Is a warrant required?", "A warrant is required.", "A warrant is lawful."),
    (
        "What share of revenue is tax?",
        "Tax is 20% of revenue.",
        "Tax is one of 20 items of revenue.",
    ),
    (
        "Is the purpose lawful?",
        "Data is collected for a lawful purpose.",
        "Data is not collected by unlawful means.",
    ),
    (
        "Is strict liability fair?",
        "Strict liability is not a crime of intent.",
        "Strict liability is a tort.",
    ),
    ("How far is the coast?", "The coast is 10 miles away.", "The coast is 16 kilometres away."),
    ("How long may trials take?", "Trials take 90 minutes.", "Trials take 1.5 hours."),
    (
        "What is the limit in Ohio?",
        "The limit for detention in Ohio is 30 days.",
        "The limit for detention is 60 days.",
    ),
    ("How many members?", "The committee has 12 members.", "The council has 15 members."),
    ("What share voted?", "Turnout in Utopia was over 60%.", "Turnout in Utopia was 64%."),
]

LIMIT = "What is the API limit?"

LOW = "The API limit is 100 requests per minute."

HIGH = "The API limit is 1000 requests per minute."


def superseded(by: str) -> list[CheckedPassage]:
    old = "Refunds are granted within 14 days."
    new = "Refunds are granted within 30 days."
    return [
        passage("rules.refunds-2023", new, title="Refunds 2023"),
        passage("rules.refunds-2019", old, title="Refunds 2019", metadata={"superseded_by": by}),
    ]
