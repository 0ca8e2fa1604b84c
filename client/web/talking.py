"""A finished report that one talks with: asked, changed, disputed, asked on.

The conversation of a user with a report is a file of the home, so that it survives the process.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.prepare import Continued
from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.private_files import write_whole
from activities.report.formats.prose import NOT_READ
from activities.report.formats.words import dispute_line
from activities.report.instructions import differences
from activities.report.schema import Report
from client.api import EXPECTED
from client.messages import MESSAGES, Verb
from client.reports.answer import answer_of, cited_of, claims_of
from client.run import Run
from client.runs.revising import Answered
from client.web.frame import SEE_OTHER, Frame, is_part, rendered, run_url
from client.web.home import Home

MAX_TURNS = 20
"""Earlier questions of a conversation that are shown, and answers that are kept, the latest."""
Text = Annotated[str, Form(max_length=MAX_INSTRUCTION_CHARS)]


class Talking:
    def __init__(self, frame: Frame, home: Home) -> None:
        self._frame = frame
        self._home = home
        self._folder = frame.settings.home / "state" / "talks"

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/run/{run_id}")
        router.post("/talk")(self.talk)
        return router

    def conversation(self, user: str, run_id: str) -> list[str]:
        """Return what was asked and answered, as HTML."""
        try:
            turns: list[str] = json.loads(self._file(user, run_id).read_bytes())
        except (OSError, ValueError):
            return []
        return turns

    def keep(self, user: str, run_id: str, html: str) -> None:
        """Add an answer to the conversation. Raises OSError."""
        turns = [*self.conversation(user, run_id), html][-MAX_TURNS:]
        write_whole(self._file(user, run_id), json.dumps(turns, ensure_ascii=False).encode())

    def _file(self, user: str, run_id: str) -> Path:
        name = hashlib.sha256(json.dumps([user, run_id]).encode()).hexdigest()
        return self._folder / f"{name[:32]}.json"

    async def turns(self, before: Continued | None, user: str) -> list[tuple[str, str, str]]:
        """Return the questions before this one, the first first: the run, what was asked and its answer."""
        turns: list[tuple[str, str, str]] = []
        while before is not None and len(turns) < MAX_TURNS:
            try:
                report = await (await self._frame.access.run(before.run_id, user)).draft()
            except EXPECTED:
                break
            answer = " ".join(answer_of(report).first)
            turns.insert(0, (report.run_id, report.asked or report.question, answer))
            before = CONTINUES.shown(report)
        return turns

    async def talk(self, request: Request, run_id: str, text: Text, verb: str = Form("ask")) -> Response:
        """Ask the report, have it changed, or ask on with new searches."""
        run, user = await self._frame.run(request, run_id), self._frame.user(request)
        if verb == "on":
            return await self._asked_on(request, run, text, user)
        return await self.say(
            request, run, user, MESSAGES["change" if verb == "change" else "tell"], {"text": text}
        )

    async def say(
        self, request: Request, run: Run, user: str, verb: Verb, values: Mapping[str, Any]
    ) -> Response:
        """Send a message to the finished report, and add what comes of it to the conversation."""
        draft = await run.draft()
        answered = await self._frame.client.revise(run.id, verb.name, user, **values)
        shown = answer_shown(answered, draft) if verb.name == "tell" else version_shown(answered, values)
        html = rendered(PARTS[verb.name], run_id=run.id, text=answered.asked, **shown)
        await asyncio.to_thread(self.keep, user, run.id, html)
        if is_part(request):
            return await self._frame.part("turn", html=html)
        return RedirectResponse(f"{run_url(run.id)}#conversation", SEE_OTHER)

    async def _asked_on(self, request: Request, run: Run, text: str, user: str) -> Response:
        further = await self._home.start(text, {}, user, follow_up=run.id)
        if is_part(request):
            return Response(headers={"HX-Redirect": run_url(further.id)})
        return RedirectResponse(run_url(further.id), SEE_OTHER)


def answer_shown(answered: Answered, asked: Report) -> dict[str, object]:
    """Return what the page has of the answer to a question; `asked`: the report that was asked."""
    report = answered.report
    cited = cited_of(report, asked)
    marks = {citation.evidence_id: citation.mark for citation in cited}
    lines = [
        (claim.text, [marks[name] for name in claim.evidence_ids if name in marks])
        for claim in claims_of(report)
    ]
    return {"lines": lines, "cited": cited, "note": "" if report.written_by == "model" else NOT_READ}


def version_shown(answered: Answered, values: Mapping[str, object]) -> dict[str, object]:
    """Return what the page has of a report that was changed, disputed or decided on."""
    sentence, outcome = values.get("sentence"), answered.outcome
    disputes = [dispute for dispute in answered.report.disputes if dispute.sentence == sentence]
    return {
        "made": outcome.made,
        "version": outcome.version,
        "notes": outcome.notes,
        "differences": differences(answered.before, answered.report),
        "sentence": sentence,
        "lines": [dispute_line(dispute) for dispute in disputes],
        "open": any(not dispute.decision for dispute in disputes),
    }


PARTS = {"tell": "answer", "change": "changed", "dispute": "disputed", "decide": "disputed"}
"""Message -> the part of the page that shows what came of it."""
