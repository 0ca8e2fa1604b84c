"""Progress of the sections of a deep run, queried from the sections themselves.

A section reports its progress to its parent once an iteration, because every signal costs history. A client
queries the sections, which costs none.
"""

import asyncio
from collections.abc import Mapping

from temporalio.client import Client

from client.runs.query import progress
from workflows.types import Progress, SectionProgress

SEARCHES_SHOWN = 20


async def with_sections(client: Client, seen: Progress) -> Progress:
    """A run's progress with that of its running sections. One that does not answer stays as its parent has
    it."""
    return combined(seen, await progress_of_sections(client, seen))


async def progress_of_sections(client: Client, seen: Progress) -> dict[str, Progress]:
    """The progress of the running sections that answer, by section id."""
    running = [s for s in seen.sections if s.status == "running" and s.workflow_id]
    replies = await asyncio.gather(
        *(progress(client, s.workflow_id) for s in running), return_exceptions=True
    )
    return {s.id: a for s, a in zip(running, replies, strict=True) if isinstance(a, Progress)}


def combined(seen: Progress, answers: Mapping[str, Progress]) -> Progress:
    """A run's progress and, by section id, the progress of its sections; answers of sections that have ended
    do not count any more. Items are not added up: sections find the same works, and the run counts them
    once."""
    running = {section.id for section in seen.sections if section.status == "running"}
    answers = {name: own for name, own in answers.items() if name in running}
    if not answers:
        return seen
    # a section's usage becomes part of its parent's when the section is done
    spent = sum((own.budget.used for own in answers.values()), start=seen.budget.used)
    searches = [record for own in answers.values() for record in own.searches]
    return seen.model_copy(
        update={
            "sections": tuple(_own(section, answers.get(section.id)) for section in seen.sections),
            "searches": (*seen.searches, *searches)[-SEARCHES_SHOWN:],
            "searches_total": seen.searches_total + sum(own.searches_total for own in answers.values()),
            "budget": seen.budget.model_copy(update={"used": spent}),
        }
    )


def _own(section: SectionProgress, own: Progress | None) -> SectionProgress:
    if own is None:
        return section
    return section.model_copy(
        update={"phase": own.phase, "iteration": own.iteration, "evidence": own.evidence}
    )
