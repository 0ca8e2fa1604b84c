"""A report on the page: read beside the stored texts of its works, downloaded, asked, changed, disputed.

The conversation of a user with a report is a file of the home, so that it survives the process.
"""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote as encoded

from fastapi import APIRouter, Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from activities.contracts.evidence import MODEL_REFUSED, MODEL_SILENT
from activities.contracts.prepare import PART as CONTINUES
from activities.contracts.prepare import Continued
from activities.contracts.revise import MAX_INSTRUCTION_CHARS
from activities.evidence_store import EvidenceStore
from activities.private_files import file_name, write_whole
from activities.report.formats import CHART_FORMATS, CHARTS, FORMATS
from activities.report.formats.figures import chart_of
from activities.report.formats.prose import NOT_READ
from activities.report.formats.references import anchor_of
from activities.report.formats.text import safe_url
from activities.report.formats.words import dispute_line
from activities.report.instructions import differences
from activities.report.run_folder import chart_file
from activities.report.schema import Report
from client.api import EXPECTED
from client.messages import MESSAGES, Verb
from client.reports.answer import answer_of, cited_of, claims_of
from client.reports.load import as_bytes
from client.reports.read_aloud import can_speak, wav
from client.run import Run
from client.runs.revising import Reply
from client.web.frame import SEE_OTHER, Frame, is_part, parts_of, render_template, report_body, run_url
from client.web.home import Home

if TYPE_CHECKING:
    from activities.contracts.evidence import Claim


QUOTE_CHARS = 5_000
Quoted = Annotated[str, Query(max_length=QUOTE_CHARS)]
Anchor = Annotated[str, Query(max_length=200)]
NO_ANSWER = (MODEL_REFUSED, MODEL_SILENT)
"""Codes of the statements that a model's server did not serve a step."""


class Reading:
    def __init__(self, frame: Frame, talking: "Talking") -> None:
        self._frame = frame
        self._talking = talking

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/run/{run_id}")
        router.get("/works")(self.works)
        router.get("/source/{evidence_id:path}")(self.source)
        router.get("/sentence/{anchor}")(self.sentence)
        router.get("/download/{form}")(self.download)
        router.get("/chart/{name}")(self.chart)
        router.get("/aloud")(self.aloud)
        return router

    async def page(self, request: Request, run: Run, *, is_waiting: bool) -> Response:
        """Return the report with all that can be done with it. `is_waiting`: for a person's approval."""
        number = request.query_params.get("version", "")
        versions = () if is_waiting else await run.versions()
        report = await run.version(int(number)) if number.isdecimal() else await run.draft()
        user = self._frame.user(request)
        return await self._frame.page(
            "report",
            **await asyncio.to_thread(report_values, report, run.id),
            versions=versions,
            version=int(number) if number.isdecimal() else len(versions) + 1,
            waits=is_waiting,
            aloud=can_speak(),
            turns=await self._talking.turns(CONTINUES.of_report(report), user),
            conversation=self._talking.conversation(user, run.id),
            link=run.link,
        )

    async def works(self, request: Request, run_id: str) -> HTMLResponse:
        """Return the works that the run has found, each a line that opens."""
        run = await self._frame.run(request, run_id)
        return await self._frame.part("works", works=await run.evidence_refs(), run_id=run.id)

    async def source(
        self, request: Request, run_id: str, evidence_id: str, quote: Quoted = "", sentence: Anchor = ""
    ) -> Response:
        """Return the stored text of a work, with a quote marked in it; `sentence`: that which cites it."""
        run = await self._frame.run(request, run_id)
        ref = next((ref for ref in await run.evidence_refs() if ref.evidence_id == evidence_id), None)
        if ref is None:
            raise HTTPException(404, "this run has no such item")
        item = await EvidenceStore.at(run.settings.evidence_url).get(ref)
        parts, has_quote = await asyncio.to_thread(parts_of, item.text, quote)
        return await self._frame.part_or_page(
            request,
            "source_page",
            "source",
            item=item,
            quote=quote,
            parts=parts,
            marked=has_quote,
            link=safe_url(item.url),
            run_id=run.id,
            sentence=sentence,
        )

    async def sentence(self, request: Request, run_id: str, anchor: str) -> Response:
        """Return a sentence of the report with its words in the works, and what can be said against it."""
        run = await self._frame.run(request, run_id)
        report = await run.draft()
        claim = claim_at(report, anchor)
        works = {reference.evidence_id: reference for reference in report.references}
        return await self._frame.part(
            "sentence",
            run_id=run.id,
            claim=claim,
            supports=[(works[s.evidence_id], s.quote) for s in claim.support if s.evidence_id in works],
            disputes=[dispute for dispute in report.disputes if dispute.sentence == claim.id],
            disputable=report.written_by == "model",
        )

    # files: rendered in threads, for one takes seconds of a processor

    async def download(self, request: Request, run_id: str, form: str) -> Response:
        """Return the report in a format."""
        run = await self._frame.run(request, run_id)
        file_format = FORMATS.get(form)
        if file_format is None:
            raise HTTPException(404, f"there is no format {form[:20]}; there are {', '.join(FORMATS)}")
        name = encoded(f"{file_name(run.id)}-{file_format.file}")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        data = await asyncio.to_thread(as_bytes, await run.draft(), file_format.name)
        return Response(data, media_type=file_format.media_type, headers=headers)

    async def chart(self, request: Request, run_id: str, name: str) -> Response:
        """Return a chart of the report."""
        run = await self._frame.run(request, run_id)
        draw = partial(chart_file, await run.draft(), name, "svg")
        data = await asyncio.to_thread(draw) if name in CHARTS else None
        if data is None:
            raise HTTPException(404, f"this run has no such chart; there are {', '.join(CHARTS)}")
        policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
        return Response(data, media_type=CHART_FORMATS["svg"], headers=policy)

    async def aloud(self, request: Request, run_id: str) -> Response:
        """Return the summary, spoken on this machine."""
        run = await self._frame.run(request, run_id)
        return Response(await asyncio.to_thread(wav, await run.draft()), media_type="audio/wav")


