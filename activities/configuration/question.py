"""Settings of questions: documents, sources, how a question is answered, and what it may cost."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from platformdirs import user_data_path
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from activities.configuration.declaration import nearest, seconds, setting
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
from activities.messages import code_of

Seconds = Annotated[float, BeforeValidator(seconds)]
"""A duration: a number of seconds, or text such as `30m`."""


research = partial(setting, at="research", flag=True)
choice = partial(research, by_request=True, by_folder=True)
budget = partial(setting, at="budget", flag=True)


class SourceFilters(Filters, frozen=True, extra="forbid"):
    """`[sources.NAME] filters`: the filters of a search, with unknown ones refused."""


class SourceSettings(BaseModel, frozen=True, extra="forbid"):
    """`[sources.NAME]`: what is set for one source."""

    enabled: bool = True
    url: str | None = None
    """Base address; it replaces what stands before the API's own resource path."""
    max_results: int | None = Field(default=None, ge=1, le=200)
    """Results of one search that are kept; None: `results_per_search`."""
    rate: float | None = Field(default=None, gt=0, le=100)
    """Requests a second at most. It can lower an API's own limit, never raise it."""
    filters: SourceFilters = SourceFilters()
    """What every search of this source is narrowed by; what a question asks for goes over it."""


class OwnPrice(BaseModel, frozen=True, extra="forbid"):
    """The price of a model, in US dollars a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class QuestionSettings(BaseSettings):
    """The first part of `activities.settings.Settings`."""

    model_config = SettingsConfigDict(
        env_prefix="DETERMINATOR_",
        env_ignore_empty=True,
        extra="allow",
        populate_by_name=True,
        env_nested_delimiter="__",
    )

    home: Path = setting(
        "Folder of the server's database, evidence, reports and logs.",
        default_factory=lambda: user_data_path("determinator", appauthor=False),
        example='"./.determinator"',
    )
    store_url: str | None = setting(
        "Evidence store: a folder or an s3://, gs:// or az:// address; default: evidence/ in home.",
        example='"s3://bucket/evidence"',
    )
    library: Path | None = setting(
        "Folder of your own documents; default: the bundled sample library.",
        example='"./papers"',
        by_folder=True,
    )
    speech_model: Path | None = setting(
        "Folder of a Whisper model for CTranslate2, with which recordings are transcribed.",
        example='"./faster-whisper-small"',
    )

    mode: Mode = choice("A way of working (docs/modes.md); auto: what fits the question.", default="auto")
    profile: str = choice(
        "What counts as a good answer: auto, drug_repurposing, biomedical, general, or one of your own.",
        default="auto",
        also=("profiles.default",),
    )
    default_sources: list[str] = setting(
        "Sources that are searched when a question names none.",
        default_factory=list,
        at="research.sources",
        example='["pubmed", "clinicaltrials"]',
        by_request=True,
        by_folder=True,
    )
    also_web: bool = research(
        "With a library: search the other enabled sources too.", default=False, by_request=True
    )
    columns: list[str] = choice(
        "Columns of the table of works, which a model fills; default: the profile's.",
        default_factory=list,
        example='["population", "dose", "outcome"]',
    )
    length: Length = choice(
        "How much of the report is printed: brief, standard or full. What was found is kept whole.",
        default="standard",
    )
    language: Annotated[str, AfterValidator(code_of)] | None = choice(
        "Language of the report, by its code (de, es, fr, zh ...); default: that of the question.",
        default=None,
        example='"de"',
    )
    max_iterations: int | None = research(
        "Rounds of searching and judging.",
        also=("research.limits.max_iterations",),
        limit="max_iterations",
        ge=1,
        le=50,
    )
    judge_threshold: float | None = choice(
        "Confidence from which the evidence may suffice; default: the profile's.",
        also=("research.limits.judge_threshold",),
        example="0.8",
        ge=0,
        le=1,
    )
    max_sections: int | None = research("Sections of a deep report.", limit="max_sections", ge=1, le=20)
    parallel_sections: int | None = research(
        "Sections that are researched at once.", limit="max_parallel_sections", ge=1, le=20
    )
    max_gaps: int | None = research("Gaps that one iteration pursues.", limit="max_gaps", ge=1, le=10)
    searches_per_gap: int | None = research("Searches for each gap.", limit="searches_per_gap", ge=1, le=10)
    results_per_search: int | None = research(
        "Works that each search is asked for.", limit="results_per_search", ge=1, le=50
    )
    full_texts: int | None = research(
        "Works of each section whose open full text is read before a model cites them; 0: none.",
        limit="full_texts",
        ge=0,
        le=20,
    )
    search_timeout: Seconds = research(
        "How long one search may wait for its source, all its requests together.",
        default=30.0,
        unit="seconds",
        request="search_seconds",
        by_folder=True,
        gt=0,
    )
    clarify: Clarify | None = choice(
        "Whether a model may ask back before it searches: ask, assume its own answers, or off; default: "
        "ask at a terminal and on the page, else assume.",
        example='"assume"',
    )
    approve: list[ApprovalGate] = choice(
        "Gates that wait for your approval: plan,candidates,report.", default_factory=list, example='["plan"]'
    )
    approval_timeout: Seconds | None = research(
        "How long a gate waits; default: for ever.",
        unit="seconds",
        example='"2d"',
        request="approval_timeout_seconds",
        by_request=True,
    )
    approval_default: Literal["approve", "reject"] = research(
        "What the end of that time means.", default="approve", by_request=True
    )

    max_tokens: int | None = budget(
        "Tokens of all model calls.",
        also=("research.max_tokens", "research.limits.max_tokens"),
        unit="tokens",
        limit="max_tokens",
        ge=0,
    )
    max_cost: float | None = budget(
        "US dollars of all model calls.",
        unit="US dollars",
        example="2.50",
        limit="max_cost_microusd",
        ge=0,
        allow_inf_nan=False,
    )
    max_time: Seconds | None = budget(
        "Working time; waiting for people does not count.",
        also=("budget.max_time_seconds", "research.max_time_seconds", "research.limits.max_time_seconds"),
        unit="seconds",
        limit="max_seconds",
    )
    max_section_tokens: int | None = budget(
        "Tokens of each section's research; default: its share of what is free.",
        unit="tokens",
        example="60000",
        limit="max_section_tokens",
        ge=0,
    )
    max_section_cost: float | None = budget(
        "US dollars of each section's research; default: its share of what is free.",
        unit="US dollars",
        example="0.50",
        limit="max_section_cost_microusd",
        ge=0,
        allow_inf_nan=False,
    )
    max_section_time: Seconds | None = budget(
        "Working time of each section's research; default: what the run has left.",
        unit="seconds",
        example='"15m"',
        limit="max_section_seconds",
    )

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_by_alias(cls, value: object) -> object:
        return MODE_ALIASES.get(value, value) if isinstance(value, str) else value

    @field_validator("mode", mode="after")
    @classmethod
    def _known_mode(cls, value: str) -> str:
        modes = ("auto", *get_args(BuiltInMode))
        if value not in modes and value not in (modes := ("auto", *mode_names())):
            raise ValueError(f"{value!r} is not known{nearest(value, (*modes, *MODE_ALIASES))}")
        return value
