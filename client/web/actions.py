"""What a person tells a run on the page."""

from collections.abc import Awaitable, Callable

import gradio as gr

from activities.contracts.evidence import ReportPlan, ReportPlanSection
from activities.plural import plural
from activities.report.formats.prose import NOT_READ
from activities.report.formats.words import dispute_line
from activities.report.instructions import differences
from client.access import Access, line_of, user_of
from client.api import EXPECTED
from client.failures import BadInput
from client.messages import MESSAGES, MessageName
from client.reports.answer import claims_of, with_references
from client.run import Run
from workflows.details import escaped

SENTENCE_CHARS = 2_000

Act = Callable[..., Awaitable[str]]
"""What a button does: with a run, for a user, with what its fields hold."""


class Actions:
    """The messages to a run. Each returns what the page says of it, in Markdown."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def on(self, act: Act) -> Callable[..., Awaitable[str]]:
        """The handler of a button: what it does with the run that is open and what its fields hold, for the
        user who pressed it."""

        async def handler(request: gr.Request, run_id: str, *fields: object) -> str:
            user = user_of(request.username)
            try:
                return await act(await self._access.run(run_id, user), user, *fields)
            except EXPECTED as error:
                return f"**{line_of(error)}**"

        return handler

    @staticmethod
    async def approve(run: Run, user: str, note: str, plan: list[list[str]], kept: list[str] | None) -> str:
        """Approve what waits; an edited plan is sent first, and chosen candidates open their gate."""
        seen = await run.progress()
        waiting = seen.waiting_for if seen else None
        if waiting == "candidates":
            await run.choose_candidates(kept or [], by=user)
            return f"kept: {', '.join(kept or []) or 'none'}"
        if seen is not None and waiting == "clarification" and note.strip():
            await run.answer(answers_of(note, len(seen.readings)), by=user)
            return "it searches what you mean"
        if waiting == "plan":
            await send_plan(run, plan, user)
        return f"the {await run.approve(by=user, note=note)} is approved"

    @staticmethod
    async def reject(run: Run, user: str, note: str) -> str:
        return f"the {await run.reject(by=user, note=note)} is rejected"

    @staticmethod
    async def steer(run: Run, user: str, text: str) -> str:
        await run.steer(text, by=user)
        return "the run follows it from its next step on"

    @staticmethod
    def plain(name: MessageName) -> Act:
        """The message of this name, which has no content."""

        async def send(run: Run, _user: str) -> str:
            await MESSAGES[name].send(run)
            return f"it {MESSAGES[name].sent}"

        return send

    @staticmethod
    async def extend(run: Run, _user: str, tokens: float, cost: float, minutes: float) -> str:
        await run.extend(tokens=int(tokens or 0), cost=cost or 0.0, seconds=(minutes or 0) * 60)
        return "the budget is extended"

    async def tell(self, run: Run, user: str, text: str) -> str:
        """Ask the report: the answer with its quotes."""
        report = (await self._access.client.tell(run.id, text or "", by=user)).report
        claims = claims_of(report)
        if not claims:
            return "This is not in the evidence of the run; *Ask further* searches for it."
        lines = [f"- {escaped(with_references(claim), SENTENCE_CHARS)}" for claim in claims]
        works = [f"{one.number}\\. {escaped(one.title)}" for one in report.references]
        lead = [] if report.written_by == "model" else [NOT_READ, ""]
        return "\n".join([*lead, *lines, "", "  \n".join(works)])

    async def change(self, run: Run, user: str, text: str) -> str:
        """Change the report: what is other then."""
        answered = await self._access.client.change(run.id, text or "", by=user)
        if not answered.outcome.made:
            return escaped(" ".join(("Nothing was changed.", *answered.outcome.notes)))
        lines = [
            f"- {one.id} {mark} {escaped(wording, SENTENCE_CHARS)}"
            for one in differences(answered.before, answered.report)
            for mark, wording in (("before:", one.before), ("now:", one.after))
            if wording
        ]
        return "\n".join([f"Version {answered.outcome.version} is shown above.", "", *lines])

    async def dispute(self, run: Run, user: str, sentence: str, reason: str) -> str:
        """Dispute a sentence: what the second reader says."""
        answered = await self._access.client.dispute(run.id, sentence or "", reason or "", by=user)
        return escaped(dispute_line(answered.report.disputes[-1]), SENTENCE_CHARS)

    def decide(self, *, upheld: bool) -> Act:
        """Decide that a disputed sentence goes (`upheld`) or stays."""

        async def act(run: Run, user: str, sentence: str, note: str) -> str:
            client = self._access.client
            answered = await client.decide(run.id, sentence or "", upheld=upheld, by=user, note=note or "")
            decided = (one for one in answered.report.disputes if one.sentence == sentence)
            return "\n".join(f"- {escaped(dispute_line(one), SENTENCE_CHARS)}" for one in decided)

        return act


def answers_of(note: str, asked: int) -> list[str]:
    """The answers to so many questions, a line for each: an empty one keeps what is assumed. Raises
    BadInput."""
    answers = note.rstrip().splitlines()
    if len(answers) > asked:
        raise BadInput(f"there are {len(answers)} lines for {plural(asked, 'question')}; give a line to each")
    return answers


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
