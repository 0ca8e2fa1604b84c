"""How sentences affirm, deny, weigh and doubt what a yes-or-no question asks.

Forms of English by which studies of any subject state a finding, none of them a subject;
`activities.text.verdict` reads with them.
"""

import re

from activities.text.negation import NEGATOR, denied

DEPRECATES = (
    r"\bquestionable\b|\binappropriate\b|\bpoor(?:ly)?\b|\brather than\b|\bindependent of\b"
    r"|\bregardless of\b|\bless useful\b|\bunreliable\b|\bfew\b"
    r"|\bun(?:altered|disturbed|impaired|influenced|modified)\b"
    r"|\blimited (?:value|role|use|benefit|evidence|impact|effect|utility|ability|place)"
)
"""Judgements that deny what was asked, beside the negations of every text."""
INDEPENDENT = re.compile(r"\b(?:independent|regardless|irrespective) of\b", re.IGNORECASE)
DENIES = denied(0, DEPRECATES)
_VERB_DENIED = (
    r"(?:\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might|seems?|appears?)"
    r"(?: \w+ly)? (?:not|never)\b|\bcannot\b|n't\b|\bfail(?:s|ed|ing)? to\b(?! be\b))"
)
_NEXT_CLAUSE = r" (?:and|but|or|because|although|though|while|whereas|which|who|when|if|unless|than)\b"
DENIED = re.compile(
    rf"{_VERB_DENIED}(?:[ -][\w'-]+){{0,6}}(?:(?!{_NEXT_CLAUSE})[ -][\w'-]+){{0,10}}"
    rf"|{denied(6, DEPRECATES).pattern}",
    re.IGNORECASE,
)
"""A negation with what it denies: that of a verb denies what depends on the verb, up to the next clause or
comparison (`is not an important factor to affect survival`)."""
_SEEMS = r"(?: (?:seem|appear|prove|tend|prove[nd])s?(?: to)?(?: be)?| (?:[a-z]+ly|well))"
DIRECTLY_DENIED = re.compile(rf"(?:{NEGATOR}){_SEEMS}{{0,2}}(?:[ -][\w'-]+){{0,3}}", re.IGNORECASE)
"""A negator with the words that it denies surely."""
COMPOUND = re.compile(r"-(?:associated|related|induced|mediated|linked|dependent)(?= [a-z])", re.IGNORECASE)
"""What sets a thing apart in its name (`ventilator-associated pneumonia`) states no relation."""
HARMLESS = re.compile(
    r"\bnot only\b|\bwhether or not\b|\bnot limited to\b|\bno less\b"
    r"|\bnot (?:be )?(?:hesitat|preclud|deter|withh[eo]ld|den[yi]e|exclud|discourag)\w*"
    r"|\bno (?:major |serious |additional |increased )?(?:adverse|complication|mortality"
    r"|side effects?|toxicity)\w*"
    r"|\bwithout (?:\w+ ){0,3}(?:complication|increas|adverse|fear|compromis|affecting)\w*"
    r"|\b(?:than|versus|vs\.?|compared (?:with|to)|and) (?:\w+ ){0,3}(?:who|which|that) "
    r"(?:(?:have|had|has|did|do|does|were|are|was|is) )?(?:not|never)(?: \w+)?"
    r"|\b(?:than|versus|vs\.?|compared (?:with|to)) (?:\w+ ){0,2}without(?: \w+)?",
    re.IGNORECASE,
)
"""Phrases with a negation that deny nothing that is asked, those that name whom a group was compared with
among them (`than in those who had not received it`). `Not better than` is none."""
AFFIRMS = re.compile(
    r"\b(?:(?:is|are|was|were|been|be) (?:\w+ ){0,2}(?:associated|correlated|related|linked)|associated with"
    r"|correlat(?:es?|ed|ions?)|predict(?:s|or|ors|ive|ed)?"
    r"|(?:risk|prognostic|predictive|causal|etiologic(?:al)?|contributing|adverse) (?:factor|marker"
    r"|determinant)s?"
    r"|var(?:y|ies|ied) (?:by|with|according to|between|across|among))\b"
    r"|\b(?:improv(?:e|es|ed|ing)|reduc(?:e|es|ed|ing|tion)|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)"
    r"|lower(?:s|ed)?|higher|greater|better|worse|prevent(?:s|ed)?|affect(?:s|ed)?|influenc(?:e|es|ed)"
    r"|enhanc(?:e|es|ed)|contribut(?:e|es|ed)|impact(?:s|ed)?|protect\w*|promot\w+|alter(?:s|ed)?|change[sd]?"
    r"|induc\w+|lead(?:s|ing)? to|result(?:s|ed)? in)\b"
    r"|\b(?:effective(?:ly)?|efficacious|safe(?:ly)?|feasible|useful|reliable|valid|accurate(?:ly)?|valuable"
    r"|beneficial|acceptable|successful(?:ly)?|adequate|appropriate|helpful|promising|good|excellent"
    r"|favou?rable|superior|viable|justified|important|essential|necessary|possible|recommended"
    r"|advantage\w*)\b"
    r"|\b(?:positive|strong|marked|substantial|clear) (?:\w+ )?(?:effects?|influence|impact|role)\b"
    r"|\bsignificant(?:ly)?\b",
    re.IGNORECASE,
)
WEIGHS = re.compile(
    r"\b(?:(?<!small )(?<!slight )(?<!modest )(?<!weak )(?<!low )(?<!small, )but(?! also\b)"
    r"|however|although|though|despite|nevertheless|nonetheless|while(?! \w+ing\b)|whereas|(?<!not )yet"
    r"|on the other hand|in contrast)\b",
    re.IGNORECASE,
)
DOUBTS = re.compile(
    r"\bquestion(?:able|ed)\b|\bunclear\b|\buncertain\w*\b|\bunknown\b|\bcontroversial\b|\bdifficult\b"
    r"|\brais\w+ (?:the |a )?questions?\b|\bmay or may not\b"
    r"|\bremain\w* (?:\w+ ){0,2}?(?:unclear|unknown|uncertain\w*|controversial|open|elusive|unresolved"
    r"|unproven"
    r"|debat\w+|questionable|poor|difficult|challeng\w+|to be|low|problem\w*|gap)\b"
    r"|\bbelie(?:f|fs|ve[sd]?)\b|\b(?:aim|objective)\b"
    r"|\b(?<!support the )(?<!supports the )(?<!supported the )(?<!support our )(?<!supports our )"
    r"hypothes[ie]s\b(?!-)"
    r"|\b(?:little|insufficient|limited|weak|conflicting) (?:\w+ )?(?:evidence|data)\b|\bno (?:\w+ )?data\b"
    r"|\b(?:examin|investigat|test|assess|evaluat|stud|explor|determin|analy[sz]|ask)(?:e[sd]?|y|ies"
    r"|ied|ed|s|ing)? "
    r"(?:whether|if)\b|\bfears?\b(?! of\b)|\bfeared\b|\bspeculat\w+",
    re.IGNORECASE,
)
DEMANDS = re.compile(r"\b(?:should|must|ought to|needs?|needed|required)\b", re.IGNORECASE)
"""What is to be done, which is no finding."""
HEDGES = re.compile(
    r"\b(?:may|might|could|possibl[ey]|possibility|potential(?:ly)?|suspected|proposed|hypothesi[sz]ed|putative)\b",
    re.IGNORECASE,
)
ALIKE = re.compile(
    r"\bno (?:\w+ ){0,3}differen|\bnot (?:\w+ ){0,3}differ|\bsimilar\b|\bcomparable\b|\bequivalent\b"
    r"|\bequal(?:ly)?\b|\bidentical\b|\bas (?!well as|early as|soon as)(?:\w+ ){1,2}as\b|\bno better\b"
    r"|\bnot inferior|\bnon-?inferior"
    r"|\b(?:is|are|was|were|remain\w*|stay\w*) (?:\w+ )?(?:the same|unchanged)\b",
    re.IGNORECASE,
)
PARTLY = re.compile(
    r"(?<!-)\b(?:only|merely|modest(?:ly)?|weak(?:ly)?|small|limited|minimal|partial(?:ly)?|some"
    r"|certain|subset"
    r"|depend\w*)\b(?!-)",
    re.IGNORECASE,
)
LESS = re.compile(r"\bless\b|\blow(?:er)?\b|\bfewer\b|\bsmaller\b|\bpoorer\b", re.IGNORECASE)
NO_FINDING = re.compile(
    r"\bno(?:r| longer)? (?:[\w-]+ ){0,2}?(?:effect|influence|impact|associat|correlat|relat|link|benefi|role"
    r"|evidence|differen|improvement|reduction|increase|decrease|change|advantage)\w*"
    r"|\b(?:not|nor|never)\b (?:[\w-]+ ){0,2}?(?:affect|influenc|associat|correlat|relat|differ|improv"
    r"|predict|chang|alter|impact|increas|reduc|decreas|enhanc|prevent|contribut|attribut|justif|cause[ds]?\b"
    r"|slow|delay|halt|protect|benefi|modif|lead to|result in"
    r"|confirmed|supported|demonstrated)\w*|\bfail(?:s|ed)? to\b"
    r"|\b(?:remain|stay)(?:s|ed)? un(?:changed|affected|altered|disturbed|impaired|influenced|modified)\b"
    r"|\bunable to (?:show|find|detect|demonstrate|identify|confirm|establish|observe|replicate)\b",
    re.IGNORECASE,
)
NOT_SUPPORTED = re.compile(
    r"\b(?:idea|theory|hypothesis|notion|view|claim|assumption|concept)\b.*\b(?:not|cannot"
    r"|never)\b (?:[\w-]+ ){0,2}?"
    r"(?:supported|confirmed|tenable|borne out|valid|true|justified)\b"
    r"|\b(?:idea|theory|hypothesis|notion|view|claims?|assumption)\b.*\b(?:refuted|rejected|disproved"
    r"|disproven|debunked"
    r"|discredited)\b|\b(?:myth|misconception) that\b"
    r"|\b(?:refus|reject|den|withdr[ae]w|revok)\w* (?:the |its |a )?(?:\w+ )?(?:approval"
    r"|authori[sz]ation|licen[cs]e)\b",
    re.IGNORECASE,
)
"""A statement that what is asked was put to the test and was not confirmed."""
SUPPORTED = re.compile(
    r"\b(?:support|confirm|corroborat|strengthen)(?:s|es|ed|ing)? (?:the|our|this) (?:\w+ )?"
    r"(?:hypothesis|idea|notion|view|concept|assumption|theory)\b",
    re.IGNORECASE,
)
"""A statement that it was confirmed."""
PREMISE = re.compile(r"^.*\b(?:suggest|indicat|imply|conclud|show|demonstrat)\w*,? that\b", re.IGNORECASE)
"""What stands before the statement that a sentence makes."""
LESS_HARM = re.compile(
    r"\b(?:less|low(?:er)?|fewer|smaller) (?:[\w-]+ ){0,3}?(?:mortality|deaths?|complications?|morbidity"
    r"|recurrences?|infections?|pain|failures?|bleeding|re-?admissions?|costs?|toxicity|adverse|non-?union"
    r"|relapses?|symptoms?|blood loss|stay)\b",
    re.IGNORECASE,
)
"""Less of a harm is no less of what is hoped for."""
ASKS_LESS = re.compile(r"\b(?:reduc|less|low|decreas|prevent|few)", re.IGNORECASE)
ASKS_EITHER_WAY = re.compile(
    r"\b(?:affect\w*|influenc\w+|impacts?|effects?|associat\w+|correlat\w+|relat(?:e[sd]?|ion\w*)|link(?:s|ed)?"
    r"|differ\w*|var(?:y|ies)|depend\w*|predict\w*|determin\w+|matters?|change[sd]?|alter\w*|modif\w+)\b",
    re.IGNORECASE,
)
"""Questions whether something makes a difference: less is an answer as more is."""
ASKS_ALIKE = re.compile(
    r"\bas (?:\w+ ){1,3}as\b|\bsimilar|\bequivalent|\bsame\b|\bsufficient|\benough\b|\bsuffice"
    r"|\bcomparable|\balternative|\breplac|\bsubstitut"
    r"|\breflect|\brepresent|\bequal",
    re.IGNORECASE,
)
ASKS_DIFFERENT = re.compile(
    r"\bdiffer\w*|\bbetter\b|\bsuperior\b|\bcompar\w+|\bmore \w+|\bworse\b|\bdiscordance|\bvariation",
    re.IGNORECASE,
)
ASKS_DENIED = re.compile(r"\b(?:not|no|without|never)\b", re.IGNORECASE)
ASKS_DENIED_WITHIN = re.compile(r"\bnon-?(?=\w{4})", re.IGNORECASE)
"""A quality that is asked about with a prefix that denies it."""
QUANTIFIED = re.compile(
    r"\b(?:have to|has to|had to|must|requir\w+|needs?|needed|necessary|always|all|every|only|other"
    r"|except)\b",
    re.IGNORECASE,
)
"""Words for necessity and for all or none: a sentence without any answers no question that has one."""
COPULAR = re.compile(r"(?:is|are|was|were)\b", re.IGNORECASE)
FINDING = re.compile(
    r"\b(?:effects?|role|risks?|influence|impact|associat\w+|correlat\w+|relat(?:ed|ion|ionship)\w*"
    r"|links?|linked"
    r"|benefi(?:t|ts|cial)|differen\w+|improvements?|reductions?|increases?|decreases?|changes?"
    r"|evidence|needs?"
    r"|needed|value|predict\w*|required?|advantages?|indicat(?:ed|ion|or)s?|worthwhile|accura\w+|reliab\w+"
    r"|adequate\w*|safety|efficacy|support(?:s|ed)?"
    r"|matters?|due to|caus(?:e[sd]?|ing)|attribut\w+|explain\w*|compromis\w+|impair\w*|worsen\w*|harm\w*)\b",
    re.IGNORECASE,
)
"""The nouns and forms, beside `AFFIRMS`, by which studies of any subject say what they found."""
