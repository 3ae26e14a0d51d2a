"""Pairs of rules of which only one can hold, and pairs that can hold side by side.

Each has the question asked and a sentence of each of two documents.
"""

RULES_IN_CONFLICT = [
    # what one permits the other forbids
    (
        "May employees record meetings?",
        "Employees may record meetings.",
        "Employees must not record meetings.",
        "polarity",
    ),
    ("May tenants keep dogs?", "Tenants may keep dogs.", "Tenants may not keep dogs.", "polarity"),
    (
        "May employees record meetings?",
        "Employees may record meetings.",
        "Recording of meetings is prohibited.",
        "polarity",
    ),
    (
        "May meetings be recorded?",
        "It is forbidden to record meetings.",
        "Employees can record meetings.",
        "polarity",
    ),
    (
        "Is parking in the yard permitted?",
        "Parking in the yard is permitted.",
        "Parking in the yard is prohibited.",
        "polarity",
    ),
    (
        "Are drones allowed over the reserve?",
        "Drones are allowed over the reserve.",
        "No drones may be flown over the reserve.",
        "polarity",
    ),
    (
        "May wardens search bags?",
        "Wardens are authorised to search bags.",
        "Wardens shall not search bags.",
        "polarity",
    ),
    (
        "Are candles allowed in the chapel?",
        "Candles are banned in the chapel.",
        "Candles are permitted in the chapel.",
        "polarity",
    ),
    (
        "May interns sign contracts?",
        "Interns are not allowed to sign contracts.",
        "Interns are entitled to sign contracts.",
        "polarity",
    ),
    (
        "May plugins write to the cache?",
        "Plugins MUST NOT write to the cache.",
        "Plugins MAY write to the cache.",
        "polarity",
    ),
    # an exception to what is said to have none
    (
        "Can we store SSNs in plaintext?",
        "SSNs must not be stored in plaintext; encrypt at rest.",
        "SSNs may be stored in plaintext in restricted internal systems.",
        "polarity",
    ),
    (
        "May employees record meetings?",
        "Employees may record meetings with consent.",
        "Employees must not record meetings.",
        "polarity",
    ),
    # what one demands the other forbids
    (
        "Must the clerk publish the register?",
        "The clerk shall publish the register.",
        "The clerk shall not publish the register.",
        "polarity",
    ),
    (
        "What happens to old backups?",
        "Old backups must be deleted.",
        "Old backups may not be deleted.",
        "polarity",
    ),
    # what one demands the other leaves open
    (
        "Must visitors wear badges?",
        "Visitors must wear badges.",
        "Visitors need not wear badges.",
        "polarity",
    ),
    (
        "Must visitors wear badges?",
        "Visitors must wear badges.",
        "Visitors are not required to wear badges.",
        "polarity",
    ),
    (
        "Is a deposit required?",
        "A deposit is required.",
        "Paying a deposit is optional.",
        "polarity",
    ),
    (
        "Is registration of boats compulsory?",
        "Registration of boats is compulsory.",
        "Registration of boats is voluntary.",
        "polarity",
    ),
    (
        "Do divers need a licence?",
        "Divers must have a licence.",
        "No licence is required for divers.",
        "polarity",
    ),
    (
        "Do members have to attend the annual meeting?",
        "Members have to attend the annual meeting.",
        "Members do not have to attend the annual meeting.",
        "polarity",
    ),
    (
        "Are drivers obliged to carry a first aid kit?",
        "Drivers are obliged to carry a first aid kit.",
        "Drivers don't have to carry a first aid kit.",
        "polarity",
    ),
    # rates and limits
    (
        "How many requests may be sent per hour?",
        "The standard plan may send 1,000 requests per hour.",
        "The standard plan may send 300 requests per hour.",
        "number",
    ),
    (
        "What is the API limit?",
        "The API allows 1,000 requests an hour.",
        "Clients are limited to 300 requests per hour.",
        "number",
    ),
    (
        "How many requests may clients make?",
        "Clients may make up to 1,000 requests every hour.",
        "The service is capped at 300 requests per hour.",
        "number",
    ),
    (
        "How many requests does the gateway accept?",
        "The gateway accepts 5 requests a minute.",
        "The gateway accepts 500 requests an hour.",
        "number",
    ),
    (
        "How many downloads does an account allow?",
        "An account allows 20 downloads daily.",
        "An account allows 50 downloads per day.",
        "number",
    ),
    (
        "How many books may members borrow?",
        "Members may borrow at most five books.",
        "No more than eight books may be borrowed by members.",
        "number",
    ),
    (
        "How large may attachments be?",
        "Attachments must not exceed 10 megabytes.",
        "Attachments may have up to 25 megabytes.",
        "number",
    ),
    (
        "How many guests may a member bring?",
        "A member may bring not more than two guests.",
        "A member may bring up to four guests.",
        "number",
    ),
    (
        "How long may a visitor stay?",
        "A visitor may stay for a maximum of 90 days.",
        "A visitor may stay for no longer than 60 days.",
        "number",
    ),
    (
        "How many characters must a password have?",
        "A password must have at least 8 characters.",
        "Passwords must have a minimum of 12 characters.",
        "number",
    ),
    (
        "How much notice must a tenant give?",
        "A tenant must give at least 30 days' notice.",
        "A tenant must give not less than 60 days' notice.",
        "number",
    ),
    (
        "What is the speed limit on the causeway?",
        "The speed limit on the causeway is 30 kilometres per hour.",
        "Speed on the causeway is limited to 50 kilometres an hour.",
        "number",
    ),
    (
        "How long are complaints kept?",
        "Complaints may be kept for up to 2 years.",
        "Complaints may be kept for up to 5 years.",
        "number",
    ),
    (
        "What does a mooring cost?",
        "A mooring costs $40 a month.",
        "A mooring costs $600 a year.",
        "number",
    ),
    (
        "What is the penalty for littering?",
        "The penalty for littering is a fine not exceeding $200.",
        "The penalty for littering is a fine of up to $500.",
        "number",
    ),
    (
        "How soon must appeals be filed?",
        "Appeals must be filed within 21 days.",
        "An appeal must be filed within 28 days.",
        "number",
    ),
]

