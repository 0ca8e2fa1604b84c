"""The server of the page: sign-in, documents, and Gradio behind both."""

import secrets
from pathlib import Path

import gradio as gr
from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.middleware.sessions import SessionMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from client.access import Access
from client.api import Determinator
from client.web.documents import add_documents
from client.web.guard import Guard
from client.web.page import build_page
from client.web.sessions import SESSION_SECONDS
from client.web.signing_in import SignIn

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
CSS = Path(__file__).parent / "web.css"


def build_app(
    client: Determinator, sign_in: SignIn, hosts: tuple[str, ...] = LOOPBACK, *, https: bool = False
) -> FastAPI:
    """The whole page. `hosts` are the names it may be reached by: a page of another site cannot reach it by a
    name of its own. `https`: cookies are sent over TLS only."""
    app = FastAPI(title="Determinator", docs_url=None, redoc_url=None, openapi_url=None)
    access = Access(client, shared=sign_in.is_needed)
    sign_in.add_to(app)
    add_documents(app, access, sign_in)

    @app.get("/web.css")
    async def style() -> FileResponse:
        return FileResponse(CSS, media_type="text/css")

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    # outermost last: the session is there before a token in the address is looked at
    key = secrets.token_hex(32)  # of this process: its sessions end with it
    app.add_middleware(
        SessionMiddleware, secret_key=key, max_age=SESSION_SECONDS, same_site="lax", https_only=https
    )
    app.add_middleware(Guard, https=https)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))

    gr.mount_gradio_app(
        app,
        build_page(access),
        path="",
        auth_dependency=sign_in.user,
        css_paths=[CSS],
        footer_links=[],
        show_error=False,
        enable_monitoring=False,
        ssr_mode=False,
        theme=gr.themes.Default(
            primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
        ).set(
            button_primary_background_fill="*primary_700",
            button_primary_background_fill_hover="*primary_800",
            button_cancel_background_fill="#b91c1c",
            button_cancel_background_fill_hover="#991b1b",
            body_text_color_subdued="*neutral_600",
            block_label_text_color="*neutral_700",
        ),
    )
    return app
