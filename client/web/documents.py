"""What the page shows in frames and offers as files: the report beside its evidence, and every format.

All of it is text of documents and models: it is served without scripts, and a browser is told so.
"""

from typing import Annotated
from urllib.parse import quote as encoded

from fastapi import FastAPI, HTTPException, Request
from fastapi.params import Query
from fastapi.responses import HTMLResponse, JSONResponse, Response

from activities.evidence_store import EvidenceStore
from activities.private_files import file_name
from activities.report.format_table import FORMATS
from activities.report.formats.text import safe_url
from client.access import Access, line_of
from client.api import EXPECTED
from client.reports.load import as_bytes
from client.web.rendering import evidence_html, reading_html
from client.web.signing_in import SignIn

QUOTE_CHARS = 5_000
"""Characters of a quote in an address."""
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


class Documents:
    """The routes below `/runs/ID/`."""

    def __init__(self, access: Access, sign_in: SignIn) -> None:
        self._access = access
        self._sign_in = sign_in

    def add_to(self, app: FastAPI) -> None:
        """Add the routes."""
        for kind in EXPECTED:
            app.add_exception_handler(kind, not_found)
        app.get("/runs/{run_id}/reading", response_class=HTMLResponse)(self._reading)
        app.get("/runs/{run_id}/evidence/{evidence_id:path}", response_class=HTMLResponse)(self._evidence)
        app.get("/runs/{run_id}/download/{form}")(self._download)

    async def _reading(self, request: Request, run_id: str) -> Response:
        run = await self._access.run(run_id, self._user(request))
        return HTMLResponse(reading_html(await run.draft(), run_id), headers=HEADERS)

    async def _evidence(
        self,
        request: Request,
        run_id: str,
        evidence_id: str,
        quote: Annotated[str, Query(max_length=QUOTE_CHARS)] = "",
    ) -> Response:
        run = await self._access.run(run_id, self._user(request))
        ref = next((ref for ref in await run.found() if ref.evidence_id == evidence_id), None)
        if ref is None:
            raise HTTPException(404, "this run has no such item")
        item = await EvidenceStore.at(run.settings.evidence_url).get(ref)
        return HTMLResponse(evidence_html(item, quote, safe_url(item.url)), headers=HEADERS)

    async def _download(self, request: Request, run_id: str, form: str) -> Response:
        chosen = FORMATS.get(form)
        if chosen is None:
            raise HTTPException(404, f"there is no format {form[:20]}; there are {', '.join(FORMATS)}")
        run = await self._access.run(run_id, self._user(request))
        data = as_bytes(await run.draft(), chosen.name)
        name = encoded(f"{file_name(run_id)}-{chosen.file}")
        return Response(
            data,
            media_type=chosen.media_type,
            headers={**HEADERS, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
        )

    def _user(self, request: Request) -> str:
        user = self._sign_in.user(request)
        if user is None:
            raise HTTPException(401, "sign in first")
        return user


async def not_found(_: Request, error: Exception) -> Response:
    """The answer where the client cannot give what is asked for."""
    return JSONResponse({"detail": line_of(error)}, status_code=404)
