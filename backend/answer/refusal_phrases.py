"""How models say that they cannot answer: patterns for the beginnings of sentences.

They are matched against casefolded text with single blanks and straight apostrophes. The patterns
are those of `regex`, which can tell whether a text could still become a match.
"""

import regex

_NOT = r"(?: not|n't)"
_CANNOT = (
    rf"(?:can(?: ?not|'t)|could{_NOT}|(?:will|would){_NOT} be able to|won't be able to"
    r"|(?:am|'m|was|are|'re|were) (?:currently |therefore )?(?:unable|not able"
    r"|not in a position) to)"
)
_ADVERBS = (
    r"(?:(?:also|explicitly|directly|specifically|clearly|actually|really|currently|simply"
    r"|therefore"
    r"|thus|unfortunately|honestly|reliably|definitively|fully|even|themselves|itself|appear to"
    r"|seem to|in fact|confidently|still|either|here|accurately|by themselves|at all),? )*"
)
_QUALIFIER = (
    r"(?:(?:provided|given|retrieved|supplied|available|above|cited|quoted|listed|current|present"
    r"|search|source|selected|relevant|accompanying|context|two|three|few) )"
)
_GIVEN = (
    r"(?: (?:that )?(?:(?:you|i|we)(?:'ve| have| was| were| am| are)? |(?:were|was|are|is) )?"
    r"(?:been )?(?:provided|given|supplied|retrieved|available|found|above|cited|quoted|shared|here"
    r"|at hand|at my disposal)(?: to me| above| here| with)?)"
)
PASSAGES = (
    rf"(?:(?:(?:any |all |both |each |either )?(?:of )?(?:the|these|those|this|that|your|my|any"
    rf"|all)"
    rf" )?{_QUALIFIER}*(?:passages?|excerpts?|extracts?|snippets?|contexts?|search results?|results"
    r"|sources|documents|texts|materials|chunks)"
    rf"|(?:the|this|these|that|your) {_QUALIFIER}+(?:document|text|article|report|information"
    r"|material|records?|evidence|data|content|collection|corpus|source|reports|articles|set)"
    r"|(?:the|this|these|that) (?:information|material|content|text"
    r"|document)(?= (?:that )?(?:you|i|we"
    rf"|provided|given|supplied|above))){_GIVEN}?"
)
_HOLD = (
    r"(?:contain|mention|provide|include|state|say|specify|answer|address|give|discuss|describe"
    r"|indicate|offer|explain|tell|cover|identify|name|refer|support|reveal|show|list|have|hold"
    r"|clarify|disclose|establish|present|supply|make|define|detail|allow|permit|help|speak|deal"
    r"|record|touch|elaborate|note|confirm|suffice|enable|set out|go into|quote|date|report)"
)
_DENY = (
    rf"{_ADVERBS}(?:(?:do|does|did){_NOT} {_ADVERBS}{_HOLD}\b"
    r"|(?:contain|provide|offer|give|ha(?:ve|s)|include|hold|make|show|present|supply)s? "
    r"(?:no|nothing|insufficient|not enough|too little|little|neither)\b"
    rf"|lacks?\b|fails? to {_HOLD}\b|omits?\b|(?:is|are) {_ADVERBS}silent\b|says? nothing\b"
    rf"|(?:is|are|was|were){_NOT} {_ADVERBS}(?:sufficient|relevant|enough|related|adequate"
    rf"|specific)"
    rf"|(?:is|are|was|were) {_ADVERBS}(?:insufficient|inadequate|unrelated|irrelevant|too)\b"
    rf"|(?:can(?:not|'t| not)|could{_NOT}) {_ADVERBS}(?:answer|tell|support|settle|be used)\b"
    r"|leaves? (?:open|unclear|unanswered|it|this)\b)"
)
_FIND_OUT = (
    r"(?:find|determine|locate|confirm|identify|verify|say|tell|see|give|establish|conclude|infer"
    r"|ascertain|state|offer|speak|be (?:sure|certain)|make|draw|derive|extract|know|provide|point"
    r"|answer)"
)
_THINGS = (
    r"(?:information|context|data|details?|answers?|passages?|documents?|sources?|results?|match"
    r"|matches|evidence|mention|reference|indication|record|discussion|statement|explanation"
    r"|description|text|basis|way|support|knowledge|material|content|excerpts?)"
)
_SOME = r"(?:no|not enough|not any|insufficient|not sufficient|too little|inadequate|nothing)"
_OPENING = (
    r"(?:(?:(?:sorry|unfortunately|regrettably|(?:my )?apologies|however|but|so|and|thus|therefore"
    r"|hence|consequently|moreover|in addition|additionally|furthermore|as such|that said|note that"
    r"|please note that|it should be noted that|nevertheless|overall|in short|in summary"
    r"|as a result|answer|because|since|at present|final answer)[,:;.]? ?(?:but |that )?"
    r"|i(?:'m| am) (?:very |so |really |truly )?(?:sorry|afraid)[,:;]?(?: but| that| to say)?,? "
    r"|i apologi[sz]e(?: for (?:the|any) \w+)?[,:;]? (?:but )?"
    rf"|(?:(?:based|relying|going|judging) (?:solely |only |strictly |purely )?(?:up)?(?:on|by"
    rf"|from)"
    r"|from|in|within|according to|given|with|using|per|across|looking at|having read"
    rf"|(?:after|upon|having) review(?:ing|ed)?(?: of)?|among) {PASSAGES}(?: alone| only)?,? "
    r"|as (?:an?|your) (?:ai|artificial|large|language|text|virtual)[ \w-]{0,40}, "
    r"|as of my [^,]{0,60}, "
    rf"|(?:while|although|though|whilst) (?:i|{PASSAGES}) [^,]{{0,160}}, "
    r")(?:and )?)*"
)
_FIRST_PERSON = r"(?:i|we)(?: |(?='))" + _ADVERBS

