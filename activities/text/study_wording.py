"""How abstracts word who took part, by which design, what was compared and what was measured.

Forms of sentences, not lists of subjects: the nouns are those for who or what is counted, the adjectives
those of study designs. `activities.text.study_facts` reads with them.
"""

import re

from activities.text.numerals import COUNT

PEOPLE = (
    r"(?:patients|participants|subjects|adults|children|adolescents|infants|neonates|newborns|women|men"
    r"|boys|girls"
    r"|individuals|people|persons|volunteers|veterans|students|residents|couples|mothers|survivors|recipients"
    r"|males|females|athletes|workers|employees|physicians|doctors|practitioners|clinicians|surgeons|nurses|respondents|donors"
    r"|carriers"
    r"|families"
    r"|households|twins|pairs|smokers|users|inmates|drivers|victims|rats|mice|rabbits|dogs|pigs|sheep|animals"
    r"|asthmatics|diabetics|hypertensives|controls)"
)
"""Who takes part in studies."""
UNITS = (
    r"(?:cases|records|charts|admissions|births|pregnancies|deliveries|deaths|eyes|knees|hips|fractures"
    r"|tumou?rs"
    r"|cancers|lesions|samples|specimens|procedures|operations|surgeries|practices|hospitals|schools|teams"
    r"|implants|teeth|visits|episodes|registrations)"
)
"""What else is counted."""
TIME = r"(?:year|month|week|day|hour|minute|min|sec|mg|kg|ml|cm|mm|percent|%)"
WORD = (
    r"(?!(?:with|of|and|the|in|to|for|were|on|at|by|from|as|or|who|than|versus|vs|among|between|during"
    rf"|after|before|whether|if|that|which)\b|{TIME})[A-Za-z/'-]+"
)
ADJECTIVES = rf"(?:{WORD}\s+){{0,4}}?"
HAVE = (
    r"(?:with|without|undergoing|aged|admitted (?:to|for|with)|diagnosed with|hospitali[sz]ed (?:for|with)"
    r"|referred (?:for|to)|suffering from|scheduled for|presenting with|treated (?:with|for|by)|receiving"
    r"|trained in|enrolled in|attending|living (?:in|with)|who (?:had|have|underwent|received|died"
    r"|developed))"
)
ENDS = (
    r"(?:were|was|is|are|from|at|between|during|to|in whom|participated|underwent|who|which|that|than|had"
    r"|have|has|completed|enrolled|included|received|randomi[sz]ed|recruited|identified|by|using|because"
    r"|since"
    r"|according|up|over|answered|and (?:were|had|compared|their|in|assess\w*))"
)
STAND = rf"{HAVE}\s+(?!(?:from|between|and|or|a mean|the)\b)[^.;:()\[\]]{{2,}}?(?=\s+{ENDS}\b|[.,;:()\[\]]|$)"
SIZE = r"(?:\s+\([nN]\s*=\s*[\d,]+\))?"
GROUP = rf"{PEOPLE}{SIZE}\s+{STAND}"
COUNTED = re.compile(rf"(?<![\w,.-])(?:{COUNT})\s+{ADJECTIVES}{GROUP}", re.IGNORECASE)
NAMED = re.compile(
    rf"(?<![\w,.-])(?:{COUNT})\s+(?!consecutive\s+{PEOPLE})(?:{WORD}\s+){{1,4}}?{PEOPLE}\b(?!\s+(?:per"
    rf"|of)\b)",
    re.IGNORECASE,
)
COUNTED_UNITS = re.compile(
    rf"(?<![\w,.-])(?:{COUNT})\s+{ADJECTIVES}{UNITS}\b(?:\s+of [a-z -]+)?", re.IGNORECASE
)
WHO = re.compile(rf"(?<![\w,.-]){ADJECTIVES}{GROUP}", re.IGNORECASE)
IN_TITLE = re.compile(
    rf"\b(?:in|among|of|for) (?P<who>{ADJECTIVES}{PEOPLE}\b(?: {HAVE} [^.;:?()]{{3,80}})?)", re.IGNORECASE
)
CUT_BOUND = re.compile(
    r"(?<!\band)(?<!\bor)\s(?:larger|smaller|older|younger|greater|more|less|longer|shorter|higher|lower)$",
    re.IGNORECASE,
)
OF_PEOPLE = re.compile(r"patient|participant|subject|population|sample", re.IGNORECASE)

