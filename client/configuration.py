"""The configuration in force, with its mistakes as errors for people."""

from typing import TYPE_CHECKING, Any

from client.failures import BadInput, BadSettings, unknown

if TYPE_CHECKING:
    from activities.settings import Settings


def load_settings(*, trust: bool = True, **overrides: Any) -> "Settings":  # noqa: ANN401 - values of any setting
    """The configuration in force; flags go over it. With `trust`, a file of a folder that is not trusted must
    not move a key to another host. Raises BadInput."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from activities.configuration.file import ConfigError
    from activities.settings import Settings, config_path

    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        try:
            settings = Settings(**given)
        except ValidationError as error:
            from activities.configuration.origins import explain

            raise BadSettings(explain(error)) from error
    except ConfigError as error:
        raise BadSettings(str(error)) from error
    except SettingsError as error:
        raise BadInput(f"{error}; lists and tables are written as JSON in variables") from error
    except OSError as error:
        raise BadInput(f"{config_path()} cannot be read: {error.strerror}") from error
    if settings.sources:
        check_source_names(settings)
    if trust:
        from client.trust import check_trust

        check_trust(settings)
    return settings


def source_names() -> list[str]:
    """Every source that can be named: built-in ones, those of plugins, and those of `[mcp.NAME]`. Raises
    ConfigError."""
    from activities.settings import file_settings
    from activities.sources.names import source_names as installed

    configured = file_settings().values.get("mcp")
    return [*installed(), *(configured if isinstance(configured, dict) else ())]


def check_source_names(settings: "Settings") -> None:
    """Raises BadInput for settings of a source that does not exist."""
    from activities.configuration.origins import origins

    known = source_names()
    for name in settings.sources:
        if name not in known:
            place = next((p for key, p in origins().items() if key.startswith(f"sources.{name}.")), "sources")
            raise BadInput(f"{place}: source {unknown(name, known)}")
