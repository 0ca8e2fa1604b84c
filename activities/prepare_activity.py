"""The first step of a run: resolve what only the worker knows (profile, sources, models, prices)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from temporalio import activity

from activities.contracts.errors import DeterminatorError
from activities.contracts.evidence import ModelChoice, SourceOption
from activities.contracts.prepare import Prepared, PrepareInput
from activities.contracts.profile import Profile
from activities.heartbeat import reporting_errors
from activities.messages import ENGLISH
from activities.models.prices import effort_of, price_of
from activities.permits import Kind, Permits
from activities.profiles.loader import load_profile, profile_names
from activities.settings import Settings
from activities.sources.base import Source
from activities.sources.library.source import LibrarySource, info_of
from activities.sources.registry import declared_info, options, unreachable_sources, why_closed
from activities.text.language import language_of_question


class PrepareError(DeterminatorError):
    """The request asks for something this worker does not have; never retried."""


class PrepareActivities:
    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, Source],
        context: Callable[[ModelChoice], Awaitable[int]] | None = None,
    ) -> None:
        """`context` says how many tokens a model reads and writes in one exchange."""
        self._settings = settings
        self._sources = sources
        self._context = context
        self._permits = Permits(settings)

    @activity.defn
    async def prepare(self, step: PrepareInput) -> Prepared:
        """Non-retryable when a profile, source, model or library that was asked for is not there."""
        async with reporting_errors():
            prepared = await asyncio.to_thread(self.resolve, step, activity.info().workflow_id or "")
            prepared = await self._with_effort(prepared)
            prepared = prepared.replace(contexts=await self._contexts(prepared.models.values()))
        if step.sources:
            return prepared  # a source that was named is tried, and the ledger records the result
        return prepared.replace(sources=await self._within_reach(prepared.sources))

    async def _with_effort(self, prepared: Prepared) -> Prepared:
        """How much each model is asked for: as the request or the settings say, else by the model's size."""
        choices = dict.fromkeys((*prepared.models.values(), *prepared.fallbacks))
        efforts = await asyncio.gather(*(effort_of(self._settings, choice) for choice in choices))
        by_choice = {
            choice: choice.replace(effort=effort) for choice, effort in zip(choices, efforts, strict=True)
        }
        return prepared.replace(
            models={role: by_choice[choice] for role, choice in prepared.models.items()},
            fallbacks=tuple(by_choice[choice] for choice in prepared.fallbacks),
        )

    async def _contexts(self, choices: Iterable[ModelChoice]) -> dict[str, int]:
        """How much each model reads at once, as far as it can be found out."""
        contexts: dict[str, int] = {}
        for choice in dict.fromkeys(choices):
            if self._context and choice.backend != "extractive" and choice.effort != "small":
                with suppress(DeterminatorError):
                    contexts[choice.model] = await self._context(choice)
        return contexts

    async def _within_reach(self, options: Sequence[SourceOption]) -> tuple[SourceOption, ...]:
        addresses = {
            option.info.name: address
            for option in options
            if option.enabled and (address := getattr(self._sources[option.info.name], "address", ""))
        }
        reasons = await unreachable_sources(addresses)
        return tuple(
            option.replace(enabled=False, reason=reasons[option.info.name], fault="unreachable")
            if option.info.name in reasons
            else option
            for option in options
        )

    def resolve(self, step: PrepareInput, workflow_id: str) -> Prepared:
        """Resolve a request of a run against this worker. Raises DeterminatorError."""
        settings = self._settings
        self._check_names(step, workflow_id)
        folder = settings.profiles_dir or settings.home / "profiles"
        profile = load_profile(step.profile, path=step.profile_path, folder=folder)
        searchable = {name for name in self._sources if declared_info(self._sources, name).role == "search"}
        # what was not asked for is not built; all of it where a name is wrong, to say which there are
        asked_for = step.sources if searchable.issuperset(step.sources) else ()
        choices = options(settings, self._sources, asked_for)
        if step.library is not None:  # in place of what the setting names
            check_library(step.library)
            library = info_of(step.library)
            choices = tuple(o.replace(info=library) if o.info.name == "library" else o for o in choices)
        default = settings.model_choices()
        models = {"default": default["default"], **step.models} if step.models else default
        for role, model in models.items():
            if model.backend == "openai" and not model.model:
                raise PrepareError(f"the model of {role} has no name; give it one")
        fallbacks = step.fallbacks or settings.fallback_choices()
        profiles = self._profiles(folder)
        asked_in = language_of_question(step.question) or ENGLISH
        return Prepared(
            profile=profile,
            profiles={name: entry.description for name, entry in profiles.items()},
            preferences={name: entry.sources for name, entry in profiles.items()},
            alternatives=profiles if step.chooses_profile else {},
            sources=choose_sources(choices, step.sources),
            models=models,
            own_library=bool(step.library or settings.library),
            language=step.language or asked_in,
            asked_in=asked_in,
            library_languages=self._library_languages(step.library or settings.library),
            unpaywall=bool(settings.email) and not settings.offline,
            pubmed_queue=pubmed_queue(settings, self._sources),
            fallbacks=fallbacks,
            prices={
                model.model: price_of(settings, model)
                for model in (*models.values(), *fallbacks)
                if model != ModelChoice()
            },
        )

    def _library_languages(self, folder: str | Path | None) -> tuple[str, ...]:
        library = self._sources.get("library")
        return library.languages(Path(folder)) if folder and isinstance(library, LibrarySource) else ()

    def _check_names(self, step: PrepareInput, workflow_id: str) -> None:
        """Check what the request names before anything of it is opened.

        Raises NotPermitted.
        """
        names: dict[Kind, str | None] = {"library": step.library, "profile_path": step.profile_path}
        for kind, name in names.items():
            if name is not None:
                self._permits.check(kind, name, workflow_id, step.signatures.get(kind, ""))
        for model in (*step.models.values(), *step.fallbacks):
            self._permits.check_address(model.base_url)

    def _profiles(self, folder: Path | None) -> dict[str, Profile]:
        profiles = {}
        for name in profile_names(folder):
            try:
                profiles[name] = load_profile(name, folder=folder)
            except DeterminatorError as error:
                # a broken profile that was not asked for must not stop the run
                activity.logger.warning("a profile cannot be read: %s", error)
        return profiles


