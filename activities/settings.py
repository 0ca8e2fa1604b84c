"""One place that reads configuration.

Flags over environment over the `determinator.toml` of the folder (what it may set, see
`configuration.folder`) over the user's own over defaults.

Secrets are `SecretStr`: they are never printed, logged or put into a payload.
"""

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, SecretStr, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
)

from activities import credentials
from activities.configuration.declaration import nearest, setting
from activities.configuration.file import ConfigError, FileSettings, read_bytes, read_settings
from activities.configuration.folder import allowed_part, is_trusted, overlay, user_home
from activities.configuration.mcp import McpSource
from activities.configuration.question import OwnPrice, QuestionSettings, Seconds, SourceSettings
from activities.contracts.evidence import (
    Effort,
    ModelChoice,
)

CONFIG_FILE = "determinator.toml"


FOLDER_VARIABLE = "DETERMINATOR_FOLDER"
"""For a worker, which runs in another folder: the one whose configuration file holds."""


def config_path() -> Path:
    """Return the configuration file.

    `DETERMINATOR_CONFIG`, else `determinator.toml` in the current folder.
    """
    path = os.environ.get("DETERMINATOR_CONFIG")
    return Path(path) if path else Path(os.environ.get(FOLDER_VARIABLE, ""), CONFIG_FILE)


def user_config_path() -> Path:
    """Return the user's own configuration file, in the user's own home.

    It may set everything but that home.
    """
    return user_home() / CONFIG_FILE


