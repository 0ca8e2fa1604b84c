"""Settings of questions: documents, sources, how a question is answered, and what it may cost."""

import difflib
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from activities.configuration.declaration import Key
from activities.configuration.values import seconds
from activities.contracts.evidence import (
    MODE_ALIASES,
    ApprovalGate,
    BuiltInMode,
    Clarify,
    Filters,
    Length,
    Mode,
    mode_names,
)

Seconds = Annotated[float, BeforeValidator(seconds)]
"""A duration: a number of seconds, or text such as `30m`."""


research = partial(Key, at="research", flag=True)
choice = partial(research, by_request=True, by_folder=True)
budget = partial(Key, at="budget", flag=True)


class SourceFilters(Filters):
    """`[sources.NAME] filters`: the filters of a search, with unknown ones refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceSettings(BaseModel):
    """`[sources.NAME]`: what is set for one source."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    url: str | None = None
    """Base address; it replaces what stands before the API's own resource path."""
    max_results: int | None = Field(default=None, ge=1, le=200)
    """Results of one search that are kept; None: `results_per_search`."""
    rate: float | None = Field(default=None, gt=0, le=100)
    """Requests a second at most. It can lower an API's own limit, never raise it."""
    filters: SourceFilters = SourceFilters()
    """What every search of this source is narrowed by; what a question asks for goes over it."""


