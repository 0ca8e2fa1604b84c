"""Whether the tests that a work reports found something more often than nothing.

A test found something where its p value is at most 0.05, the conventional level, where the interval of a
ratio lies on one side of 1, or where a difference is called significant; it found nothing where p is above
that level, where the interval holds 1, or where a difference is denied or called not significant. Counted
over all outcomes of a work: they say little on a single one, but they bear out its conclusion or do not.
"""

import re

LEVEL = 0.05
_P_VALUE = re.compile(
    r"\bp(?:[- ]?values?)?\s*(?:of|was|were|:)?\s*(?P<sign>[<>=\u2264\u2265]|>/=|</=)"
    r"\s*(?P<value>0?[.\u00b7]\d+|[01]\b)",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"\b(?:[ahos]?OR|[as]?HR|[as]?RR|IRR|(?:odds|hazard|risk|rate|incidence) ratio|relative risk)\b"
    r"[^.;]{0,40}?"
    r"\d[\d.]*[^;]{0,30}?\bC\.?I\.?\b[^\d;]{0,8}(?P<low>\d+\.\d+)\s*(?:-|\u2013|,|to)\s*(?P<high>\d+\.\d+)"
)
_NULL = re.compile(
    r"\b(?:no|not|nor|neither|without|non)\b[^.;]{0,25}?\bsignifican\w+|\bnon-?significan\w+|\binsignifican\w+"
    r"|\bno (?:\w+ ){0,2}?(?:differen\w+|associations?|correlations?|relations?\w*|effects?|changes?)\b"
    r"|\b(?:not|nor) (?:\w+ ){0,2}?(?:differ\w*|associated|correlated?|related|affect\w*|influenc\w+"
    r"|predict\w*)\b"
    r"|\b(?:similar|comparable|did not)\b|\bp ?= ?n\.?s\b",
    re.IGNORECASE,
)
_FOUND = re.compile(r"\bsignifican\w+", re.IGNORECASE)


def balance(text: str) -> int:
    """Tests that found something less those that found nothing; 0 where a text reports none."""
    ways = [_of_p(match["sign"], match["value"]) for match in _P_VALUE.finditer(text)]
    ways += [1 if float(m["low"]) > 1 or float(m["high"]) < 1 else -1 for m in _RATIO.finditer(text)]
    null = len(_NULL.findall(text))
    return sum(ways) + len(_FOUND.findall(_NULL.sub(" ", text))) - null


def _of_p(sign: str, value: str) -> int:
    """Whether a p value is one of a finding (1) or of none (-1)."""
    least = float(value.replace("\u00b7", "."))
    return -1 if sign.startswith(">") or sign == "\u2265" or least > LEVEL else 1
