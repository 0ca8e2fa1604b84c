"""What a person tells a run on the page."""

from collections.abc import Awaitable, Callable
from typing import Literal

import gradio as gr

from activities.contracts.evidence import ReportPlan, ReportPlanSection
from activities.report.formats.prose import NOT_READ
from activities.report.formats.words import dispute_line
from activities.report.revised import differences
from client.access import Access, line_of, user_of
from client.api import EXPECTED
from client.reports.answer import claims_of, with_references
from client.run import Run
from workflows.details import escaped

SAID = {
    "pause": "it pauses at its next step",
    "resume": "it continues",
    "finish": "it writes its report now",
    "cancel": "it is cancelled; a report is still written",
}
"""Message without content -> what the page says when it is sent."""


SENTENCE_CHARS = 2_000


class Actions:
    """The messages to a run. Each returns a line for the page."""

    def __init__(self, access: Access) -> None:
        self._access = access

    async def approve(
        self, run_id: str, note: str, plan: list[list[str]], kept: list[str], request: gr.Request
    ) -> str:
        """Approve what waits; an edited plan is sent first, and chosen candidates open their gate."""

        async def act(run: Run, user: str) -> str:
            seen = await run.progress()
            if seen is not None and seen.waiting_for == "candidates":
                await run.choose_candidates(kept or [], by=user)
                return f"{len(kept or [])} candidates are kept"
            if seen is not None and seen.waiting_for == "clarification" and note.strip():
                await run.answer(note.strip().splitlines()[: len(seen.readings)], by=user)
                return "it searches what you mean"
            if seen is not None and seen.waiting_for == "plan":
                await send_plan(run, plan, user)
            return f"the {await run.approve(by=user, note=note)} is approved"

        return await self._tell(run_id, request, act)

    async def reject(self, run_id: str, note: str, request: gr.Request) -> str:
        """Reject what waits."""

        async def act(run: Run, user: str) -> str:
            return f"the {await run.reject(by=user, note=note)} is rejected"

        return await self._tell(run_id, request, act)

    async def steer(self, run_id: str, text: str, request: gr.Request) -> str:
        """Give an instruction."""

        async def act(run: Run, user: str) -> str:
            await run.steer(text, by=user)
            return "the run follows it from its next step on"

        return await self._tell(run_id, request, act)

    def plain(self, name: Literal["pause", "resume", "finish", "cancel"]) -> Callable[..., Awaitable[str]]:
        """The message of this name, which has no content."""

        async def send(run_id: str, request: gr.Request) -> str:
            async def act(run: Run, _user: str) -> str:
                await getattr(run, name)()
                return SAID[name]

            return await self._tell(run_id, request, act)

        return send

    async def extend(
        self, run_id: str, tokens: float, cost: float, minutes: float, request: gr.Request
    ) -> str:
        """Add to the budget."""

        async def act(run: Run, _user: str) -> str:
            await run.extend(tokens=int(tokens or 0), cost=cost or 0.0, seconds=(minutes or 0) * 60)
            return "the budget is extended"

        return await self._tell(run_id, request, act)

    async def tell(self, run_id: str, text: str, request: gr.Request) -> str:
        """Ask the report: the answer with its quotes, in Markdown."""

        async def act(run: Run, user: str) -> str:
            report = (await self._access.client.tell(run.id, text or "", by=user)).report
            claims = claims_of(report)
            if not claims:
                return "This is not in the evidence of the run; *Ask further* searches for it."
            lines = [f"- {escaped(with_references(claim), SENTENCE_CHARS)}" for claim in claims]
            works = [f"{one.number}\\. {escaped(one.title)}" for one in report.references]
            lead = [] if report.written_by == "model" else [NOT_READ, ""]
            return "\n".join([*lead, *lines, "", "  \n".join(works)])

        return await self._tell(run_id, request, act)

    async def change(self, run_id: str, text: str, request: gr.Request) -> str:
        """Change the report: what is other then, in Markdown."""

        async def act(run: Run, user: str) -> str:
            answered = await self._access.client.change(run.id, text or "", by=user)
            if not answered.outcome.made:
                return escaped(" ".join(("Nothing was changed.", *answered.outcome.notes)))
            lines = [
                f"- {mark} {escaped(said, SENTENCE_CHARS)}"
                for one in differences(answered.before, answered.report)
                for mark, said in (("before:", one.before), ("now:", one.after))
                if said
            ]
            return "\n".join([f"Version {answered.outcome.version} is shown above.", "", *lines])

        return await self._tell(run_id, request, act)

    async def dispute(self, run_id: str, sentence: str, reason: str, request: gr.Request) -> str:
        """Dispute a sentence: what the second reader says, in Markdown."""

        async def act(run: Run, user: str) -> str:
            answered = await self._access.client.dispute(run.id, sentence or "", reason or "", by=user)
            return escaped(dispute_line(answered.report.disputes[-1]), SENTENCE_CHARS)

        return await self._tell(run_id, request, act)

    async def uphold(self, run_id: str, sentence: str, note: str, request: gr.Request) -> str:
        """Decide that a disputed sentence goes."""
        return await self._decide(run_id, sentence, note, request, upheld=True)

    async def keep(self, run_id: str, sentence: str, note: str, request: gr.Request) -> str:
        """Decide that a disputed sentence stays."""
        return await self._decide(run_id, sentence, note, request, upheld=False)

    async def _decide(
        self, run_id: str, sentence: str, note: str, request: gr.Request, *, upheld: bool
    ) -> str:
        async def act(run: Run, user: str) -> str:
            client = self._access.client
            answered = await client.decide(run.id, sentence or "", upheld=upheld, by=user, note=note or "")
            decided = (one for one in answered.report.disputes if one.sentence == sentence)
            return "\n".join(f"- {escaped(dispute_line(one), SENTENCE_CHARS)}" for one in decided)

        return await self._tell(run_id, request, act)

    async def _tell(self, run_id: str, request: gr.Request, act: Callable[[Run, str], Awaitable[str]]) -> str:
        user = user_of(request.username)
        try:
            return await act(await self._access.run(run_id, user), user)
        except EXPECTED as error:
            return f"**{line_of(error)}**"


async def send_plan(run: Run, rows: list[list[str]], user: str) -> None:
    """Send the plan as it was edited, where it differs. Raises BadInput for what the run refuses."""
    present = (await run.plan()).plan
    if present is None:
        return
    queries = {section.id: section.queries for section in present.report_outline}
    outline = tuple(
        ReportPlanSection(
            id=name or "",
            title=title.strip(),
            key_question=(asked or title).strip(),
            queries=queries.get(name, ()),
        )
        for name, title, asked in rows
        if title and title.strip()
    )
    if outline != present.report_outline:
        plan: ReportPlan = present.replace(report_outline=outline)
        await run.edit_plan(plan, by=user)