def pubmed_queue(settings: Settings, sources: Mapping[str, Source]) -> str | None:
    """Return the task queue on which PubMed may be asked; None where it may not."""
    pubmed = sources.get("pubmed")
    return None if pubmed is None or why_closed(settings, pubmed) else pubmed.info.queue


def choose_sources(options: Sequence[SourceOption], names: Sequence[str]) -> tuple[SourceOption, ...]:
    """Return the sources named, each enabled.

    All that can be searched, closed ones included, when none is named.

    Raises PrepareError with one line that says which name is wrong and how to fix it.
    """
    searchable = {option.info.name: option for option in options if option.info.role == "search"}
    if not names:
        return tuple(searchable.values())
    unknown_names = [name for name in names if name not in searchable]
    if unknown_names:
        raise PrepareError(
            f"the worker that serves this run has no source named {', '.join(unknown_names)}; "
            f"it has: {', '.join(searchable)}"
        )
    for name in names:
        if not searchable[name].enabled:
            reason = searchable[name].reason
            raise PrepareError(
                f"the source {name} is not enabled on the worker that serves this run ({reason})"
            )
    return tuple(searchable[name] for name in dict.fromkeys(names))


def check_library(folder: str) -> None:
    """Check the folder of the user's documents.

    Raises PrepareError when it is not there.
    """
    path = Path(folder).expanduser()
    if not path.is_absolute():
        raise PrepareError(f"the library {folder} must be an absolute path: the worker has its own folder")
    if not path.is_dir():
        raise PrepareError(f"the library {folder} is not a folder on the worker's machine; check the path")
