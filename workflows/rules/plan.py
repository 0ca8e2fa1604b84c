"""Ids and hash of a report plan. Pure."""

import hashlib
from itertools import count

from activities.types import ReportPlan, ReportPlanSection


def plan_hash(plan: ReportPlan) -> str:
    """A digest of everything in a plan, which identifies it: 16 hexadecimal digits."""
    return hashlib.sha256(plan.model_dump_json().encode()).hexdigest()[:16]


def number_sections(plan: ReportPlan) -> ReportPlan:
    """The plan with an id for every section; ids that are present and unique are kept."""
    given = [section.id for section in plan.report_outline]
    used: list[str] = []
    sections: list[ReportPlanSection] = []
    for number, section in enumerate(plan.report_outline, 1):
        name = section.id if section.id not in used else ""
        free = (f"s{n}" for n in count(number) if f"s{n}" not in used and f"s{n}" not in given)
        name = name or next(free)
        used.append(name)
        sections.append(section.model_copy(update={"id": name}))
    return plan.model_copy(update={"report_outline": tuple(sections)})
