"""Shared steps of routes: check a caller's token, start a run, find one of the caller's."""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Required

from fastapi import Depends, HTTPException, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import Field

from client.access import NO_CREDENTIALS, WRONG_CREDENTIALS, Access, Folders, RateLimit, folder_of
from client.api import Determinator
from client.failures import BadInput
from client.http.tokens import Scope, Token, TokenFile
from client.messages import Verb
from client.run import Run
from client.runs.options import QuestionText, SharedOptions
from workflows.messages import ExtendBudget, Message

BEARER = HTTPBearer(auto_error=False)
HOUR = 3600.0
MINUTE = 60.0
AT_ONCE = 64
"""Requests of one token that are open at the same time, streams and waiting ones included."""


class Question(SharedOptions, total=False):
    question: Required[QuestionText]
    follow_up: Annotated[str | None, Field(max_length=200, description="A finished run to build on")]


@dataclass(frozen=True, slots=True)
class Case:
    """A run, and the caller who asks for it."""

    run: Run
    token: Token

    @property
    def by(self) -> str | None:
        """Person who decides, in the report's list of approvals; None for the user of this process."""
        return self.token.user or None


def check_scope(token: Token, scope: Scope) -> None:
    """Raise HTTPException for a token without this scope."""
    if scope not in token.scopes:
        raise HTTPException(403, f"this token may not {scope}; it may {', '.join(token.scopes)}")


class Desk:
    """The client with its callers: rules that hold for every route."""

    def __init__(self, client: Determinator, tokens: TokenFile, folders: Folders) -> None:
        self.client = client
        self.access = Access(client, is_shared=tokens.is_shared)
        self._tokens = tokens
        self._folders = folders
        self._rates: dict[tuple[int, float], RateLimit] = {}
        self._open = Counter[str]()
        self._extending = asyncio.Lock()

    def needs(self, scope: Scope) -> Callable[..., AsyncGenerator[Token, None]]:
        """Return a dependency of a route: the caller's token of this scope, until the answer is sent."""

        async def token(
            credentials: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
        ) -> AsyncGenerator[Token, None]:
            token = self._tokens.token(credentials.credentials) if credentials else None
            if token is None:
                raise HTTPException(
                    401, WRONG_CREDENTIALS if credentials else NO_CREDENTIALS, {"WWW-Authenticate": "Bearer"}
                )
            check_scope(token, scope)
            self._admit(token, token.requests_a_minute, MINUTE, "requests a minute")
            if self._open[token.sha256] >= AT_ONCE:
                raise HTTPException(
                    429, f"{AT_ONCE} requests at the same time are allowed", {"Retry-After": "1"}
                )
            self._open[token.sha256] += 1
            try:
                yield token
            finally:
                self._open[token.sha256] -= 1

        return token

    def run_for(self, scope: Scope, *, changes: bool = False) -> Callable[..., Awaitable["Case"]]:
        """Return a dependency of a route below `/runs/{run_id}`: the run and its caller.

        The caller's token has the scope. One that `changes` a run takes no `last`: the newest one may
        be another program's.
        """

        async def case(run_id: str, token: Annotated[Token, Depends(self.needs(scope))]) -> Case:
            if changes and run_id == "last":
                raise BadInput("name a run that is changed by its id, not by `last`")
            return Case(await self.run(run_id, token), token)

        return case

    async def run(self, name: str, token: Token) -> Run:
        """Return a run of the caller. Raises NoSuchRun."""
        return await self.access.run(name, token.user)

    async def ask(self, token: Token, question: Question) -> Run:
        """Start a run within the limits of the token.

        Raises what `Determinator.ask` raises.
        """
        question = self._restrict(question, token)
        if (follow_up := question.get("follow_up")) is not None:
            question["follow_up"] = (await self.run(follow_up, token)).id
        self.admit_run(token)
        return await self.client.ask(**question, user=token.user)

    def admit_run(self, token: Token) -> None:
        """Count what buys answers of a model. Raises HTTPException when the token has had as many."""
        self._admit(token, token.runs_an_hour, HOUR, "runs an hour")

    def may_cost(self, case: Case) -> float | None:
        """US dollars that a run, the changes of its report and each question about it may cost.

        Raises HTTPException when the token has asked as much as it may.
        """
        self.admit_run(case.token)
        return case.token.max_cost

    async def send(self, case: Case, verb: Verb, content: Message | None) -> None:
        """Send a message to a run; its cost is extended up to what the token allows. Raises BadInput."""
        async with self._extending:
            max_cost = case.token.max_cost
            if max_cost is not None and isinstance(content, ExtendBudget) and content.cost:
                progress = await case.run.progress()
                limit = progress.budget.limits.max_cost_microusd if progress else None
                if limit is None or limit / 1e6 + content.cost > max_cost:
                    raise BadInput(f"a run of this token may cost {max_cost:g} US dollars")
            message = verb.read(content.model_dump(exclude_unset=True) if content else {})
            await case.run.deliver(verb, message, case.by)

    def _restrict(self, question: Question, token: Token) -> Question:
        """Raise BadInput for what this server does not offer to a caller."""
        max_cost = question.get("max_cost")
        question = {**question, "library": folder_of(question, self.client.settings, self._folders)}
        if token.max_cost is not None:
            question["max_cost"] = token.max_cost if max_cost is None else min(token.max_cost, max_cost)
        return question

    def _admit(self, token: Token, limit: int, seconds: float, subject: str) -> None:
        """Raise HTTPException when the token has had as many."""
        rate = self._rates.setdefault((limit, seconds), RateLimit(limit, seconds))
        if wait := math.ceil(rate.admit(token.sha256)):
            message = f"{limit} {subject} are allowed; wait {wait} seconds"
            raise HTTPException(429, message, {"Retry-After": str(wait)})