NOT_OF_THEM = (
    r"(?!\s+(?:surveys?|stud(?:y|ies)|questionnaires?|databases?|registr(?:y|ies)|trials?|groups?)\b)"
)
"""`two household surveys` counts surveys."""
TOTAL = re.compile(
    rf"(?<![\w,./-])(?P<n>{COUNT})\s+(?:\(\d[^)]*\)\s+)?{ADJECTIVES}(?:{PEOPLE}|{UNITS})\b{NOT_OF_THEM}",
    re.IGNORECASE,
)
TOTAL_PEOPLE = re.compile(
    rf"(?<![\w,./-])(?P<n>{COUNT})\s+(?:\(\d[^)]*\)\s+)?{ADJECTIVES}{PEOPLE}\b{NOT_OF_THEM}", re.IGNORECASE
)
CASES_REPORTED = re.compile(
    rf"\b(?:report|describe|present)(?:s|ed|ing)?(?: on)? (?:the )?(?P<n>{COUNT})\s+{ADJECTIVES}"
    rf"(?:cases?|{PEOPLE}|patient)\b",
    re.IGNORECASE,
)
TWO_GROUPS = re.compile(
    rf"(?<![\w,.-])(?P<n>{COUNT})\s+{ADJECTIVES}{PEOPLE}(?:\s+(?:with|who"
    rf"|of)\s[^.;:,()]{{3,50}}?)?\s+and\s+"
    rf"(?P<m>{COUNT})\s+{ADJECTIVES}{PEOPLE}\b",
    re.IGNORECASE,
)
"""`4793 men and 4313 women`: both took part."""
N_IS = re.compile(r"\bN\s*=\s*(?P<n>\d{1,3}(?:,\d{3})+|\d+)")
ANALYSED = re.compile(
    rf"(?<![\w,.-])(?P<n>{COUNT})\s+(?:\([^)]*\)\s+)?{ADJECTIVES}(?:{PEOPLE}\s+)?"
    r"(?:(?:who )?completed (?:the|both|all)|were (?:finally |eventually )?(?:analy[sz]ed|evaluable)"
    r"|were included in (?:the|our) (?:\w+ )?analys[ei]s|had [^.;]{0,40}available for analysis)",
    re.IGNORECASE,
)

QUALIFIER = (
    r"(?:randomi[sz]ed|non-?randomi[sz]ed|quasi-experimental|controlled|placebo-controlled"
    r"|double-blind(?:ed)?"
    r"|single-blind(?:ed)?|open-label|cross-?over|factorial|prospective(?:ly)?|retrospective(?:ly)?"
    r"|cross-sectional|longitudinal|observational|population-based|community-based|hospital-based"
    r"|multi-?cent(?:er|re)"
    r"|single-cent(?:er|re)|case-(?:control|referent|crossover)|nested|matched|cohort|historical|comparative"
    r"|descriptive|qualitative|ecological|pilot|experimental|registry-based|secondary|decision-?|cost-\w+"
    r"|diagnostic"
    r"|follow-up|within-subject|clinical|economic|questionnaire|postal|retrospective chart|in vitro)"
)
DESIGN = re.compile(
    rf"\b{QUALIFIER}(?:,?\s+(?:and\s+)?(?:{QUALIFIER}|data|chart|case|intervention)){{0,5}}\s*[- ]"
    r"(?:study|trial|analys[ei]s|survey|review|series|design|experiment|audit|model|investigation"
    r"|comparison)\b",
    re.IGNORECASE,
)
ADVERB = re.compile(
    r"\b(?:randomly|prospectively|retrospectively)\s+(?!selected|sampled|chosen|ordered"
    r"|generated)(?:and \w+ )?[a-z]{4,}|\brandomi[sz]ed(?= (?:to|into|in|between)\b)",
    re.IGNORECASE,
)
NOT_DESIGN = re.compile(
    r"^(?:clinical|secondary|diagnostic|comparative|follow-up|descriptive) (?:analys[ei]s|stud(?:y|ies)"
    r"|review|trial)$"
    r"|^(?:controlled|matched|historical) comparison$",
    re.IGNORECASE,
)
OTHERS_WORK = re.compile(
    r"\b(?:previous|earlier|prior|recent|future|further|large|other|several|many|published|larger|first"
    r"|few)\s+$",
    re.IGNORECASE,
)