_STRONG = (
    rf"{_FIRST_PERSON}(?:(?:do|did){_NOT} {_ADVERBS}know\b"
    rf"|(?:do|did){_NOT} {_ADVERBS}have (?:enough|sufficient|any|the|access|adequate|an answer) ?"
    r"(?:relevant |specific |necessary |required |further )?(?:information|data|details|context|"
    r"evidence|knowledge|answer|access)?\b"
    rf"|{_CANNOT} {_ADVERBS}(?:answer|help|assist|fulfill?|comply|respond|comment|complete"
    rf"|(?:provide|give|offer) (?:an?|you|any) )"
    rf"|(?:have|see|find) (?:no|insufficient|not enough) (?:information|answer|context|idea)"
    r"|(?:must|have to|need to|will|would) (?:respectfully |therefore )?(?:decline|abstain)"
    r"|(?:respectfully )?decline to)"
    rf"|(?:unable|not able) to {_ADVERBS}(?:answer|respond|comply|help)\b"
    rf"|(?:can(?: ?not|'t)|could{_NOT}) {_ADVERBS}(?:answer|respond|help)\b"
    rf"|(?:the|this|that|your) (?:question|query) (?:{_CANNOT} be answered|is unanswerable)"
)
_WEAK = (
    rf"{_FIRST_PERSON}(?:{_CANNOT} {_ADVERBS}(?:{_FIND_OUT}|do that|do this|discuss|engage)\b"
    rf"|(?:do|did|could){_NOT} {_ADVERBS}(?:have|find|see|locate|identify)\b"
    r"|(?:have|found|find|see|have found|had) (?:no|nothing|insufficient|not enough|too little)\b"
    r"|(?:have|am|was) not (?:been )?(?:given|provided|supplied)\b"
    r"|lack\b|would need (?:more|further|additional)|need (?:more|further|additional)"
    rf"|(?:am|'m) {_ADVERBS}(?:not |un)(?:sure|certain|aware|clear)\b"
    r"|(?:will not|won't|would not|would rather not) (?:be able|answer|speculate|provide|guess))"
    rf"|{PASSAGES} {_DENY}|(?<=, )(?:they|it) {_DENY}|(?:none|neither) of {PASSAGES} "
    r"|(?:no|neither) (?:of the )?(?:single )?(?:\w+ )?(?:passages?|excerpts?|sources?|documents?"
    r"|context) (?:\w+ )?(?:is|are|was|were|has|have|mentions?|contains?|states?|says?"
    r"|address(?:es)?"
    r"|discuss(?:es)?|answers?|speaks?|gives?|provided?|given|retrieved|found|available)\b"
    rf"|(?:nothing|nowhere) in {PASSAGES} "
    rf"|there(?: (?:is|are|was|were)|'s) {_ADVERBS}(?:{_SOME} (?:[\w'-]+ ){{0,3}}{_THINGS}\b"
    rf"|nothing in {PASSAGES})"
    rf"|there (?:is|are|was|were){_NOT} {_ADVERBS}(?:any|enough|sufficient|much) "
    rf"(?:[\w'-]+ ){{0,3}}{_THINGS}\b"
    rf"|{_SOME} (?:[\w'-]+ ){{0,2}}{_THINGS}(?=[.,;:!]?$| (?:(?:is|are|was|were|has been|could be"
    r"|can be) )?(?:available|provided|given|found|present|included|contained|retrieved|to|in|on"
    r"|about|regarding|for|from|concerning|that|within|exists?))"
    rf"|it(?:'s| is| was| remains) {_ADVERBS}(?:(?:not |im)possible to {_ADVERBS}{_FIND_OUT}\b"
    r"|(?:not (?:clear|stated|specified|mentioned|known|stated|given|addressed)|unclear|unknown)\b)"
    rf"|it {_CANNOT} be (?:determined|established|answered|said|inferred|concluded|confirmed)\b"
    r"|(?:the|this|that|your|an?|such) (?:(?:exact|specific|precise|requested|final|correct"
    r"|required"
    r"|necessary|needed|relevant|particular|detailed|direct|definitive) )?(?:answer|information"
    r"|question|query|request|topic"
    r"|detail|details|subject)(?: to (?:this|that|your|the) question)?(?: you requested)? "
    rf"(?:{_CANNOT} {_ADVERBS}be|(?:is|are|was|were){_NOT}|(?:is|are) (?:unavailable|unknown"
    rf"|missing"
    r"|absent|outside|beyond)|(?:do|does|did)(?: not|n't) appear|falls outside|lies outside)\b"
    rf"|(?:unable|not able|impossible|not possible) to {_ADVERBS}{_FIND_OUT}\b"
    rf"|(?:can(?: ?not|'t)|could{_NOT}) {_ADVERBS}(?:be )?(?:{_FIND_OUT}|determined|found"
    rf"|answered)\b"
    rf"|(?:not|nothing) (?:\w+ )?(?:mentioned|specified|stated|found|provided|addressed|available)"
    rf"(?: in {PASSAGES}|[.,;:!]?$)"
    r"|answering (?:this|that|the|your) question (?:is not|isn't|would|requires)\b"
    r"|(?:more|further|additional) (?:information|context|details?) (?:is|are|would be) (?:needed"
    r"|required|necessary)"
    r"|(?:could|can|would) you (?:please |kindly )?(?:provide|clarify|rephrase|specify|share"
    r"|give)\b|please (?:provide|clarify|rephrase|specify|share|upload|ask)\b"
    r"|i(?:'m| am) (?:only |just )?an ai\b|my (?:training|knowledge)\b"
)
_PLACEHOLDER = (
    r"(?:answer: )?(?:no answer(?: (?:found|available|possible|given))?|n/?a|none|null|nil|unknown"
    r"|not known|unanswerable|not answerable|abstain|no comment|refused?|no response|no output"
    r"|no results?(?: found)?|no match(?:es)?(?: found)?|error(?:[:,] .*)?|i have no idea|no idea"
    r"|not (?:available|found|specified|mentioned|stated|provided|applicable|enough information)"
    r"|(?:the )?(?:llm|model|language model|ai|service|assistant|answer|provider|system|api)"
    r"(?: service| model| provider| response)? (?:is |was )?(?:currently |temporarily )?"
    r"(?:unavailable|not available|offline|unreachable|overloaded|timed out|not configured)"
    r"(?:[.,;:] .*)?|an (?:unexpected )?error (?:has )?occurred.*|something went wrong.*"
    r"|insufficient (?:context|information|evidence|data)|context insufficient)[\]).!\"'”’»*_ ]*$"
)
_IN_GERMAN = (
    r"(?:in|aus) (?:den|dem) (?:\w+ )?(?:passagen|textstellen|textpassagen|auszügen|dokumenten"
    r"|quellen|texten|kontext|text)\b"
)
_OTHER_DENIALS = (
    # German, French, Spanish, Dutch
    r"(?:leider )?(?:(?:die|den|der|in den|in der|im|aus den|aus dem) (?:\w+ )?(?:passagen"
    r"|textstellen|textpassagen|auszüge|auszügen|dokumente|dokumenten|quellen|texte|texten|kontext"
    r"|text)(?: [^.,]{0,60}?)? (?:keine?|keinen|nicht|nichts)\b"
    r"|keine? der (?:passagen|textstellen|quellen|dokumente)\b"
    r"|(?:(?:dazu|darüber|hierzu|hierüber|davon|zu dieser frage) )?(?:steht|stehen|findet sich"
    rf"|finden sich|gibt es) (?:\w+ )?(?:nichts|keine?\b[^.,]{{0,40}}?) {_IN_GERMAN})"
    r"|(?:malheureusement,? )?(?:(?:d'après |selon |dans )?(?:les|le|ces|ce) (?:passages?"
    r"|documents?"
    r"|extraits?|sources|textes?|contexte)(?: fournie?s?| donnée?s?| disponibles)? (?:ne |n')"
    r"|aucune? des (?:passages|sources|extraits|documents)\b)"
    r"|(?:lamentablemente,? )?(?:(?:los|el|las|estos) (?:pasajes?|documentos?|fragmentos?|textos?"
    r"|fuentes|contexto|extractos?)(?: proporcionad[oa]s?| dad[oa]s?| disponibles)? no\b"
    r"|ningun[oa] de (?:los|las) (?:pasajes|fuentes|documentos|fragmentos)\b)"
    r"|(?:helaas )?(?:(?:de|het|in de|uit de) (?:\w+ )?(?:passages?|fragmenten|documenten|bronnen"
    r"|teksten|context|tekst)(?: [^.,]{0,60}?)? (?:geen|niet|niets)\b"
    r"|geen van de (?:passages|bronnen|documenten|fragmenten)\b)"
)
_OTHER_LANGUAGES = (
    r"(?:(?:leider|(?:es )?tut mir leid|entschuldigung|désolée?|malheureusement|je suis désolée?"
    r"|lo siento|lamentablemente|desafortunadamente|sorry|helaas|het spijt me)[,:]? ?"
    r"(?:aber |mais |pero |maar )?)*(?:"
    rf"{_OTHER_DENIALS}"
    r"|(?:ich )?(?:weiss (?:ich )?(?:es |das )?(?:leider )?nicht\b"
    r"|kann (?:ich )?(?:\w+ ){0,6}?(?:nicht|keine)\b|habe (?:ich )?(?:leider )?keine?\b)"
    r"|keine (?:antwort|ausreichende|informationen)\b"
    r"|es (?:gibt|liegen|finden sich) (?:\w+ )?keine (?:\w+ )?(?:informationen|angaben|hinweise)\b"
    r"|je (?:ne |n')(?:\w+ )?(?:sais|peux|dispose|trouve|suis|ai)\b|je l'ignore"
    r"|aucune? (?:information|réponse|passage|source)\b"
    r"|il n'(?:y a (?:pas|aucune)\b|est pas possible de\b)|il est impossible de\b"
    r"|no (?:lo )?sé\b|no (?:puedo|es posible|tengo|dispongo|hay (?:suficiente )?información"
    r"|se (?:menciona|encuentra|especifica|proporciona)|encuentro)\b"
    r"|(?:ik )?(?:weet (?:ik )?(?:het|dat)? ?niet\b|kan (?:ik )?(?:\w+ ){0,5}?(?:niet|geen)\b"
    r"|heb (?:ik )?geen\b)|geen (?:antwoord|informatie)\b|er is geen (?:\w+ )?informatie\b)"
)
_TOPIC = (
    r"(?:discuss|mention|cover|focus|deal|concern|refer|relate|describe|address|are (?:only "
    r"|mainly "
    r"|all |instead )?(?:about|limited|focused)|is (?:only |mainly |instead )?(?:about|limited"
    r"|focused)|talk|speak|contain|provide|treat|consist|pertain|touch)(?:s|es)?\b"
)
_SUBJECT = rf"(?:{PASSAGES}|they|it|these|all of them|(?:most|some|one) of (?:them|{PASSAGES}))"
_MODIFIED = (
    r"(?:(?:only|mainly|instead|primarily|mostly|rather|merely|do|does|all|just|largely),? )*"
)
_COURTESY = (
    r"please\b|(?:if|should) you\b|(?:would|could|can|do) you\b|you (?:may|might|could|can"
    r"|should)\b"
    r"|let me know|feel free|is there anything|try\b|(?:more|further|additional) (?:information"
    r"|context|research|sources?|details?)|thank(?:s| you)|to answer (?:this|that|your|the)"
    r"|i (?:can only|would (?:recommend|suggest)|recommend|suggest|can help|can try|will|was only"
    r"|hope|'d be|would be|can tell)|i'd\b|i'll\b|i can (?:instead|provide|offer|discuss)"
    r"|my (?:role|training|knowledge)|how (?:else )?(?:can|may) i"
)
_APOLOGY = (
    r"(?:i(?:'m| am) (?:very |so |really )?sorry|sorry|(?:my )?apologies|i apologi[sz]e\b[^.!]*)"
)

