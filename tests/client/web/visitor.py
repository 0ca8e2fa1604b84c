"""A browser without scripts: what it gets from the routes of the page, and the forms in it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import FastAPI, Request
from lxml import html

from client.access import Access
from client.sign_in.signing_in import SignIn
from client.web.server import page_app

HOST = "http://localhost"
HTML = {"accept": "text/html"}
PART = {"hx-request": "true"}
USER = "x-user"


def app_of(access: Access) -> FastAPI:
    """The page, signed in to by a header."""
    sign_in = SignIn(token="t" * 64)

    def user(request: Request) -> str | None:
        return request.headers.get(USER)

    setattr(sign_in, "user", user)  # noqa: B010 - who is signed in
    return page_app(access, sign_in)


@asynccontextmanager
async def visitor(app: FastAPI, user: str) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {**HTML, USER: user}
    async with httpx.AsyncClient(transport=transport, base_url=HOST, headers=headers, timeout=170) as http:
        yield http


def tree_of(text: str) -> Any:
    return html.fromstring(text)


async def page_with(http: httpx.AsyncClient, path: str, selector: str) -> Any:
    """The page once it has an element, asked for again and again."""
    while True:
        answer = await http.get(path)
        tree = tree_of(answer.text)
        if tree.xpath(selector):
            return tree
        assert answer.status_code == 200, answer.text
        await asyncio.sleep(0.2)


def fields_in(form: Any) -> dict[str, list[str]]:
    """What a form would send, without what is empty: lxml says `on` of a choice whose value is."""
    fields: dict[str, list[str]] = {}
    for name, value in form.form_values():
        if value != "on":
            fields.setdefault(name, []).append(value)
    return fields