class QuestionSettings(BaseSettings):
    """The first part of `activities.settings.Settings`."""

    model_config = SettingsConfigDict(
        env_prefix="DETERMINATOR_",
        env_ignore_empty=True,
        extra="allow",
        populate_by_name=True,
        env_nested_delimiter="__",
    )

    home: Annotated[
        Path,
        Key("Folder of the server's database, evidence, reports and logs.", example='"./.determinator"'),
    ] = Field(default_factory=lambda: user_data_path("determinator", appauthor=False))
    store_url: Annotated[
        str | None,
        Key(
            "Evidence store: a folder or an s3://, gs:// or az:// address; default: evidence/ in home.",
            example='"s3://bucket/evidence"',
        ),
    ] = None
    library: Annotated[
        Path | None,
        Key(
            "Folder of your own documents; default: the bundled sample library.",
            example='"./papers"',
            by_folder=True,
        ),
    ] = None
    speech_model: Annotated[
        Path | None,
        Key(
            "Folder of a Whisper model for CTranslate2, with which recordings are transcribed.",
            example='"./faster-whisper-small"',
        ),
    ] = None

    mode: Annotated[
        Mode,
        choice("A way of working that `determinator modes` lists; auto: what fits the question."),
    ] = "auto"
    profile: Annotated[
        str,
        choice(
            "What counts as a good answer: auto, drug_repurposing, biomedical, general, or one of your own.",
            also=("profiles.default",),
        ),
    ] = "auto"
    default_sources: Annotated[
        list[str],
        Key(
            "Sources that are searched when a question names none.",
            at="research.sources",
            example='["pubmed", "clinicaltrials"]',
            by_request=True,
            by_folder=True,
        ),
    ] = Field(default_factory=list)
    also_web: Annotated[
        bool,
        research("With a library: search the other enabled sources too.", by_request=True),
    ] = False
    columns: Annotated[
        list[str],
        choice(
            "Columns of the table of works, which a model fills; default: the profile's.",
            example='["population", "dose", "outcome"]',
        ),
    ] = Field(default_factory=list)
    length: Annotated[
        Length,
        choice("How much of the report is printed: brief, standard or full. What was found is kept whole."),
    ] = "standard"
    max_iterations: Annotated[
        int | None,
        Field(ge=1, le=50),
        research(
            "Rounds of searching and judging.",
            also=("research.limits.max_iterations",),
            limit="max_iterations",
        ),
    ] = None
    judge_threshold: Annotated[
        float | None,
        Field(ge=0, le=1),
        choice(
            "Confidence from which the evidence may suffice; default: the profile's.",
            also=("research.limits.judge_threshold",),
            example="0.8",
        ),
    ] = None
    max_sections: Annotated[
        int | None,
        Field(ge=1, le=20),
        research("Sections of a deep report.", limit="max_sections"),
    ] = None
    parallel_sections: Annotated[
        int | None,
        Field(ge=1, le=20),
        research("Sections that are researched at once.", limit="max_parallel_sections"),
    ] = None
    max_gaps: Annotated[
        int | None,
        Field(ge=1, le=10),
        research("Gaps that one iteration pursues.", limit="max_gaps"),
    ] = None
    searches_per_gap: Annotated[
        int | None,
        Field(ge=1, le=10),
        research("Searches for each gap.", limit="searches_per_gap"),
    ] = None
    results_per_search: Annotated[
        int | None,
        Field(ge=1, le=50),
        research("Works that each search is asked for.", limit="results_per_search"),
    ] = None
    full_texts: Annotated[
        int | None,
        Field(ge=0, le=20),
        research(
            "Works of each section whose open full text is read before a model cites them; 0: none.",
            limit="full_texts",
        ),
    ] = None
    search_timeout: Annotated[
        Seconds,
        Field(gt=0),
        research(
            "How long one search may wait for its source, all its requests together.",
            unit="seconds",
            by_folder=True,
        ),
    ] = 30.0
    clarify: Annotated[
        Clarify | None,
        choice(
            "Whether a model may ask back before it searches: ask, assume its own answers, or off; default: "
            "ask at a terminal and on the page, else assume.",
            example='"assume"',
        ),
    ] = None
    approve: Annotated[
        list[ApprovalGate],
        choice("Gates that wait for your approval: plan,candidates,report.", example='["plan"]'),
    ] = Field(default_factory=list)
    approval_timeout: Annotated[
        Seconds | None,
        research(
            "How long a gate waits; default: for ever.", unit="seconds", example='"2d"', by_request=True
        ),
    ] = None
    approval_default: Annotated[
        Literal["approve", "reject"],
        research("What the end of that time means.", by_request=True),
    ] = "approve"

    max_tokens: Annotated[
        int | None,
        Field(ge=0),
        budget(
            "Tokens of all model calls.",
            also=("research.max_tokens", "research.limits.max_tokens"),
            unit="tokens",
            limit="max_tokens",
        ),
    ] = None
    max_cost: Annotated[
        float | None,
        Field(ge=0, allow_inf_nan=False),
        budget(
            "US dollars of all model calls.", unit="US dollars", example="2.50", limit="max_cost_microusd"
        ),
    ] = None
    max_time: Annotated[
        Seconds | None,
        budget(
            "Working time; waiting for people does not count.",
            also=("budget.max_time_seconds", "research.max_time_seconds", "research.limits.max_time_seconds"),
            unit="seconds",
            limit="max_seconds",
        ),
    ] = None
    max_section_tokens: Annotated[
        int | None,
        Field(ge=0),
        budget(
            "Tokens of each section's research; default: its share of what is free.",
            unit="tokens",
            example="60000",
            limit="max_section_tokens",
        ),
    ] = None
    max_section_cost: Annotated[
        float | None,
        Field(ge=0, allow_inf_nan=False),
        budget(
            "US dollars of each section's research; default: its share of what is free.",
            unit="US dollars",
            example="0.50",
            limit="max_section_cost_microusd",
        ),
    ] = None
    max_section_time: Annotated[
        Seconds | None,
        budget(
            "Working time of each section's research; default: what the run has left.",
            unit="seconds",
            example='"15m"',
            limit="max_section_seconds",
        ),
    ] = None

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_by_alias(cls, value: object) -> object:
        return MODE_ALIASES.get(value, value) if isinstance(value, str) else value

    @field_validator("mode", mode="after")
    @classmethod
    def _known_mode(cls, value: str) -> str:
        known = ("auto", *get_args(BuiltInMode))
        if value not in known and value not in (known := ("auto", *mode_names())):
            near = difflib.get_close_matches(value, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(known)}"
            raise ValueError(f"{value!r} is not known{hint}")
        return value
