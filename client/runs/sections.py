"""Where the sections of a deep run stand, asked of themselves.

A section tells its parent how far it is once an iteration, because every word costs history. Who watches asks
the sections, which costs none.
"""

import asyncio
from collections.abc import Mapping

from temporalio.client import Client

from client.runs.start import progress
from workflows.types import Progress, SectionProgress

SEARCHES_SHOWN = 20


async def with_sections(client: Client, seen: Progress) -> Progress:
    """A run's progress with that of the sections at work. One that does not answer stays as its parent knows
    it."""
    running = [s for s in seen.sections if s.status == "running" and s.workflow_id]
    answers = await asyncio.gather(
        *(progress(client, s.workflow_id) for s in running), return_exceptions=True
    )
    told = {s.id: a for s, a in zip(running, answers, strict=True) if isinstance(a, Progress)}
    return combined(seen, told)


def combined(seen: Progress, told: Mapping[str, Progress]) -> Progress:
    """A run's progress and, by section id, what sections say of themselves. Items are not added up: sections
    find the same works, and the run counts them once."""
    if not told:
        return seen
    # a run takes a section's account into its own when the section is done
    spent = sum((own.budget.used for own in told.values()), start=seen.budget.used)
    searches = [record for own in told.values() for record in own.searches]
    return seen.model_copy(
        update={
            "sections": tuple(_own(section, told.get(section.id)) for section in seen.sections),
            "searches": (*seen.searches, *searches)[-SEARCHES_SHOWN:],
            "searches_total": seen.searches_total + sum(own.searches_total for own in told.values()),
            "budget": seen.budget.model_copy(update={"used": spent}),
        }
    )


def _own(section: SectionProgress, own: Progress | None) -> SectionProgress:
    if own is None:
        return section
    return section.model_copy(
        update={"phase": own.phase, "iteration": own.iteration, "evidence": own.evidence}
    )
