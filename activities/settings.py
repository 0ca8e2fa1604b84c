"""One place that reads configuration: flags over environment over `determinator.toml` over defaults.

Secrets are `SecretStr`: they are never printed, logged or put into a payload.
"""

import difflib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal, get_args

from platformdirs import user_data_path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from activities import credentials
from activities.configuration.file import ConfigError, FileSettings, read_file
from activities.configuration.values import seconds
from activities.types import MODE_ALIASES, Effort, Filters, Gate, Mode, ModelChoice

CONFIG_FILE = "determinator.toml"


def config_path() -> Path:
    """The configuration file: `DETERMINATOR_CONFIG`, else `determinator.toml` in the current folder."""
    return Path(os.environ.get("DETERMINATOR_CONFIG", CONFIG_FILE))


Seconds = Annotated[float, BeforeValidator(seconds)]
"""A duration: a number of seconds, or text such as `30m`."""


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


class Settings(BaseSettings):
    """All settings of a worker and the CLI. Field names are flat keys of `determinator.toml`; the sections of
    the file are in `activities.configuration.keys`."""

    model_config = SettingsConfigDict(
        env_prefix="DETERMINATOR_",
        env_ignore_empty=True,
        extra="allow",
        populate_by_name=True,
        env_nested_delimiter="__",
    )

    home: Path = Field(default_factory=lambda: user_data_path("determinator", appauthor=False))
    store_url: str | None = None
    """Evidence store: a folder or an `s3://`, `gs://`, `az://` address. Default: `evidence/` under home."""
    library: Path | None = None
    """Folder of the user's own documents; default: the bundled sample library."""

    model: str | None = None
    """Model name. With none the extractive back end serves: no key, no network."""
    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(default=None, validation_alias="OPENAI_BASE_URL")
    roles: dict[str, str] = Field(default_factory=dict)
    """Role -> model name, where a role is to use another model than `model`."""
    fallback: list[str] = Field(default_factory=list)
    """Model names to try when a model is down; `extractive` is allowed and then comes last."""
    wait_for_model: bool = False
    temperature: float = Field(default=0.0, ge=0, le=2)
    """Sampling temperature of every step for which the mode has none of its own."""
    context_tokens: int = Field(default=32_000, ge=1_000)
    """Context window assumed for a model that is not known; when it is set, no prompt is larger than it."""
    effort: Effort | None = None
    """How much a model is asked for: `small`, `normal` or `large`. Unset: found by the model's size."""
    model_concurrency: int | None = Field(default=None, ge=0)
    """Calls made to one model server at once; 0 for no limit. Unset: as many as a local server says it
    serves, else one, and no limit for a provider's server."""
    model_silence: Annotated[Seconds, Field(gt=0)] = 150.0
    """Seconds without output after which a model call is given up; the first word may need four times as
    long, because a local model reads a long prompt before it."""
    prices: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Model -> `input`, `output`, `cached_input` in US dollars a million tokens; over `genai-prices`."""
    profiles_dir: Path | None = None
    """Folder of the user's own profiles in TOML."""
    writer: Literal["long_writer", "proofreader"] = "long_writer"

    ncbi_api_key: SecretStr | None = Field(default=None, validation_alias="NCBI_API_KEY")
    brave_api_key: SecretStr | None = Field(default=None, validation_alias="BRAVE_API_KEY")
    tavily_api_key: SecretStr | None = Field(default=None, validation_alias="TAVILY_API_KEY")
    searxng_url: str | None = Field(default=None, validation_alias="SEARXNG_URL")
    semanticscholar_api_key: SecretStr | None = Field(default=None, validation_alias="S2_API_KEY")
    openfda_api_key: SecretStr | None = Field(default=None, validation_alias="OPENFDA_API_KEY")
    openalex_api_key: SecretStr | None = Field(default=None, validation_alias="OPENALEX_API_KEY")
    email: str | None = None
    """Contact address sent to APIs that ask for one (NCBI, Crossref, OpenAlex)."""
    disabled_sources: list[str] = Field(default_factory=list)
    private_pages: list[str] = Field(default_factory=list)
    """Networks (`10.1.0.0/16`) whose web pages may be read although they are not public; none by default."""
    offline: bool = False
    """Only sources that need no network are enabled."""

    sources: dict[str, SourceSettings] = Field(default_factory=dict)
    """What is set for single sources, by their name."""
    search_timeout: Annotated[Seconds, Field(gt=0)] = 30.0
    """Seconds that one search may wait for answers of its source, all its requests together."""

    mode: Literal["auto"] | Mode = "auto"
    profile: str = "auto"
    default_sources: list[str] = Field(default_factory=list)
    """Sources that are searched when a question names none."""
    also_web: bool = False
    """Whether other sources are searched beside a library of one's own when a question names none."""
    max_iterations: int | None = Field(default=None, ge=1, le=50)
    max_tokens: int | None = Field(default=None, ge=0)
    max_tokens_per_section: int | None = Field(default=None, ge=0)
    max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars."""
    max_cost_per_section: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars."""
    max_time: Seconds | None = None
    max_time_per_section: Seconds | None = None
    max_sections: int | None = Field(default=None, ge=1, le=20)
    parallel_sections: int | None = Field(default=None, ge=1, le=20)
    max_gaps: int | None = Field(default=None, ge=1, le=10)
    searches_per_gap: int | None = Field(default=None, ge=1, le=10)
    results_per_search: int | None = Field(default=None, ge=1, le=50)
    judge_threshold: float | None = Field(default=None, ge=0, le=1)
    """Confidence from which evidence may suffice; None: the profile's."""
    approve: list[Gate] = Field(default_factory=list)
    approval_timeout: Seconds | None = None
    approval_default: Literal["approve", "reject"] = "approve"
    output_format: Literal["md", "html", "json", "docx", "pdf"] = "md"
    """Format of the report file that `ask` saves when `--output` names none."""
    reports_dir: Path | None = None
    """Folder in which a worker leaves each report as a file; the embedded worker's is `reports/` in home."""

    temporal_address: str | None = None
    """Temporal server; `TEMPORAL_ADDRESS` and `--address` go over it. None: the embedded server."""
    temporal_namespace: str | None = None

    hooks: list[str] = Field(default_factory=list)
    """`package.module:attribute` of hooks to run around searches and model calls (`activities.hooks`)."""
    task_queue: str = "determinator"
    allowed_libraries: list[Path] = Field(default_factory=list)
    """Folders that a request may name as its library without a signature of this home."""
    allowed_model_urls: list[str] = Field(default_factory=list)
    """Addresses of model servers that a request may name besides `openai_base_url`."""
    web_ui: bool = True
    """Whether the embedded server serves Temporal's Web UI, which has no authentication."""
    command_server: bool = True
    """Whether a process of the home that has imported what commands import executes them (Linux)."""
    log_level: str = "info"

    @field_validator("roles")
    @classmethod
    def _known_roles(cls, roles: dict[str, str]) -> dict[str, str]:
        if roles:
            from activities.steps import Role  # only where roles are set: every command reads the settings

            known = get_args(Role)
            for name in roles:
                if name not in known:
                    near = difflib.get_close_matches(name, known, n=1)
                    hint = f"; did you mean {near[0]}?" if near else f". There are: {', '.join(known)}"
                    raise ValueError(f"there is no role {name!r}{hint}")
        return roles

    @field_validator("mode", mode="before")
    @classmethod
    def _mode_by_alias(cls, value: object) -> object:
        return MODE_ALIASES.get(value, value) if isinstance(value, str) else value

    def model_post_init(self, _: object) -> None:
        """Redact the keys, and the credentials in addresses, from every message of this process."""
        addresses = [self.store_url, self.openai_base_url, self.searxng_url]
        addresses += [chosen.url for chosen in self.sources.values()]
        addresses += [value for name, value in (self.model_extra or {}).items() if name.endswith("_url")]
        addresses += [
            value for name, value in os.environ.items() if name.upper().endswith(("_URL", "_PROXY"))
        ]
        keys = [value.get_secret_value() for _, value in self if isinstance(value, SecretStr)]
        credentials.register(keys, [str(address) for address in addresses if address])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        file = InitSettingsSource(settings_cls, init_kwargs=dict(file_settings().values))
        files = InitSettingsSource(settings_cls, init_kwargs=secrets_in_files())
        return init_settings, env_settings, files, file

    @cached_property
    def evidence_url(self) -> str:
        """Where blobs are kept."""
        return self.store_url or str(self.home / "evidence")

    def source_url(self, source: str, default: str) -> str:
        """Base address of a source: `DETERMINATOR_<SOURCE>_URL`, else `[sources.<source>] url` or the flat
        key `<source>_url` in the file, else the default. It replaces everything before the API's own resource
        path."""
        given = (self.model_extra or {}).get(f"{source}_url")
        value = os.environ.get(f"DETERMINATOR_{source.upper()}_URL") or self.of_source(source).url or given
        return str(value or default).rstrip("/")

    def of_source(self, source: str) -> SourceSettings:
        """The settings of one source."""
        return self.sources.get(source, SourceSettings())

    def model_choices(self) -> dict[str, ModelChoice]:
        """The model of each role; always has `default`."""
        return {
            "default": choice(self.model),
            **{role: choice(name) for role, name in self.roles.items()},
        }

    def fallback_choices(self) -> tuple[ModelChoice, ...]:
        """Models to try when one is down, in order."""
        return tuple(choice(name) for name in self.fallback)


def file_settings() -> FileSettings:
    """What the configuration file sets. Raises ConfigError, and OSError when it cannot be read."""
    return read_file(config_path(), Settings.model_fields)


def secret_variables() -> dict[str, str]:
    """Secret settings by the variable that holds each: `OPENAI_API_KEY` -> `openai_api_key`."""
    return {
        str(field.validation_alias): name
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }


def secrets_in_files(environment: Mapping[str, str] = os.environ) -> dict[str, object]:
    """Secrets whose variable with `_FILE` at its end names the file they are in, as container platforms mount
    them. Raises ConfigError when such a file cannot be read or is empty."""
    found: dict[str, object] = {}
    for variable, name in secret_variables().items():
        path = environment.get(f"{variable}_FILE")
        if not path:
            continue
        try:
            secret = Path(path).expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise ConfigError(f"{variable}_FILE: {path} cannot be read: {reason}") from error
        if not secret:
            raise ConfigError(f"{variable}_FILE: {path} is empty")
        found[name] = secret
    return found


def choice(model: str | None) -> ModelChoice:
    """`extractive` or no name: no language model; any other name: the OpenAI-compatible back end."""
    if not model or model == "extractive":
        return ModelChoice()
    return ModelChoice(backend="openai", model=model)
