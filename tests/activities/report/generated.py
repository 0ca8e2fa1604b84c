"""Reports of every shape that a run can end in: those of other tests, shaken by a seed.

Parts are lost, quotes become false, sections fail, works are retracted or of another kind, and any text may
hold other scripts or look like markup.
"""

import random
from typing import get_args

from activities.contracts.evidence import Evidence, EvidenceType, Standing, StopReason
from activities.contracts.publish import PublishInput, SectionStatus
from activities.contracts.write import SentenceState
from activities.report.assemble import build_report
from activities.report.schema import Report
from tests.activities.cases import DOCUMENTS, FULL, ref_of
from tests.activities.report import wide, written

ODD = (
    *("<script>alert(1)</script>", "![x](http://evil.example/p.png)", "[1] [9]", "| cell", "# Head", "$x$"),
    *(
        *("\u4e8c\u7532\u53cc\u80cd", "\u05e9\u05dc\u05d5\u05dd", "\u202egnp", "{brace \\input"),
        "95% CI [2, 14]",
    ),
)
TEXTS = frozenset(
    [
        *("text", "title", "key_question", "note", "question", "query", "detail", "name", "mechanism"),
        *("quote", "authors", "venue", "url", "reason", "finding", "comparator", "current_indications"),
        "limitations",
    ]
)
"""Keys whose texts are a model's or a stranger's."""
CHOICES = {"status": get_args(SectionStatus), "state": get_args(SentenceState)}
SHAPES = (
    (wide.STEP, wide.ALL),
    (written.STEP, written.WORKS),
    (written.PASSAGES, written.WORKS),
    (FULL, DOCUMENTS),
)


def _shaken(value: object, chance: random.Random, key: str = "") -> object:
    if isinstance(value, dict):
        return {name: _shaken(one, chance, name) for name, one in value.items()}
    if isinstance(value, list):
        may_go = key != "support"  # the gate lets nothing stand without one
        kept = (one for one in value if not (may_go and isinstance(one, dict) and chance.random() < 0.1))
        return [_shaken(one, chance, key) for one in kept]
    if key in TEXTS and isinstance(value, str) and chance.random() < 0.3:
        return chance.choice((f"{value} {chance.choice(ODD)}", chance.choice(ODD), ""))
    if key in CHOICES and value in CHOICES[key] and chance.random() < 0.3:
        return chance.choice(CHOICES[key])
    return value


def _document(item: Evidence, chance: random.Random) -> Evidence:
    shaken = Evidence.model_validate(_shaken(item.model_dump(mode="json"), chance)).replace(text=item.text)
    return shaken.replace(
        evidence_id=item.evidence_id,
        standing=chance.choice((*get_args(Standing), "none", "none")),
        evidence_type=chance.choice((item.evidence_type, *get_args(EvidenceType))),
        full_text=chance.random() < 0.3,
        url=chance.choice((item.url, "javascript:alert(1)", "https://example.org/?q=[1]&r=(2) b")),
    )


def generated(seed: int) -> tuple[Report, dict[str, Evidence]]:
    """A report and the documents that it was made from."""
    chance = random.Random(seed)
    step, works = SHAPES[seed % len(SHAPES)]
    documents = {name: _document(item, chance) for name, item in works.items()}
    shaken = PublishInput.model_validate(_shaken(step.model_dump(mode="json"), chance)).replace(
        evidence=tuple(map(ref_of, documents.values())),
        stop_reason=chance.choice(get_args(StopReason)),
        draft=chance.random() < 0.1,
    )
    return build_report(shaken, documents), documents
