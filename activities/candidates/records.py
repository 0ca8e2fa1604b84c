"""What labels, approvals and registrations among a run's items say of where a drug stands."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from activities.candidates import reading
from activities.candidates.status import of_application
from activities.contracts.evidence import Evidence, Support
from activities.text.normal_form import MIN_QUOTE_CHARS
from activities.text.sentences import NOT_STUDIES


@dataclass(frozen=True, slots=True)
class Standing:
    """A drug's label, its foremost application and a trial of it, as far as the items have them."""

    label: Evidence | None = None
    approval: Evidence | None = None
    trial: Evidence | None = None

    @property
    def regulatory_status(self) -> str:
        """A code of `activities.candidates.status`; empty when no record says anything."""
        code = of_application(self.approval.facts) if self.approval else None
        return code or ("labelled" if self.label else "")

    @property
    def trial_status(self) -> str:
        return facts_of(self.trial, "phase", "overall_status")

    @property
    def indications(self) -> tuple[str, ...]:
        """The first sentence of the label's indications."""
        section = reading.section_of(self.label, "indications_and_usage") if self.label else ""
        text = " ".join(reading.without_heading(section).split())
        first = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0]
        return (reading.shortened(first),) if first else ()

    @property
    def quotes(self) -> tuple[Support, ...]:
        """What each record says, word for word."""
        section = reading.section_of(self.label, "indications_and_usage") if self.label else ""
        pairs = (
            (self.label, reading.shortened(section)),
            (self.approval, _line(self.approval, "Original submission")),
            (self.trial, _line(self.trial, "Why the study stopped:") or _line(self.trial, "Study design:")),
        )
        return tuple(
            Support(evidence_id=record.evidence_id, quote=quote)
            for record, quote in pairs
            if record is not None and len(quote) >= MIN_QUOTE_CHARS
        )


def standing_of(name: str, items: Sequence[Evidence]) -> Standing:
    approvals = reading.of_drug(_of_type(items, "regulatory"), name)
    return Standing(
        label=reading.best_label(reading.of_drug(_of_type(items, "drug_label"), name)),
        approval=min(approvals, key=reading.application_order, default=None),
        trial=next((d for d in _of_type(items, "trial_registration") if reading.of_trial(d, name)), None),
    )


def is_record_of_another(item: Evidence, name: str) -> bool:
    """Whether an item is a label, an approval or a registration of another drug.

    That it names this one says nothing for it.
    """
    if item.evidence_type not in NOT_STUDIES:
        return False
    return not (reading.of_drug([item], name) or reading.of_trial(item, name))


def facts_of(record: Evidence | None, *names: str) -> str:
    """Return what a record says under these names, in one line."""
    return ", ".join(filter(None, (record.facts.get(name, "") for name in names))) if record else ""


def _of_type(items: Iterable[Evidence], kind: str) -> list[Evidence]:
    return [item for item in items if item.evidence_type == kind]


def _line(record: Evidence | None, start: str) -> str:
    lines = record.text.split("\n") if record else []
    return next((line for line in lines if line.startswith(start)), "")
