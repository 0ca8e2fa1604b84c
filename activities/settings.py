"""One place that reads configuration: flags over environment over `determinator.toml` over defaults.

Secrets are `SecretStr`: they are never printed, logged or put into a payload.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Literal

from platformdirs import user_data_path
from pydantic import Field, SecretStr
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from activities.types import ModelChoice

CONFIG_FILE = "determinator.toml"


def config_path() -> Path:
    """The configuration file: `DETERMINATOR_CONFIG`, else `determinator.toml` in the current folder."""
    return Path(os.environ.get("DETERMINATOR_CONFIG", CONFIG_FILE))


class Settings(BaseSettings):
    """Everything a worker or the CLI may be told. Field names are keys of `determinator.toml`."""

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
    context_tokens: int = 32_000
    """Context window assumed for a model that is not known."""
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
    """Contact address sent to APIs that ask for one (NCBI, Crossref, OpenAlex, Unpaywall)."""
    disabled_sources: list[str] = Field(default_factory=list)
    private_pages: list[str] = Field(default_factory=list)
    """Networks (`10.1.0.0/16`) whose web pages may be read although they are not public; none by default."""
    offline: bool = False
    """Only sources that need no network are enabled."""

    hooks: list[str] = Field(default_factory=list)
    """`package.module:attribute` of hooks to run around searches and model calls (`activities.hooks`)."""
    task_queue: str = "determinator"
    log_level: str = "info"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=config_path())

    @cached_property
    def evidence_url(self) -> str:
        """Where blobs are kept."""
        return self.store_url or str(self.home / "evidence")

    def source_url(self, source: str, default: str) -> str:
        """Base address of a source: `DETERMINATOR_<SOURCE>_URL`, else `<source>_url` in the file, else the
        default. It replaces what stands before the API's own resource path."""
        name = f"{source}_url"
        value = os.environ.get(f"DETERMINATOR_{name.upper()}") or (self.model_extra or {}).get(name)
        return str(value or default).rstrip("/")

    def model_choices(self) -> dict[str, ModelChoice]:
        """The model of each role; always has `default`."""
        return {
            "default": choice(self.model),
            **{role: choice(name) for role, name in self.roles.items()},
        }

    def fallback_choices(self) -> tuple[ModelChoice, ...]:
        """Models to try when one is down, in order."""
        return tuple(choice(name) for name in self.fallback)


def choice(model: str | None) -> ModelChoice:
    """`extractive` or no name: no language model; any other name: the OpenAI-compatible back end."""
    if not model or model == "extractive":
        return ModelChoice()
    return ModelChoice(backend="openai", model=model)