RULES_SIDE_BY_SIDE = [
    # another subject
    (
        "Who must not enter the vault?",
        "Visitors may enter the vault.",
        "Staff must not enter the vault.",
    ),
    (
        "May materials be shipped?",
        "Materials may be shipped by air.",
        "Hazardous materials may not be shipped by air.",
    ),
    ("May data be exported?", "Data may be exported.", "Patient data must not be exported."),
    (
        "How many requests?",
        "The search endpoint allows 10 requests per minute.",
        "The upload endpoint is limited to 5 requests per minute.",
    ),
    (
        "How many requests may clients make?",
        "Trusted clients may make 900 requests per hour.",
        "Clients may make 300 requests per hour.",
    ),
    (
        "How many requests may clients make?",
        "Clients may make 900 requests per hour.",
        "Users may make 300 requests per hour.",
    ),
    (
        "How many messages may users send or receive?",
        "Users may send 5 messages a day.",
        "Users may receive 10 messages a day.",
    ),
    ("What is the fee?", "The fee for adults is $20.", "The fee for children is $10."),
    ("What is the fee?", "The fee is $20.", "The fee for books is $10."),
    (
        "What is the refund period?",
        "The refund period is 30 days.",
        "The EU refund period is 14 days.",
    ),
    ("Who must register?", "Boats must be registered.", "Rowing boats need not be registered."),
    ("May staff vote?", "Members of staff may vote.", "Members of the board may not vote."),
    # another condition, place or time
    (
        "May employees record meetings?",
        "Employees may record meetings.",
        "Employees must not record meetings with clients.",
    ),
    (
        "May dogs be walked?",
        "Dogs may be walked in the park.",
        "Dogs may not be walked on the beach.",
    ),
    ("Is smoking permitted?", "Smoking is permitted in the courtyard.", "Smoking is prohibited."),
    (
        "May the gate be opened?",
        "The gate may be opened during the day.",
        "The gate must not be opened at night.",
    ),
    (
        "May records be destroyed?",
        "Records may be destroyed after 7 years.",
        "Records must not be destroyed.",
    ),
    ("May a judge sit?", "A judge may sit alone.", "A judge may not sit without a clerk."),
    ("Is a visa required?", "A visa is required unless waived.", "A visa is not required."),
    (
        "Is a permit required?",
        "A permit is required where the wall is listed.",
        "No permit is required.",
    ),
    (
        "May minors be employed?",
        "Minors may be employed.",
        "Minors under 14 years may not be employed.",
    ),
    # another year
    ("What was the fee?", "In 2019 the fee is $20.", "In 2023 the fee is $25."),
    (
        "How many books may members borrow?",
        "From 2021 members may borrow 8 books.",
        "Members may borrow 5 books.",
    ),
    ("May tenants keep dogs?", "Since 2015 tenants may keep dogs.", "Tenants may not keep dogs."),
    # a least and a most, or a bound and what it allows
    (
        "How many characters may a password have?",
        "A password must have at least 8 characters.",
        "A password may have at most 64 characters.",
    ),
    ("What is the age limit?", "The minimum age limit is 18 years.", "The age limit is 60 years."),
    (
        "How long must the notice be?",
        "The notice must be 14 days or more.",
        "The notice must be 30 days.",
    ),
    (
        "How many guests?",
        "The hall may hold no more than 200 guests.",
        "The hall holds 150 guests.",
    ),
    (
        "How fast is it?",
        "The pump moves over 5 litres a minute.",
        "The pump moves 9 litres a minute.",
    ),
    (
        "What was the turnout?",
        "Turnout reached at least 50% in Utopia.",
        "Turnout reached at least 60% in Utopia.",
    ),
    # the same in other units, or two limits that both hold
    (
        "What is the API limit?",
        "The API allows 5 requests a minute.",
        "Clients are limited to 300 requests per hour.",
    ),
    (
        "What is the API limit?",
        "The API allows 100 requests per minute.",
        "The API allows 1,000 requests per hour.",
    ),
    (
        "What is the API limit?",
        "The API allows 300 requests per hour.",
        "The API allows 300 requests every hour.",
    ),
    (
        "How many hours may staff work?",
        "Staff may work 10 hours a day.",
        "Staff may work 48 hours a week.",
    ),
    ("What does a mooring cost?", "A mooring costs $40 a month.", "A mooring costs $400 a year."),
    ("What does a permit cost?", "A permit costs $120 a year.", "A permit costs $10 per month."),
    # what may be done need not be done
    (
        "Must members attend?",
        "Members may attend the meeting.",
        "Members need not attend the meeting.",
    ),
    ("Must members attend?", "Members may attend the meeting.", "Members must attend the meeting."),
    ("Must members vote?", "Members must not vote by proxy.", "Members need not vote by proxy."),
    (
        "How long is the notice?",
        "Tenants must give 30 days of notice.",
        "Tenants may give 60 days of notice.",
    ),
    ("Is an exemption possible?", "A waiver is permitted.", "A waiver is optional."),
    # not said as true: a draft, a dissent, a question, a supposition
    (
        "May tenants keep dogs?",
        "The draft says tenants may keep dogs.",
        "Tenants may not keep dogs.",
    ),
    (
        "Is a warrant required?",
        "In dissent, Judge Roe wrote that no warrant is required.",
        "A warrant is required.",
    ),
    ("May tenants keep dogs?", "May tenants keep dogs?", "Tenants may not keep dogs."),
    ("May tenants keep dogs?", "Suppose tenants may keep dogs.", "Tenants may not keep dogs."),
    (
        "May tenants keep dogs?",
        "Imagine a town in which tenants may keep dogs.",
        "Tenants may not keep dogs.",
    ),
    ("What is the late fee?", "For example, the late fee is $10.", "The late fee is $25."),
    ("What is the late fee?", "The proposal sets the late fee at $10.", "The late fee is $25."),
    # other words that only look like rules
    (
        "What does the clerk do in May?",
        "In May the clerk publishes the register.",
        "The clerk shall not publish the register.",
    ),
    ("What may storms do?", "Storms may damage the pier.", "Storms need not damage the pier."),
    (
        "Is the required form optional?",
        "The required form is listed in the annex.",
        "The form is optional.",
    ),
]