STRONG = regex.compile(f"(?:{_OPENING})(?:{_STRONG})|{_PLACEHOLDER}", regex.DOTALL)
"""A refusal whatever stands behind it."""
WEAK = regex.compile(f"{_OPENING}(?:{_WEAK})|{_OTHER_LANGUAGES}")
"""One, unless a citation shows that the sources themselves say so."""
DENIAL = regex.compile(
    rf"{_OPENING}(?:{PASSAGES} {_DENY}|(?:none|neither) of {PASSAGES} |(?:nothing|nowhere) in"
    rf" {PASSAGES} |(?:i|we) .*\b{PASSAGES}|there .*\b(?:in|from|by) {PASSAGES}|it .*\b(?:in"
    rf"|from|by) {PASSAGES}|{_SOME} .*\b{PASSAGES})|{_OTHER_DENIALS}"
)
"""What a sentence begins with that is about the passages."""
PASSIVE = regex.compile(
    rf"(?:.{{3,200}}? (?:(?:is|are|was|were){_NOT}|{_CANNOT} be|never)|no .{{2,200}}? (?:is|are|was"
    rf"|were|can be|could be)) {_ADVERBS}(?:mentioned|specified"
    r"|stated|given|provided|named|identified|discussed|described|addressed|explained|determined"
    r"|established|found|answered|included|contained|covered|recorded|available|clear)"
    rf"(?: \w+)? (?:in|by|from|on the basis of|within|anywhere in) {PASSAGES}"
)
"""A denial that begins with its subject, so that only the whole sentence shows it."""
TOPIC = regex.compile(rf"{_OPENING}{_SUBJECT} {_MODIFIED}{_TOPIC}")
"""What the passages are about."""
MIXED = regex.compile(
    rf"{_OPENING}{PASSAGES} {_MODIFIED}{_TOPIC}[^.;]{{0,300}}?,? (?:but|yet|and|however,?) "
    rf"(?:they |it |none of them |that )?{_DENY}"
)
"""What the passages are about, and then what they do not hold."""
THEY = regex.compile(rf"{_OPENING}(?:they|it|none of (?:them|these)) {_DENY}")
COURTESY = regex.compile(rf"{_OPENING}(?:{_COURTESY})")
APOLOGY = regex.compile(rf"{_APOLOGY}[.!, ]*$")
NAMES_PASSAGES = regex.compile(rf"\b{PASSAGES}\b|\b{_IN_GERMAN}")
OPENING = regex.compile(_OPENING)
"""What comes before what a sentence says: an apology, what it is based on."""
DENYING = regex.compile(_DENY)
CONTRAST = regex.compile(
    r"(?:[,:—–] ?|;? )(?:but|however,|although|though|yet|nevertheless|whereas|except that) |; "
)