class Variables(EnvSettingsSource):
    """The environment. What is no JSON is a text, refused with its variable as any wrong value is."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ANN401
        try:
            return super().decode_complex_value(field_name, field, value)
        except ValueError:
            return value


class Settings(QuestionSettings):
    """All settings of a worker and the CLI, each declared once (`setting`).

    Field names are flat keys of `determinator.toml` as well.
    """

    model: str | None = setting(
        "Model for every role; without one, or with `extractive`: passages are ranked and quoted.",
        at="model.name",
        also=("llm.model",),
        example='"gpt-oss:20b"',
        flag=True,
    )
    openai_base_url: str | None = setting(
        "Address of an OpenAI-compatible server; default: OpenAI's own.",
        validation_alias="OPENAI_BASE_URL",
        at="model.base_url",
        also=("llm.base_url",),
        example='"http://localhost:11434/v1"',
        flag="--base-url",
    )
    roles: dict[str, str] = setting(
        "Role, or member of a team, -> model, where it is to use another one than `name`.",
        default_factory=dict,
        at="model",
        example='{ judge = "a-smaller-model" }',
    )
    fallback: list[str] = setting(
        "Models to use while one is down, in this order; `extractive` comes last.",
        default_factory=list,
        at="model",
        example='["extractive"]',
        flag=True,
    )
    wait_for_model: bool = setting(
        "Wait for a model that is down, without a limit.", default=False, at="model.wait", flag=True
    )
    temperature: float = setting(
        "Sampling temperature of every step for which the mode has none of its own.",
        default=0.0,
        at="model",
        also=("llm.temperature",),
        ge=0,
        le=2,
    )
    context_tokens: int = setting(
        "Context window of a model that is not known; when set, no prompt is larger than it.",
        default=32_000,
        at="model",
        also=("model.context",),
        unit="tokens",
        ge=1_000,
    )
    effort: Effort | None = setting(
        "How much a model is asked for: small, normal or large; default: by its size.",
        at="model",
        example='"small"',
        flag=True,
    )
    model_concurrency: int | None = setting(
        "Calls made to one model server at once, 0 for no limit; default: found by the server.",
        at="model.concurrency",
        example="4",
        ge=0,
    )
    model_silence: Seconds = setting(
        "Time without output after which a model call is given up; four times as long at its start.",
        default=150.0,
        at="model.silence",
        unit="seconds",
        gt=0,
    )
    prices: dict[str, OwnPrice] = setting(
        "Model -> its prices, where they are not those of `genai-prices`.",
        default_factory=dict,
        at="model",
        unit="US dollars a million tokens",
        example="{ my-model = { input = 0.5, output = 1.5, cached_input = 0.1 } }",
    )

    openai_api_key: SecretStr | None = Field(default=None, validation_alias="OPENAI_API_KEY")
    ncbi_api_key: SecretStr | None = Field(default=None, validation_alias="NCBI_API_KEY")
    brave_api_key: SecretStr | None = Field(default=None, validation_alias="BRAVE_API_KEY")
    tavily_api_key: SecretStr | None = Field(default=None, validation_alias="TAVILY_API_KEY")
    codec_keys: SecretStr | None = Field(default=None, validation_alias="DETERMINATOR_CODEC_KEYS")
    """Keys that payloads are encrypted with (`activities.codec`)."""
    searxng_url: str | None = setting(
        "Address of a SearXNG server for web searches.",
        validation_alias="SEARXNG_URL",
        example='"http://localhost:8888"',
    )
    semanticscholar_api_key: SecretStr | None = Field(default=None, validation_alias="S2_API_KEY")
    openfda_api_key: SecretStr | None = Field(default=None, validation_alias="OPENFDA_API_KEY")
    openalex_api_key: SecretStr | None = Field(default=None, validation_alias="OPENALEX_API_KEY")
    neo4j_password: SecretStr | None = Field(default=None, validation_alias="NEO4J_PASSWORD")
    neo4j_user: str = setting("User of the graph database behind the source neo4j.", default="neo4j")
    neo4j_database: str | None = setting("Its database; default: the server's own.", example='"neo4j"')
    neo4j_schema: str = setting(
        "How its graph names things: hetionet, primekg, or a TOML file of your own (docs/tools.md).",
        default="hetionet",
    )
    email: str | None = setting(
        "Contact address for APIs that ask for one (NCBI, Crossref, OpenAlex).",
        example='"you@example.org"',
    )
    disabled_sources: list[str] = setting(
        "Sources that are never used.", default_factory=list, example='["duckduckgo"]', by_folder=True
    )
    private_pages: list[str] = setting(
        "Networks whose web pages may be read although they are not public.",
        default_factory=list,
        example='["10.1.0.0/16"]',
    )
    offline: bool = setting(
        "Use no network: neither sources nor a model beyond this machine.",
        default=False,
        flag=True,
        by_folder=True,
    )
    sources: dict[str, SourceSettings] = Field(default_factory=dict)
    """What is set for single sources, by their name: `[sources.NAME]`."""
    mcp: dict[str, McpSource] = Field(default_factory=dict)
    """Sources that are tools of MCP servers, by their name: `[mcp.NAME]`."""

    output_format: Literal["md", "html", "json", "docx", "pdf"] = setting(
        "Format of the report file that a run leaves in the home folder.",
        default="md",
        at="output.format",
        by_folder=True,
    )
    reports_dir: Path | None = setting(
        "Folder in which a worker leaves each report as a file; embedded: reports/ in home.",
        example='"./reports"',
    )
    profiles_dir: Path | None = setting(
        "Folder of your own profiles in TOML; default: profiles/ in home.",
        at="profiles.folder",
        example='"./profiles"',
    )

    temporal_address: str | None = setting(
        "Temporal server, under TEMPORAL_ADDRESS and --address; default: one is started here.",
        at="temporal.address",
        example='"localhost:7233"',
        by_request=True,
    )
    temporal_namespace: str | None = setting(
        "Namespace at that server, under TEMPORAL_NAMESPACE.",
        at="temporal.namespace",
        example='"default"',
        by_request=True,
    )
    task_queue: str = setting(
        "Task queue of runs and workers.", default="determinator", at="temporal", by_request=True
    )
    web_ui: bool = setting(
        "Whether the embedded server serves Temporal's Web UI, which has no authentication.",
        default=True,
        at="temporal",
        by_request=True,
    )
    allowed_libraries: list[Path] = setting(
        "Folders that a request may name as its library without a signature of this home.",
        default_factory=list,
        at="worker.libraries",
        example='["/srv/papers"]',
    )
    allowed_model_urls: list[str] = setting(
        "Addresses of model servers that a request may name besides `base_url`.",
        default_factory=list,
        at="worker.model_urls",
        example='["http://gpu:8000/v1"]',
    )
    workers: int | None = setting(
        "Processes of the embedded server's worker, 1 to 4; default: one for each processor.",
        ge=1,
        le=4,
        at="worker.processes",
        example="2",
    )
    metrics: str | None = setting(
        "Where a worker serves metrics for Prometheus, at /metrics.",
        at="worker.metrics",
        example='"127.0.0.1:9464"',
        by_request=True,
    )
    ready_file: Path | None = setting(
        "A file that a worker touches every 10 seconds while it can work, for an exec probe.",
        at="worker.ready_file",
        example='"/tmp/determinator-ready"',
        by_request=True,
    )
    hooks: list[str] = setting(
        "`package.module:attribute` of hooks to run around searches and model calls.",
        default_factory=list,
        example='["my_hooks:Spending"]',
    )
    review_webhook: str | None = setting(
        "Address that is told, as JSON, which conclusions of a living review have changed.",
        at="review.webhook",
        example='"https://chat.example.org/hooks/1"',
    )
    review_command: str | None = setting(
        "Command that gets such a notice as its standard input, for a mail; no shell reads it.",
        at="review.command",
        example="'mail -s \"A review has changed\" you@example.org'",
    )
    log_level: str = setting("Level of a worker's log: debug, info, warning or error.", default="info")

    @field_validator("roles")
    @classmethod
    def _known_roles(cls, roles: dict[str, str]) -> dict[str, str]:
        if roles:
            # only where roles are set: every command reads the settings
            from activities.contracts.step import ROLE_OF_MEMBER, Role

            names = get_args(Role)
            roles = {ROLE_OF_MEMBER.get(name, name): model for name, model in roles.items()}
            for name in roles:
                if name not in names:
                    raise ValueError(f"there is no role {name!r}{nearest(name, names)}")
        return roles

    def model_post_init(self, _: object) -> None:
        """Redact the keys, and the credentials in addresses, from every message of this process."""
        addresses = [self.store_url, self.openai_base_url, self.searxng_url, self.review_webhook]
        addresses += [source.url for source in self.sources.values()]
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
        return init_settings, Variables(settings_cls), files, file

    @cached_property
    def evidence_url(self) -> str:
        return self.store_url or str(self.home / "evidence")

    def source_url(self, source: str, default: str) -> str:
        """Return base address of a source.

        `DETERMINATOR_<SOURCE>_URL`, else `[sources.<source>] url` or the flat key `<source>_url` in the file,
        else the default. It replaces everything before the API's own resource path.
        """
        flat_url = (self.model_extra or {}).get(f"{source}_url")
        value = os.environ.get(f"DETERMINATOR_{source.upper()}_URL") or self.of_source(source).url or flat_url
        return str(value or default).rstrip("/")

    def of_source(self, source: str) -> SourceSettings:
        return self.sources.get(source, SourceSettings())

    def model_choices(self) -> dict[str, ModelChoice]:
        """Return the model of each role; always has `default`."""
        return {
            "default": choice(self.model),
            **{role: choice(name) for role, name in self.roles.items()},
        }

    def fallback_choices(self) -> tuple[ModelChoice, ...]:
        return tuple(choice(name) for name in self.fallback)


def file_settings() -> FileSettings:
    """Return what the configuration files set.

    That of the folder, or the one that `DETERMINATOR_CONFIG` names, over the user's own. Raises ConfigError,
    and OSError when one cannot be read.
    """
    path, own_path = config_path(), user_config_path()
    fields = Settings.model_fields
    user, data = FileSettings(), read_bytes(own_path)
    if data is not None:
        user = read_settings(own_path, data, fields)
        if place := user.places.get("home"):
            raise ConfigError(f"{place}: this file lies in the home; set DETERMINATOR_HOME")
    if path.absolute() == own_path or (data := read_bytes(path)) is None:
        return user
    settings = read_settings(path, data, fields)
    is_narrow = not os.environ.get("DETERMINATOR_CONFIG") and not is_trusted(path, data)
    file_values = allowed_part(settings, path.absolute().parent, fields) if is_narrow else settings
    return overlay(user, file_values, fields, narrow=is_narrow)


def secret_variables() -> dict[str, str]:
    """Secret settings by the variable that holds each: `OPENAI_API_KEY` -> `openai_api_key`."""
    return {
        str(field.validation_alias): name
        for name, field in Settings.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }


def secrets_in_files(environment: Mapping[str, str] = os.environ) -> dict[str, object]:
    """Read secrets whose variable ends in `_FILE` from the file that it names.

    Container platforms mount them so. Raises ConfigError when such a file cannot be read or is empty.
    """
    secrets: dict[str, object] = {}
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
        secrets[name] = secret
    return secrets


def choice(model: str | None) -> ModelChoice:
    """Return `extractive` or no name: no language model; any other name: the OpenAI-compatible back end."""
    if not model or model == "extractive":
        return ModelChoice()
    return ModelChoice(backend="openai", model=model)
