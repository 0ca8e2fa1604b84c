"""What counts as a negation: one set of expressions for every rule that needs it.

Three kinds, because rules need them apart. A negator denies what it stands before (`not`, `failed to`). An
absence denies a thing in passing (`reduced pain without sedation` affirms that pain was reduced). A denying
word has the negation within it (`ineffective`, `unchanged`). The negators are those of English grammar, as in
the NegEx list of pre-negations (Chapman et al. 2001, J Biomed Inform 34:301-310).
"""

import re

NEGATOR = (
    r"\b(?:no(?!\.\s?\d)|not|nor|neither|never|none|nothing|cannot)\b|n't\b"
    r"|\bfail(?:s|ed|ing|ure)? to\b(?! be\b)"
)
ABSENCE = r"\bwithout\b|\black(?:s|ed|ing)?\b|\babsen(?:t|ce)\b"
DENYING_WORD = (
    r"\bunable\b|\bunlikely\b|\bunchanged\b|\bunaffected\b|\bunrelated\b|\bunnecessary\b|\bineffective\w*"
    r"|\binsufficient\w*|\binadequate\w*|\binsignifican\w*|\birrelevant\b|\bhardly\b|\bscarcely\b|\blittle\b"
    r"|\brarely\b|\bfutil\w*|\bruled out\b|\bnon-?significant\w*|\bfails\b(?! to)|\bfailed\b(?! to)"
    r"|\bfailure of\b"
)
NO_DENIAL = re.compile(
    r"\bnot only\b|\bwhether or not\b|\bnot limited to\b|\bno less\b|(?:\bnot\b|n't\b)(?= \w+ than)",
    re.IGNORECASE,
)
"""Phrases with a negator that deny nothing."""

NEGATORS = re.compile(NEGATOR, re.IGNORECASE)
NEGATIONS = re.compile(f"{NEGATOR}|{ABSENCE}|{DENYING_WORD}", re.IGNORECASE)
