"""`[mcp.NAME]`: a tool of an MCP server as a source; docs/extending.md has an example."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, JsonValue, model_validator

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
NAME_RULE = "lower-case letters, digits and _, such as `notes`"
DOMAINS = ("biomedical", "clinical", "regulatory", "general", "web", "local")


def _pointer(text: str) -> str:
    if text and not text.startswith("/"):
        raise ValueError(f'{text!r} is not a JSON pointer; it begins with "/", as in "/results/0/title"')
    return text


Pointer = Annotated[str, AfterValidator(_pointer)]
"""Where a value is, by RFC 6901; empty: the whole."""


class McpFields(BaseModel, frozen=True, extra="forbid"):
    """The places of the parts of a work in one item. Only `text` is needed; it is what may be quoted."""

    text: Pointer
    title: Pointer | None = None
    """None: the first line of the text."""
    url: Pointer | None = None
    year: Pointer | None = None
    authors: Pointer | None = None
    """A list, or names separated by `;`."""
    venue: Pointer | None = None
    doi: Pointer | None = None
    pmid: Pointer | None = None


class McpFetch(BaseModel, frozen=True, extra="forbid"):
    """A second tool that is called for each item, when the first one lists items without their text.

    `map` of the source then applies to its result.
    """

    tool: str
    argument: str
    """The argument that gets the item, or what `value` points at in it."""
    value: Pointer = ""


class McpSource(BaseModel, frozen=True, extra="forbid"):
    command: list[str] = Field(default_factory=list)
    """The program that serves over stdin and stdout, and its arguments."""
    url: str | None = None
    token_variable: str | None = None
    variables: list[str] = Field(default_factory=list)
    """Names of environment variables that the program gets, beside the few that every program gets."""
    tool: str
    query: str = "query"
    """The argument that gets the words to search for."""
    limit: str | None = None
    """The argument that gets how many items are wanted, where the tool has one."""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    """Arguments that are always the same."""
    items: Pointer | None = None
    """Where the list of items is; None: each block of text is an item."""
    lines: bool = False
    """Whether each line of a text is an item."""
    map: McpFields = McpFields(text="")
    fetch: McpFetch | None = None
    title: str = ""
    covers: str = ""
    """One sentence for the step that selects sources; empty: what the tool says of itself is not trusted, so
    the name of the tool."""
    domains: list[str] = Field(default_factory=lambda: ["general"])
    rate: float | None = Field(default=None, gt=0, le=100)
    """Searches a second at most."""
    timeout: float = Field(default=30.0, gt=0, le=600)
    """Seconds for one search."""

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either `command` or `url`")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError(f"{self.url!r} is not an http or https address")
        if self.command and self.token_variable:
            raise ValueError("`token_variable` is for `url`; a program gets `variables`")
        if unknown := [name for name in self.domains if name not in DOMAINS]:
            raise ValueError(f"there is no domain {unknown[0]!r}; there are {', '.join(DOMAINS)}")
        return self
