"""What the page shows in frames and offers as files: the report beside its evidence, and every format.

All of it is text of documents and models: it is served without scripts, and a browser is told so.
"""

import asyncio
from typing import Annotated
from urllib.parse import quote as encoded

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from activities.evidence_store import EvidenceStore
from activities.private_files import file_name
from activities.report.format_table import CHART_FORMATS, CHARTS, FORMATS
from activities.report.formats.text import safe_url
from client.access import Access, RateLimit, line_of
from client.api import EXPECTED
from client.failures import BadInput
from client.reports.charts import render_chart
from client.reports.load import as_bytes
from client.reports.read_aloud import wav
from client.run import Run
from client.runs.spoken import question_of
from client.web.guard import QUESTION_FILE
from client.web.rendering import evidence_html, reading_html
from client.web.signing_in import SignIn

FILES_AN_HOUR = 60
"""Pictures and recordings that one user may have read within an hour."""
FILES_AT_ONCE = 2
"""Files that are read for all users at once: one uses a processor for seconds or minutes."""
QUOTE_CHARS = 5_000
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def add_documents(app: FastAPI, access: Access, sign_in: SignIn) -> None:
    """Add the routes below `/runs/ID/`, and the one that reads a question from a file."""
    files = RateLimit(FILES_AN_HOUR, 3600)
    reading_files = asyncio.Semaphore(FILES_AT_ONCE)
    for kind in EXPECTED:
        app.add_exception_handler(kind, not_found)

    def signed_in(request: Request) -> str:
        if (user := sign_in.user(request)) is None:
            raise HTTPException(401, "sign in first")
        return user

    async def own_run(run_id: str, user: Annotated[str, Depends(signed_in)]) -> Run:
        return await access.run(run_id, user)

    own = Depends(own_run)

    @app.get("/runs/{run_id}/reading")
    async def reading(run_id: str, run: Run = own) -> HTMLResponse:
        """The report; each citation opens its quote in the frame beside it."""
        return HTMLResponse(reading_html(await run.draft(), run_id), headers=HEADERS)

    @app.get("/runs/{run_id}/evidence/{evidence_id:path}")
    async def evidence(
        evidence_id: str, run: Run = own, quote: Annotated[str, Query(max_length=QUOTE_CHARS)] = ""
    ) -> HTMLResponse:
        """The stored text of a work, with a quote marked in it."""
        ref = next((ref for ref in await run.found() if ref.evidence_id == evidence_id), None)
        if ref is None:
            raise HTTPException(404, "this run has no such item")
        item = await EvidenceStore.at(run.settings.evidence_url).get(ref)
        return HTMLResponse(evidence_html(item, quote, safe_url(item.url)), headers=HEADERS)

    @app.get("/runs/{run_id}/download/{form}")
    async def download(run_id: str, form: str, run: Run = own) -> Response:
        """The report in a format."""
        chosen = FORMATS.get(form)
        if chosen is None:
            raise HTTPException(404, f"there is no format {form[:20]}; there are {', '.join(FORMATS)}")
        name = encoded(f"{file_name(run_id)}-{chosen.file}")
        headers = {**HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        data = as_bytes(await run.draft(), chosen.name)
        return Response(data, media_type=chosen.media_type, headers=headers)

    @app.get("/runs/{run_id}/chart/{name}")
    async def chart(name: str, run: Run = own) -> Response:
        """A chart of the report."""
        data = render_chart(await run.draft(), name, "svg") if name in CHARTS else None
        if data is None:
            raise HTTPException(404, f"this run has no such chart; there are {', '.join(CHARTS)}")
        return Response(data, media_type=CHART_FORMATS["svg"], headers=HEADERS)

    @app.get("/runs/{run_id}/aloud")
    async def aloud(run: Run = own) -> Response:
        """The summary, spoken on this machine."""
        data = await asyncio.to_thread(wav, await run.draft())
        return Response(data, media_type="audio/wav", headers=HEADERS)

    @app.post(QUESTION_FILE)
    async def question(request: Request, user: Annotated[str, Depends(signed_in)]) -> Response:
        """The text of a picture, a scan or a recording, for the person who sent it: nothing is kept."""
        if wait := files.admit(user):
            raise HTTPException(429, f"{FILES_AN_HOUR} files an hour are read; wait {wait / 60:.0f} minutes")
        data = await request.body()
        async with reading_files:
            try:
                text = await asyncio.to_thread(question_of, access.client.settings, data)
            except BadInput as error:
                return JSONResponse({"detail": line_of(error)}, status_code=422)
        return JSONResponse({"text": text})


async def not_found(_: Request, error: Exception) -> Response:
    """The answer where the client cannot give what is asked for."""
    return JSONResponse({"detail": line_of(error)}, status_code=404)