ARMS = re.compile(
    r"\b(?:randomi[sz]ed|randomly (?:assigned|allocated|divided))\b[^.;:()]{0,30}?\b"
    r"(?:to (?:receive |undergo |either |have |the )*|into )"
    r"(?P<found>[^.;]{3,120}?\b(?:or|versus|vs\.?)\s[^.;,()]{3,60}?)"
    r"(?=\s+(?:for|in|during|daily|twice|once|over|before|after|at|by|were|was|with)\b|[.,;()]|$)",
    re.IGNORECASE,
)
SIDE = r"(?:[^\s.;:,?()]+(?:\s+\([^()]{1,30}\))?)(?:\s+[^\s.;:,?()]+(?:\s+\([^()]{1,30}\))?)"
TO = (
    r"(?=\s*(?:\s(?:in|for|during|on|after|before|at|regarding|using|by|were|was|among|to|with|over|as|when"
    r"|who"
    r"|while|according|through|from|than|has|have|had|are|is|and)\b|[.,;:?()\[]|$))"
)
COMPARES = re.compile(
    rf"\b(?:compare[ds]?|comparing|comparison of|contrasted?)\s+(?!(?:with|to|between|them|it|this|these"
    rf"|the results)\b)(?:the\s+)?(?P<found>{SIDE}{{0,9}}?\s+(?:with|to|versus|vs\.?|against|and)\s+"
    rf"{SIDE}{{0,6}}?){TO}",
    re.IGNORECASE,
)
DIFFERENCE = re.compile(
    rf"\b(?:differences?|differed|differ|compared|comparisons?)\s+(?:[^.;:()]{{0,40}}\s)?between\s+(?:the\s+)?"
    rf"(?P<found>{SIDE}{{0,7}}?\s+and\s+{SIDE}{{0,7}}?){TO}",
    re.IGNORECASE,
)
TELLS_APART = re.compile(
    rf"\b(?:differentiat\w+|distinguish\w*|discriminat\w+)\s+(?:between\s+)?"
    rf"(?P<found>{SIDE}{{0,4}}?\s+(?:from|and)\s+{SIDE}{{0,4}}?){TO}",
    re.IGNORECASE,
)
WITH_AND_WITHOUT = re.compile(
    r"\b(?P<found>(?:\w+ ){0,3}with(?:\s+\([^()]{1,20}\))? (?:and|or|versus|vs\.?) without"
    r"(?:\s+[^\s.;:,()]+){1,6}?)" + TO,
    re.IGNORECASE,
)
COUNTED_BOTH = re.compile(
    rf"(?P<found>(?<![\w,.-])(?:{COUNT})\s+{ADJECTIVES}(?:{PEOPLE}|{UNITS})(?:\s+(?:with|who|of|from)"
    rf"\s[^.;:,()]{{3,50}}?)?\s+(?:and|or|versus|vs\.?|(?:were )?compared (?:with|to)|with)\s+(?:{COUNT})\s+"
    rf"{ADJECTIVES}(?:{PEOPLE}|{UNITS})(?:\s+(?:with|who|of|without)\s[^.;:,()]{{3,50}}?)?){TO}",
    re.IGNORECASE,
)
GROUPS = re.compile(
    r"\b(?P<found>(?:[\w-]+ ){0,2}[\w-]+ (?:group )?(?:\([^()]{1,20}\) )?(?:and|versus|vs\.?|or) (?:the |a )?"
    r"(?:[\w-]+ ){0,2}(?:control|placebo|[\w-]+) groups?)\b",
    re.IGNORECASE,
)
CONTRASTED = re.compile(
    rf"\b(?P<found>{SIDE}{{0,5}}?\s+(?:(?:as )?compared (?:with|to)|rather than|instead of)\s+"
    rf"(?:the |those |that )?{SIDE}{{0,5}}?){TO}",
    re.IGNORECASE,
)
CLAUSE = re.compile(
    r"\b(?:were|was|revealed|showed|increased|decreased|correlated|remains?|likely|more|less|higher|lower"
    r"|greater|fewer|their|its|them|whether|toward|they|we|our"
    r"|p\s*[<=>])",
    re.IGNORECASE,
)
VERSUS = re.compile(
    r"(?P<left>(?:[A-Za-z][\w-]+\s+){1,4})(?:versus|vs\.?|v)(?P<right>(?:\s+[A-Za-z][\w-]+){1,4})"
)
NO_ARMS = re.compile(r"^(?:one|two|three|four|either|each|both)\b", re.IGNORECASE)
NO_SIDES = re.compile(
    r"^(?:sensitivity|specificity|age|sex|gender|men|mean|median|age and|results?|data|baseline|both|all|each"
    r"|the two|these|this|those|it|they|them|groups?|pre|before)\b"
    r"|\b(?:literature|each other|previous|published|national|results?|other studies|baseline)\b",
    re.IGNORECASE,
)

