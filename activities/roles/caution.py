"""What a limitation may say. It is printed without a quote, so it may only say what the evidence does not
show, not what it shows."""

from activities.roles.validation import grounded, words

_LIMITING = """
abstract abstracts adequate animal animals bias biased cannot causal causality causation conflicting
confounded confounders confounding contradictory few heterogeneity heterogeneous imprecise inconsistent
indirect insufficient lack lacking limit limitations limited limits little missing mixed no none not
observational only preclinical rarely reported retrospective self short small surrogate term uncertain
uncertainty unclear underpowered unknown unpublished vitro whether without
"""
_DESCRIBING = """
adults adverse analyses analysis available based blinded case cases cells centre children clear clinical
cohort cohorts comparison conclude conclusion conclusions conducted confidence confirm confirmed
consistent control controlled could cross data designs diagnosis differ differed different direct does
doses effect effectiveness effects efficacy endpoints enough establish established estimates evidence
excluded factors female findings follow followed found from full further generalisable generalise
generalizable generalize groups harms have human humans included interpreted items label large larger
length likely long longer male many mean measured mechanism mechanisms meta method methods might more
most needed older open outcome outcomes participants patients people period placebo population
populations possible power powered prospective published quality questions random randomised randomized
rates reports results review reviews risk safety sample samples science scope sectional selection
serious several show shown single size sizes some source sources statistical strength studied studies
study subgroups such texts that their there these they this those though trial trials under up used
varied vary very vivo were what when where which with within women years young
"""
LIMITING = frozenset(_LIMITING.split())
"""Words that limit: a limitation has at least one."""
DESCRIBING = frozenset(_DESCRIBING.split())
"""Words that evidence and its limits are described in."""


def cautious(text: str, question: str) -> bool:
    """Whether a text limits, in words of the question and of limits: two thirds of its longer words and every
    number in it."""
    known = " ".join([question, *LIMITING, *DESCRIBING])
    return bool(LIMITING & set(words(text)) and grounded(text, known))