def report_values(report: Report, run_id: str) -> dict[str, object]:
    """Return what the page of a run has of a report."""
    charts = [name for name in CHARTS if chart_of(report, name)]
    reasons = (statement.text("reason") for statement in report.statements if statement.code in NO_ANSWER)
    return {
        "run_id": run_id,
        "report": report,
        "body": report_body(report, run_url(run_id)),
        "charts": charts,
        "formats": [*FORMATS.values()],
        "troubles": [*dict.fromkeys(reasons)],
    }


def claim_at(report: Report, anchor: str) -> "Claim":
    """Return the sentence at an anchor of the page. Raises HTTPException."""
    claim = next((sentence for sentence in report.sentences() if anchor_of(sentence.id) == anchor), None)
    if claim is None:
        raise HTTPException(404, "this report has no such sentence")
    return claim


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

    async def turns(self, origin: Continued | None, user: str) -> list[tuple[str, str, str]]:
        """Return the questions before this one, the first first: the run, what was asked and its answer."""
        turns: list[tuple[str, str, str]] = []
        while origin is not None and len(turns) < MAX_TURNS:
            try:
                report = await (await self._frame.access.run(origin.run_id, user)).draft()
            except EXPECTED:
                break
            answer = " ".join(answer_of(report).first)
            turns.insert(0, (report.run_id, report.asked or report.question, answer))
            origin = CONTINUES.of_report(report)
        return turns

    async def talk(self, request: Request, run_id: str, text: Text, verb: str = Form("ask")) -> Response:
        """Ask the report, have it changed, or ask on with new searches."""
        run, user = await self._frame.run(request, run_id), self._frame.user(request)
        if verb == "on":
            return await self._ask_on(request, run, text, user)
        return await self.say(
            request, run, user, MESSAGES["change" if verb == "change" else "tell"], {"text": text}
        )

    async def say(
        self, request: Request, run: Run, user: str, verb: Verb, values: Mapping[str, Any]
    ) -> Response:
        """Send a message to the finished report, and add what comes of it to the conversation."""
        draft = await run.draft()
        reply = await self._frame.client.revise(run.id, verb.name, user, **values)
        content = answer_values(reply, draft) if verb.name == "tell" else version_values(reply, values)
        html = render_template(PARTS[verb.name], run_id=run.id, text=reply.asked, **content)
        await asyncio.to_thread(self.keep, user, run.id, html)
        if is_part(request):
            return await self._frame.part("turn", html=html)
        return RedirectResponse(f"{run_url(run.id)}#conversation", SEE_OTHER)

    async def _ask_on(self, request: Request, run: Run, text: str, user: str) -> Response:
        follow_up = await self._home.start(text, {}, user, follow_up=run.id)
        if is_part(request):
            return Response(headers={"HX-Redirect": run_url(follow_up.id)})
        return RedirectResponse(run_url(follow_up.id), SEE_OTHER)


def answer_values(reply: Reply, draft: Report) -> dict[str, object]:
    """Return what the page has of the answer to a question; `draft`: the report that was asked."""
    report = reply.report
    citations = cited_of(report, draft)
    marks = {citation.evidence_id: citation.mark for citation in citations}
    lines = [
        (claim.text, [marks[name] for name in claim.evidence_ids if name in marks])
        for claim in claims_of(report)
    ]
    return {"lines": lines, "cited": citations, "note": "" if report.written_by == "model" else NOT_READ}


def version_values(reply: Reply, values: Mapping[str, object]) -> dict[str, object]:
    """Return what the page has of a report that was changed, disputed or decided on."""
    sentence, outcome = values.get("sentence"), reply.outcome
    disputes = [dispute for dispute in reply.report.disputes if dispute.sentence == sentence]
    return {
        "made": outcome.made,
        "version": outcome.version,
        "notes": outcome.notes,
        "differences": differences(reply.before, reply.report),
        "sentence": sentence,
        "lines": [dispute_line(dispute) for dispute in disputes],
        "open": any(not dispute.decision for dispute in disputes),
    }


PARTS = {"tell": "answer", "change": "changed", "dispute": "disputed", "decide": "disputed"}
"""Message -> the part of the page that shows what came of it."""