PRIMARY = re.compile(
    r"\b(?:primary|main|principal)\s+(?:study\s+|efficacy\s+|safety\s+)?(?:outcome|end[- ]?point)s?"
    r"(?:\s+(?:measure|variable|parameter)s?)?(?:\s+of (?:the|this) (?:study|trial))?\s+"
    r"(?:was|were|is|included)\s+(?:the\s+)?(?P<found>[^.;:()]{3,}?)"
    r"(?=[.;:()]|,\s+(?:and|with|while|whereas|the secondary)\b|$)",
    re.IGNORECASE,
)
OUTCOMES = re.compile(
    r"\b(?:outcomes?(?: measures?| variables?)?|end[- ]?points?)\s+(?:was|were|included"
    r"|assessed(?: were)?)\s+"
    r"(?!(?:assessed|measured|evaluated|compared|similar|not|recorded|analy[sz]ed|obtained|collected"
    r"|defined)\b)"
    r"(?:the\s+)?(?P<found>[^.;:()]{3,}?)(?=[.;:()]|$)",
    re.IGNORECASE,
)
UNTIL = (
    r"(?=\s+(?:in|among|during|after|before|following|by|using|when|for|with|at|over|from|as|between|within"
    r"|through|if|than|or not|and (?:to|whether|its|their))\b|[.;:?,()]|$)"
)
AIMED = (
    re.compile(
        r"\b(?:effect|impact|influence|effectiveness|efficacy|role|consequence)s? of [^.;:?]{3,120}?\s(?:on"
        r"|upon)\s+(?:the\s+)?"
        rf"(?P<found>[^.;:?()]{{3,}}?){UNTIL}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:affects?|influences?|improves?|reduces?|increases?|decreases?|predicts?|prevents?|alters?"
        r"|enhances?|impairs?"
        r"|worsens?|modif(?:y|ies)|changes?|contributes? to|leads? to|protects? (?:from|against)|causes?"
        r"|determines?)\s+"
        rf"(?:the\s+)?(?P<found>[^.;:?()]{{3,}}?){UNTIL}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:predict(?:ors?|ive|ing|ion)(?: of| for)?|determinants? of|risk(?: factors?)? (?:of|for)"
        r"|prevention of|risk of"
        r"|preventing|reducing|improving|increasing|markers? (?:of|for)|causes? of)\s+"
        rf"(?:the\s+)?(?P<found>[^.;:?()]{{3,}}?){UNTIL}",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:association|relationship|relation|correlation|link)s?\s+(?:between"
        r"|of)\s+[^.;:?]{3,100}?\s(?:and|with|to)\s+"
        rf"(?:the\s+)?(?P<found>[^.;:?()]{{3,}}?){UNTIL}",
        re.IGNORECASE,
    ),
)
"""What aims and titles say that is affected, predicted or related."""
ASSESSED = re.compile(
    r"(?:^|[,;]\s+(?:and\s+)?)(?:the\s+|their\s+|all\s+)?(?P<found>[A-Za-z][^.;:]{5,}?)\s+(?:was"
    r"|were)\s+(?:also\s+)?"
    r"(?:assessed|measured|evaluated|recorded|compared|quantif\w+|calculated|determined"
    r"|analy[sz]ed(?!\s+(?:by|using|with)))\b",
    re.IGNORECASE,
)
PURSUED = re.compile(
    r"\b(?:to|we|study|work)\s+(?:(?:prospectively|retrospectively|critically)\s+)?"
    r"(?:assess\w*|evaluat\w+|determin\w+|investigat\w+|examin\w+|explor\w+|stud(?:y|ied)|analy[sz]\w+"
    r"|establish|measure"
    r"|quantify|describe|estimate|compare|identify|define)\s+(?!(?:whether|if|how|why|what|which"
    r"|that)\b)(?:the\s+)?"
    r"(?P<found>[^.;:?()]{3,}?)(?=\s+(?:in|among|during|after|before|following|by|using|when|with|at|over"
    r"|from|between"
    r"|within|who|that|which|and to)\b|[.;:?,()]|$)",
    re.IGNORECASE,
)
OUTCOME_LABEL = re.compile(
    r"^(?!.*(?:patient|subject|participant|result|finding)).*(?:outcome|end ?-?point|measure)", re.IGNORECASE
)
NO_MEASURE = re.compile(
    rf"^(?:{COUNT})\s+(?:[\w-]+\s+){{0,4}}?(?:{PEOPLE}|{UNITS})\b|^{PEOPLE}$|\b(?:has|have|had) been\b"
    rf"|^(?:19|20)\d\d\b|\b{PEOPLE}\b[^,;]*\b(?:referred|admitted|recruited|enrolled|presenting|undergoing)\b"
    r"|\bto (?:test|assess|determine)\b|\band (?:assess|determine|compare|evaluate)\b|\s(?-i:[A-Z])$"
    r"|^expected\b",
    re.IGNORECASE,
)
"""Phrases that are no measure: people, clauses, a run that an abbreviation has cut."""
NO_OUTCOME = re.compile(
    r"^(?:whether|if|how|it|them|this|these|those|that|be|patients?|subjects|participants|data|all|we"
    r"|results?|effects?"
    r"|\w+ role|role|usefulness|efficacy|effectiveness|value|then"
    r"|test|associations?|relationships?|correlations?|differences?|significant|use"
    r"|frequency|feasibility of|\d|a |an |no |not |need|other|any|which|what|who|their|its|each|both|one"
    r"|two)\b",
    re.IGNORECASE,
)
PRESENT_OR_ABSENT = re.compile(
    r"\b(?:depending on|according to|based on|by|in|with) (?:the )?(?P<found>presence"
    r" (?:or|and|versus|vs\.?) (?:the )?absence of (?:an? |the )?[A-Za-z][\w-]*"
    r"(?: (?!was\b|were\b|is\b|on\b|in\b|and\b|at\b|with\b|for\b|during\b)[\w-]+){0,4})",
    re.IGNORECASE,
)
AND_NOT = re.compile(
    r"\b(?P<found>(?P<one>[a-z]{4,})\b[^.;:,]{0,60}? (?:and|or|versus|vs\.?|than|compared with)"
    r" (?:in )?(?:the )?non-?(?P=one)(?: [a-z-]+)?)",
    re.IGNORECASE,
)
TWO_NAMED_GROUPS = re.compile(
    r"\b[Tt]he (?P<found>(?!former|same|other|whole|entire)[A-Za-z][\w-]*(?: [\w-]+)?"
    r" (?:group|arm|cohort)\b[^.;:]{0,90}?(?:,| and| whereas| while| or| than| versus| vs\.?)"
    r"(?: in| to| with)? the (?!same|other|whole|entire|latter)"
    r"[A-Za-z][\w-]*(?: [\w-]+)? (?:group|arm|cohort))\b"
)
"""Comparisons by their form alone: `presence or absence of a stoma`, `obese and non-obese mothers`,
`experimental group ..., whereas the control group`."""
